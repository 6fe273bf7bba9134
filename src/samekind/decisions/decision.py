"""A threshold on a score: from which score on two items are called the same."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from samekind.errors import SettingError, SpaceError

if TYPE_CHECKING:  # a space without PyTorch keeps decisions too
    from torch import Tensor

#: A score, or an array or a tensor of scores.
Scores = TypeVar("Scores", bound=Any)

#: A kind of score: the space's own similarity, the cosine, both fused, a similarity fitted to the embeddings,
#: or one of these normalised by a cohort.
Kind = Literal["similarity", "cosine", "fused", "fitted", "normalised"]


@dataclass(frozen=True)
class Decision:
    """When two items are called the same: a threshold on one kind of score, and how it was fitted.

    ``calibration`` is (slope, offset): sigmoid(slope·score + offset) is the probability of "same" at a prior
    of one half. The intervals are (low, high) at 95 %, for classes like those of the trials; ``classes`` is
    their number. Counts of 0 come from files older than the counts. ``equal_error`` is the rate at
    which both errors are equal, whatever the operating ``point``; only an open-set threshold has it.
    """

    kind: Kind
    threshold: float
    point: str
    trials: str
    false_accepts: float
    false_rejects: float
    calibration: tuple[float, float] | None = None
    false_accept_interval: tuple[float, float] | None = None
    false_reject_interval: tuple[float, float] | None = None
    same_trials: int = 0
    different_trials: int = 0
    classes: int = 0
    equal_error: float | None = None

    def accepts(self, scores: "Tensor") -> "Tensor":
        """Same (true) or different (false); a score at the threshold is the same."""
        return scores >= self.threshold

    def probability(self, scores: "Tensor", *, prior: float = 0.5) -> "Tensor":
        """The calibrated probability of "same", if a share ``prior`` of all questions has that answer."""
        return self.log_odds(scores, prior=prior).sigmoid()

    def log_odds(self, scores: Scores, *, prior: float = 0.5) -> Scores:
        """The logarithm of the odds of "same": of a number, or of each in an array or a tensor."""
        if self.calibration is None:
            raise SpaceError(
                "this decision was stored without a calibration; fit it again to get probabilities"
            )
        if not 0 < prior < 1:
            raise SettingError(f"expected a prior between 0 and 1, got {prior}")
        slope, offset = self.calibration
        odds: Any = slope * scores + (offset + math.log(prior / (1 - prior)))
        return odds  # type: ignore[no-any-return]
