"""The cosine plus a correction by a network over the pair."""

import torch
from torch import Tensor, nn

from samekind.similarities.blocks import Scorer
from samekind.similarities.cosine import BesideCosine, Cosine
from samekind.similarities.pairs_network import PairsNetwork
from samekind.similarities.scale import FixedScale, Scale

#: At the start: the logit is 0 for a cosine of one half.
SHARPNESS, OFFSET = 10.0, -5.0


class CorrectedCosine(nn.Module):
    """sharpness x cosine + offset + network(a, b), a logit: above 0 means more likely the same kind.

    The network is a `PairsNetwork` with these arguments and starts at 0: at first this ranks as the cosine
    does, and only corrections are learned. A network alone has to learn from the training classes what
    nearness is, and does not know it elsewhere. The sharpness and the offset are learned. A zero vector has
    the cosine 0 with everything. The GPU kernel for scores in use (`PairsKernel`) is for a network alone;
    training in 16 bits uses kernels for the network's part. Autocast applies to the network alone, too: the
    cosine keeps its digits.
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
        self.network = PairsNetwork(
            dimension=dimension, hidden=hidden, depth=depth, dropout=dropout, slope=slope, normalise=normalise
        )
        self.dimension = dimension
        self.hidden = hidden
        self.depth = depth
        self.dropout = dropout
        self.slope = slope
        self.normalise = normalise
        self.scale = scale or FixedScale()
        self.cosine = Cosine()
        self.sharpness = nn.Parameter(torch.tensor(SHARPNESS))
        self.offset = nn.Parameter(torch.tensor(OFFSET))
        for parameter in self.network.last.parameters():
            nn.init.zeros_(parameter)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return self._logits(self.network(a, b), self.cosine(a, b))

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        """Every a against every b: (n, d), (m, d) -> (n, m)."""
        with torch.autocast(a.device.type, enabled=False):
            cosines = self.cosine.score_all(a, b)
        return self._logits(self.network.score_all(a, b), cosines)

    def frozen(self, a: Tensor, b: Tensor) -> Scorer:
        """The scorer of all blocks of a and b: this with a frozen network, or else itself."""
        network = self.network.frozen(a, b)
        return self if network is self.network else BesideCosine(network, self.cosine, self._logits)

    def pair_bytes(self, dimension: int) -> int:
        """That of the network and of the cosine."""
        return self.network.pair_bytes(dimension) + self.cosine.pair_bytes(dimension)

    def _logits(self, corrections: Tensor, cosines: Tensor) -> Tensor:
        return self.sharpness * cosines + self.offset + corrections
