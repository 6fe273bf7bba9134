"""Attention over the places of a map: scores, weights, and the weighted mean.

The scores of Luong et al., "Effective Approaches to Attention-based Neural Machine Translation", EMNLP 2015
(multiplicative), Bahdanau et al., "Neural Machine Translation by Jointly Learning to Align and Translate",
ICLR 2015 (additive), and Shen et al., "DiSAN: Directional Self-Attention Network for RNN/CNN-Free Language
Understanding", AAAI 2018 (multi-dimensional: the additive one for every feature).

A map (n, channels, height, width) comes as ``keys`` (n, width, places), the query as (n, width).
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch
from torch import Tensor

#: The function of key plus query. With "none" the query adds the same number to every place, which the
#: softmax cancels.
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
        summed = _wide(keys) + _wide(query)[:, :, None]
        if activation != "none":  # in place, to save a copy of a large map
            summed = summed.tanh_() if activation == "tanh" else summed.relu_()
        return _wide(vectors) @ summed


def weights_over_places(scores: Tensor) -> Tensor:
    """Softmax over the places, in single precision at least: in half precision a large score is infinite."""
    return _wide(scores).softmax(-1)


def weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    """The weighted mean of the values (n, channels, places) over the places: (n, channels).

    The weights are (n, 1, places), or (n, channels, places) for weights by channel.
    """
    if weights.shape[1] == 1:  # as a product of matrices, without a weighted copy of the map
        with _full_precision(values.device):
            return (_wide(values) @ weights.mT)[:, :, 0].to(values.dtype)
    return (weights * values).sum(-1).to(values.dtype)


def _wide(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _full_precision(device: torch.device) -> AbstractContextManager[object]:
    """No autocast within, where the device has it."""
    if not torch.amp.is_autocast_available(device.type):
        return nullcontext()
    return torch.autocast(device.type, enabled=False)
