"""What is decided by a score: from where on two items are called the same."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from torch import Tensor

from samekind.errors import SettingError, SpaceError

Kind = Literal["similarity", "cosine", "fused"]

#: What of a decision is two numbers, or nothing.
PAIRS = ("calibration", "false_accept_interval", "false_reject_interval")


@dataclass(frozen=True)
class Decision:
    """When two items are called the same: a threshold on one kind of score, and where it came from.

    ``calibration`` is (slope, offset): sigmoid(slope·score + offset) is the probability of "same" where
    both answers are equally likely beforehand. The intervals are the ends (low, high) at 95 %, for classes
    like those of the trials; ``classes`` is how many there were. 0 trials: from before they were counted.
    ``equal_error``, for none of these: where both errors are equally frequent, whatever the point.
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

    def accepts(self, scores: Tensor) -> Tensor:
        """Same (true) or different (false); a score at the threshold is the same."""
        return scores >= self.threshold

    def probability(self, scores: Tensor, *, prior: float = 0.5) -> Tensor:
        """The calibrated probability of "same" where a share ``prior`` of what is asked about is the same."""
        if self.calibration is None:
            raise SpaceError(
                "this decision was stored without a calibration; fit it again to get probabilities"
            )
        if not 0 < prior < 1:
            raise SettingError(f"expected a prior between 0 and 1, got {prior}")
        slope, offset = self.calibration
        return (slope * scores + (offset + math.log(prior / (1 - prior)))).sigmoid()


def stored_decision(kind: str, stored: Mapping[str, Any]) -> Decision:
    """A decision as JSON has it; what was stored before there were intervals has none."""
    pairs = {name: stored.get(name) for name in PAIRS}
    decision = Decision(
        **{**stored, **{name: None if each is None else tuple(each) for name, each in pairs.items()}}
    )
    numbers = [decision.threshold, decision.false_accepts, decision.false_rejects]
    numbers += [each for pair in pairs.values() for each in (pair or ())]
    numbers += [] if decision.equal_error is None else [decision.equal_error]
    counts = [decision.same_trials, decision.different_trials, decision.classes]
    fits = kind in get_args(Kind) and decision.kind == kind
    fits = fits and isinstance(decision.point, str) and isinstance(decision.trials, str)
    fits = fits and all(each is None or len(each) == 2 for each in pairs.values())
    fits = fits and all(type(each) is int for each in counts)
    if not fits or not all(type(each) in (int, float) for each in numbers):
        raise SettingError(f'the decision for "{kind}" is not one')
    return decision
