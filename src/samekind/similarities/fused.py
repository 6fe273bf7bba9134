"""The fused score: the learned probability and the cosine, each in [0, 1], averaged.

The papers "sum" the two; their authors' code rescales first, because a raw logit would dominate the cosine.
"""

from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.blocks import Scorer, Similarity, ready
from samekind.similarities.cosine import BesideCosine, Cosine
from samekind.similarities.scale import FixedScale, Scale


class Fused(nn.Module):
    """½ (sigmoid(logit) + ½ (cosine + 1)), in [0, 1], over a similarity whose scores are logits."""

    quantity = "probability"
    chords = False

    def __init__(self, similarity: Similarity, *, scale: Scale | None = None) -> None:
        super().__init__()
        if similarity.quantity not in ("logit", "inner product"):
            raise SettingError(
                f"the fused score needs a similarity whose scores are logits, got {similarity.quantity!r}; "
                "use the similarity's own score or the cosine"
            )
        self.similarity = similarity
        self.symmetric = similarity.symmetric
        self.cosine = Cosine()
        self.scale = scale or FixedScale()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return _fuse(self.similarity(a, b), self.cosine(a, b))

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return _fuse(self.similarity.score_all(a, b), self.cosine.score_all(a, b))

    def frozen(self, a: Tensor, b: Tensor) -> Scorer:
        """The scorer of all blocks of a and b: this with a frozen similarity, or else itself."""
        similarity = ready(self.similarity, a, b)
        return self if similarity is self.similarity else BesideCosine(similarity, self.cosine, _fuse)

    def pair_bytes(self, dimension: int) -> int:
        return self.similarity.pair_bytes(dimension) + 8


def _fuse(logits: Tensor, cosines: Tensor) -> Tensor:
    return 0.5 * (logits.sigmoid() + 0.5 * (cosines + 1))
