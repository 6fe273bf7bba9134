"""Which places of a map matter for a query, and what is found there.

The scores of Luong et al., "Effective Approaches to Attention-based Neural Machine Translation", EMNLP 2015
(multiplicative), Bahdanau et al., "Neural Machine Translation by Jointly Learning to Align and Translate",
ICLR 2015 (additive), and Shen et al., "DiSAN: Directional Self-Attention Network for RNN/CNN-Free Language
Understanding", AAAI 2018 (multi-dimensional: the additive one, for each feature apart).

A map (n, channels, height, width) comes as ``keys`` (n, width, places), the query as (n, width).
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch
from torch import Tensor

#: What the sum of key and query goes through before it is scored. With "none" the query adds the same
#: number to every place, and the softmax takes it away again.
Activation = Literal["tanh", "relu", "none"]


def multiplicative_scores(keys: Tensor, query: Tensor) -> Tensor:
    """<key, query> at each place: (n, width, places), (n, width) -> (n, 1, places).

    >>> keys = torch.tensor([[[1.0, 0.0], [2.0, 3.0]]])  # two places: (1, 2) and (0, 3)
    >>> multiplicative_scores(keys, torch.tensor([[10.0, 1.0]])).tolist()
    [[[12.0, 3.0]]]
    """
    with _full_precision(keys.device):
        return _wide(query)[:, None, :] @ _wide(keys)


def additive_scores(keys: Tensor, query: Tensor, vectors: Tensor, *, activation: Activation) -> Tensor:
    """<vector, activation(key + query)> at each place, for each of the vectors (features, width): (n, width,
    places), (n, width) -> (n, features, places).

    One vector gives the additive score, as many as there are features the multi-dimensional one.

    >>> keys, query = torch.tensor([[[1.0, -3.0]]]), torch.tensor([[1.0]])
    >>> additive_scores(keys, query, torch.tensor([[2.0]]), activation="relu").tolist()
    [[[4.0, 0.0]]]
    """
    with _full_precision(keys.device):
        met = _wide(keys) + _wide(query)[:, :, None]
        if activation != "none":  # in place: of a large map, one copy is enough
            met = met.tanh_() if activation == "tanh" else met.relu_()
        return _wide(vectors) @ met


def weights_over_places(scores: Tensor) -> Tensor:
    """Softmax over the places: (n, features, places), adding up to 1 for each item and feature.

    In single precision at least: in half precision, and under autocast, a large score would be infinite.
    """
    return _wide(scores).softmax(-1)


def weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    """The mean of the values (n, channels, places) over the places, so weighted: (n, channels).

    The weights are (n, 1, places), or (n, channels, places) for each channel its own. Equal ones give the
    average, a single 1 what is at its place.
    """
    if weights.shape[1] == 1:  # as a product of matrices, without a weighted copy of the map
        with _full_precision(values.device):
            return (_wide(values) @ weights.mT)[:, :, 0].to(values.dtype)
    return (weights * values).sum(-1).to(values.dtype)


def _wide(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _full_precision(device: torch.device) -> AbstractContextManager[object]:
    """Autocast put off, where the device knows it at all."""
    if not torch.amp.is_autocast_available(device.type):
        return nullcontext()
    return torch.autocast(device.type, enabled=False)
