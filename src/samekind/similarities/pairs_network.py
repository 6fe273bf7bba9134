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
from samekind.similarities.scale import FixedScale, Scale


class PairsNetwork(nn.Module):
    """``depth`` layers of ``hidden`` units over [a; b], then one logit: above 0 means more likely the same
    kind.

    The first layer is kept as two halves, W[a; b] = Wa·a + Wb·b, each applied once an item, so that scoring
    all pairs never builds the concatenated tensor.
    """

    kind = "logit"
    symmetric = False

    def __init__(
        self,
        *,
        dimension: int,
        hidden: int = 512,
        depth: int = 1,
        dropout: float = 0.25,
        slope: float = 0.1,
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
        self.dimension = dimension
        self.hidden = hidden
        self.depth = depth
        self.dropout = dropout
        self.slope = slope
        self.scale = scale or FixedScale()
        # One Linear over the concatenation, so that its initialisation is the papers'; sliced when used.
        self.first = nn.Linear(2 * dimension, hidden)
        self.layers = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(depth - 1))
        self.last = nn.Linear(hidden, 1)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        first, second = self._halves(a, b)
        return self._rest(first + second)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        first, second = self._halves(a, b)
        return self._rest(first[:, None, :] + second[None, :, :])

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (the hidden layers decide)
        """Two hidden layers alive at a time, in float32."""
        return 2 * 4 * self.hidden

    def _halves(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        """What each side adds to the first layer, its bias with the second: (n, d) -> (n, hidden)."""
        left, right = self.first.weight[:, : self.dimension], self.first.weight[:, self.dimension :]
        return F.linear(a, left), F.linear(b, right, self.first.bias)

    def _rest(self, hidden: Tensor) -> Tensor:
        """From the first pre-activation (…, hidden) to the logit (…)."""
        # The sum was made for this call alone, and each layer's output too: activate them in place.
        hidden = F.leaky_relu_(hidden, self.slope)
        for layer in self.layers:
            hidden = F.leaky_relu_(layer(hidden), self.slope)
        logits: Tensor = self.last(F.dropout(hidden, self.dropout, self.training))
        return logits.squeeze(-1)


def concatenated(network: PairsNetwork, a: Tensor, b: Tensor) -> Tensor:
    """The definition, every pair written out, (n, d), (m, d) -> (n, m): the reference of tests and
    benchmarks.
    """
    rows = a[:, None, :].expand(-1, len(b), -1)
    columns = b[None, :, :].expand(len(a), -1, -1)
    hidden = torch.cat([rows, columns], dim=-1)
    for layer in itertools.chain([network.first], network.layers):
        hidden = F.leaky_relu(layer(hidden), network.slope)
    logits: Tensor = network.last(F.dropout(hidden, network.dropout, network.training))
    return logits.squeeze(-1)
