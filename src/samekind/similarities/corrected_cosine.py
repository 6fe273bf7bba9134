"""The cosine, and what a network over the pair adds to it."""

import torch
from torch import Tensor, nn

from samekind.similarities.blocks import Scorer
from samekind.similarities.cosine import BesideCosine, Cosine
from samekind.similarities.pairs_network import PairsNetwork
from samekind.similarities.scale import FixedScale, Scale

#: A cosine of one half is the border at first, and 10 times what lies beyond it the logit.
SHARPNESS, OFFSET = 10.0, -5.0


class CorrectedCosine(nn.Module):
    """sharpness x cosine + offset + network(a, b), a logit: above 0 means more likely the same kind.

    The network is a `PairsNetwork`, which the arguments are about, and begins at 0: at first this ranks as
    the cosine does, and all that is learned is where that is wrong. A network alone has to learn from the
    training classes what it is to be near, and forgets it where no class was. The sharpness and the offset
    are learned with it. A zero vector has the cosine 0 with everything. The GPU kernel for scores in use
    (`PairsKernel`) is for a network alone; in training in 16 bits the network's part goes by kernels as
    ever. Autocast is for the network alone, too: the cosine, which is multiplied, keeps its digits.
    """

    kind = "logit"
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
        for each in (self.network.last.weight, self.network.last.bias):
            nn.init.zeros_(each)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return self._logits(self.network(a, b), self.cosine(a, b))

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        """Every a against every b: (n, d), (m, d) -> (n, m)."""
        with torch.autocast(a.device.type, enabled=False):
            cosines = self.cosine.score_all(a, b)
        return self._logits(self.network.score_all(a, b), cosines)

    def frozen(self, a: Tensor, b: Tensor) -> Scorer:
        """What scores all blocks of a and b: this with the network made ready for them, or else itself."""
        network = self.network.frozen(a, b)
        return self if network is self.network else BesideCosine(network, self.cosine, self._logits)

    def pair_bytes(self, dimension: int) -> int:
        """What the network takes, and the cosine."""
        return self.network.pair_bytes(dimension) + self.cosine.pair_bytes(dimension)

    def _logits(self, corrections: Tensor, cosines: Tensor) -> Tensor:
        return self.sharpness * cosines + self.offset + corrections
