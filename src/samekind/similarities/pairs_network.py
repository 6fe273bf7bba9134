"""The learned similarity: a network over the pair, trained jointly with the encoder.

Monteiro et al., "An end-to-end approach for the verification problem", ICML 2020; "Learning Semantic
Similarities for Prototypical Classifiers", 2021. It is not symmetric: prototype, enrolment or query first,
item second.
"""

import itertools

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities import pair_blocks
from samekind.similarities.pair_blocks import PairBlocks, on_sphere
from samekind.similarities.recomputed import recomputed_scores, worth_recomputing
from samekind.similarities.scale import FixedScale, Scale
from samekind.similarities.transforms import transforming


class PairsNetwork(nn.Module):
    """``depth`` layers of ``hidden`` units over [a; b], then one logit: above 0 means more likely the same
    kind.

    The first layer splits into halves, W[a; b] = Wa·a + Wb·b, each applied once an item, so that the
    concatenated tensor of all pairs is never built. ``normalise`` scales the embeddings to length √dimension
    first, which suits fresh weights; only directions count then.
    """

    quantity = "logit"
    symmetric = False
    chords = False

    def __init__(
        self,
        *,
        dimension: int,
        hidden: int = 512,
        depth: int = 1,
        dropout: float = 0.25,
        slope: float = 0.1,
        normalise: bool = False,
        scale: Scale | None = None,
    ) -> None:
        super().__init__()
        if depth < 1:
            raise SettingError(f"a pairs network needs at least one hidden layer, got depth={depth}")
        if hidden < 1:
            raise SettingError(
                f"the hidden layers of a pairs network need at least one unit, got hidden={hidden}"
            )
        if not 0 <= dropout < 1:
            raise SettingError(f"dropout is a probability below 1; got {dropout}")
        if not slope >= 0:
            raise SettingError(f"the slope of the units below 0 is a number from 0 up; got {slope}")
        self.dimension = dimension
        self.hidden = hidden
        self.depth = depth
        self.dropout = dropout
        self.slope = slope
        self.normalise = normalise
        self.scale = scale or FixedScale()
        # One Linear over the concatenation, for the papers' initialisation; sliced when used.
        self.first = nn.Linear(2 * dimension, hidden)
        self.layers = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(depth - 1))
        self.last = nn.Linear(hidden, 1)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        first, second = self.halves(a, b)
        return self.rest(first + second)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        """Every a against every b: (n, d), (m, d) -> (n, m).

        Many pairs go by blocks in the cache of a CPU if no gradient is needed, else by recomputation; both
        give the same scores.
        """
        ready = self.frozen(a, b)
        if ready is not self:
            return ready.score_all(a, b)
        first, second = self.halves(a, b)
        many = worth_recomputing(first, len(first) * len(second), self.depth)
        if many and self._differentiated(first, second):
            dropout = self.dropout if self.training else 0.0
            layers = self._hidden_layers()
            return recomputed_scores(first, second, layers, self.last, slope=self.slope, dropout=dropout)
        return self.rest(first[:, None, :] + second[None, :, :])

    def frozen(self, a: Tensor, b: Tensor) -> "PairsNetwork | PairBlocks":
        """The scorer of all blocks of a and b: for many pairs on a CPU without gradient the network with its
        weights and buffers prepared, else itself.
        """
        ready = (
            a.device.type == "cpu"
            and len(a) * len(b) >= pair_blocks.FEWEST_PAIRS
            and a.dtype == b.dtype == self.last.weight.dtype
            and not torch.is_autocast_enabled("cpu")  # which casts the input of every layer
            and not (self.training and self.dropout)
            and not self._differentiated(a, b)
            and not transforming()
        )
        if not ready:
            return self
        return PairBlocks(
            self.first, self._hidden_layers(), self.last, slope=self.slope, normalise=self.normalise
        )

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (the hidden layers decide)
        """Two hidden layers at a time, in float32, each with one more number for its bias."""
        return 2 * 4 * (self.hidden + 1)

    def halves(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        """The parts of both sides in the first layer, the second with the bias: (n, d) -> (n, hidden)."""
        if self.normalise:
            a, b = on_sphere(a), on_sphere(b)
        left, right = self.first.weight[:, : self.dimension], self.first.weight[:, self.dimension :]
        return F.linear(a, left), F.linear(b, right, self.first.bias)

    def _differentiated(self, a: Tensor, b: Tensor) -> bool:
        return torch.is_grad_enabled() and any(
            tensor.requires_grad for tensor in itertools.chain([a, b], self.parameters())
        )

    def _hidden_layers(self) -> list[nn.Linear]:
        """The hidden layers after the first."""
        return [layer for layer in self.layers if isinstance(layer, nn.Linear)]

    def rest(self, hidden: Tensor) -> Tensor:
        """From the first pre-activation (…, hidden) to the logit (…)."""
        # In place: the sum and each layer's output belong to this call.
        hidden = F.leaky_relu_(hidden, self.slope)
        for layer in self.layers:
            hidden = F.leaky_relu_(layer(hidden), self.slope)
        logits: Tensor = self.last(F.dropout(hidden, self.dropout, self.training))
        return logits.squeeze(-1)


def concatenated(network: PairsNetwork, a: Tensor, b: Tensor) -> Tensor:
    """The definition over all concatenated pairs, (n, d), (m, d) -> (n, m): the reference of tests."""
    if network.normalise:
        a, b = on_sphere(a), on_sphere(b)
    rows = a[:, None, :].expand(-1, len(b), -1)
    columns = b[None, :, :].expand(len(a), -1, -1)
    hidden = torch.cat([rows, columns], dim=-1)
    for layer in itertools.chain([network.first], network.layers):
        hidden = F.leaky_relu(layer(hidden), network.slope)
    logits: Tensor = network.last(F.dropout(hidden, network.dropout, network.training))
    return logits.squeeze(-1)
