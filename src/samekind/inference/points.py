"""Operating points: which error rates a threshold should have, and how many trials that needs.

The rule of 30 errors (a rate is within 30 % of the truth with 90 % confidence) is from Doddington et al.,
"The NIST Speaker Recognition Evaluation: Overview, Methodology, Systems, Results, Perspective", Speech
Communication 2000.
"""

import math
from typing import NamedTuple

from torch import Tensor

from samekind.decisions import Decision
from samekind.errors import SettingError
from samekind.measures import bayes_threshold, equal_error_rate, rates_at, threshold_at

#: How many errors a rate should rest on.
ERRORS = 30
#: By what part of their size scores of the same pair may differ, computed in pairs, in a matrix or in blocks.
ROUNDING = 2.0**-19
#: Trials of fewer classes say little about other classes.
FEW_CLASSES = 10
#: From this equal error on, a score separates known from unknown hardly better than chance, which has 0.5.
NEAR_A_COIN = 0.4
EXPECTED = (
    'expected an operating point "eer", "far=0.01" or "frr=0.01" (a rate from 0 to 1), '
    '"cost=PRIOR" or "cost=PRIOR:MISS:FALSE_ACCEPT", or the threshold itself, "threshold=0.5"'
)


class OperatingPoint(NamedTuple):
    """A point: ``name`` is eer, far, frr, cost or threshold, the rest its numbers."""

    name: str
    rate: float = math.nan
    prior: float = math.nan
    miss_cost: float = 1.0
    false_accept_cost: float = 1.0
    threshold: float = math.nan


def operating_point(text: str) -> OperatingPoint:
    """The point that a text names. Raises SettingError for any other text.

    ``eer``: both errors equally frequent. ``far=RATE`` and ``frr=RATE``: false accepts or false rejects at
    most this frequent. ``cost=PRIOR``: the least cost if a share PRIOR of all pairs is the same; both errors
    cost 1, or what ``cost=PRIOR:MISS:FALSE_ACCEPT`` says. ``threshold=SCORE``: this very threshold.

    >>> operating_point("far=0.001").rate
    0.001
    """
    name, _, rest = text.partition("=")
    numbers = [_number(part) for part in rest.split(":")]
    if text == "eer":
        return OperatingPoint("eer")
    if name in ("far", "frr") and len(numbers) == 1 and 0 <= numbers[0] <= 1:
        return OperatingPoint(name, rate=numbers[0])
    if name == "cost" and len(numbers) in (1, 3):
        costs = numbers[1:] or [1.0, 1.0]
        if 0 < numbers[0] < 1 and all(0 < cost < math.inf for cost in costs):
            return OperatingPoint(name, math.nan, numbers[0], *costs)
    if name == "threshold" and len(numbers) == 1 and math.isfinite(numbers[0]):
        return OperatingPoint(name, threshold=numbers[0])
    raise SettingError(f'{EXPECTED}, got "{text}"')


def threshold_for(
    point: OperatingPoint, scores: Tensor, same: Tensor, calibration: tuple[float, float]
) -> float:
    """The threshold of a point on some trials.

    It lies a rounding error below the lowest score that it accepts: in another block the same pair may score
    a little less. Even so, false accepts are at most as frequent as asked. For a cost the threshold comes
    from the calibration, not from the cost on these trials: it rests on all trials and agrees with the
    probabilities.
    """
    match point.name:
        case "far":
            return _at_false_accepts(scores, same, point.rate)
        case "frr":
            return _below(scores, threshold_at(scores, same, false_rejects=point.rate))
        case "threshold":
            return point.threshold
        case "cost":
            log_odds = bayes_threshold(
                prior=point.prior, miss_cost=point.miss_cost, false_accept_cost=point.false_accept_cost
            )
            slope, offset = calibration
            if slope > 0:
                return (log_odds - offset) / slope
            # A score without information should not accept anything.
            return threshold_for(OperatingPoint("far", rate=0.0), scores, same, calibration)
    return _below(scores, equal_error_rate(scores, same).threshold)


def _at_false_accepts(scores: Tensor, same: Tensor, rate: float) -> float:
    """The threshold with at most this rate of false accepts, those that rounding adds included."""
    threshold = threshold_at(scores, same, false_accepts=rate)
    if threshold > float(scores.max()):
        return threshold  # nothing is accepted
    lenient = _below(scores, threshold)
    if rates_at(scores, same, lenient)[0] <= rate:
        return lenient
    # Scores differ by no more than rounding: those of two classes as high as it can make them.
    scores = scores.detach().double()
    highest = scores.where(same, scores + 2 * ROUNDING * scores.abs().clamp(min=_size(scores)))
    return _below(scores, threshold_at(highest, same, false_accepts=rate))


def _below(scores: Tensor, accepted: float) -> float:
    """A threshold that lies a rounding error below an accepted score."""
    return accepted - ROUNDING * max(_size(scores), abs(accepted))


def _size(scores: Tensor) -> float:
    return float(scores.detach().double().abs().median())


def support(decision: Decision, *, open_set: bool = False) -> str | None:
    """A sentence about what the trials of a decision are too few for; None if they are enough.

    With ``open_set`` the decision is about known and unknown items, not about pairs. A score that hardly
    separates the two is reported first, because more items do not help.
    """
    point = operating_point(decision.point)
    same, different = ("known items", "unknown items") if open_set else ("same trials", "different trials")
    rates = {
        "far": (decision.false_accepts, decision.different_trials, "false accepts", different),
        "frr": (decision.false_rejects, decision.same_trials, "false rejects", same),
    }
    if point.name in rates:
        rates = {point.name: (point.rate, *rates[point.name][1:])}
    error = decision.equal_error
    sentences = []
    if error is not None and error >= NEAR_A_COIN:
        hardly = "these scores hardly tell known from unknown"
        sentences = [f"{hardly}: the equal error is {error:.1%}, that of a coin 50%"]
    sentences += [sentence for rate in rates.values() if (sentence := _too_few(*rate))]
    if 0 < decision.classes < FEW_CLASSES:
        sentences.append(_few_classes(decision, open_set=open_set))
    return "; ".join(sentences) or None


def _few_classes(decision: Decision, *, open_set: bool) -> str:
    sides = {
        "false accepts": ("the unknown items", decision.false_accept_interval),
        "false rejects": ("the known items", decision.false_reject_interval),
    }
    alone = {error: what for error, (what, interval) in sides.items() if interval is None}
    if open_set and decision.classes == 1 and alone:
        return (
            f"{' and '.join(alone.values())} are of 1 class: how much classes differ cannot be told from it, "
            f"so the {' and '.join(alone)} have no interval, and what others do is a guess"
        )
    what = "the known or the unknown items" if open_set else "the trials"
    classes = "1 class" if decision.classes == 1 else f"{decision.classes} classes"
    return f"{what} are of {classes}; what others do is a guess"


def _too_few(rate: float, count: int, error: str, trials: str) -> str | None:
    """A sentence if so many trials cannot measure a rate; a count of 0 is unknown."""
    if count == 0 or rate * count >= ERRORS:
        return None
    if rate * count < 1:
        return (
            f"{count:,} {trials} cannot tell {error} of {rate:.2g}: "
            f"with none among them the rate may still be {3 / count:.2g} (rule of three)"
        )
    errors = round(rate * count)
    about = "1 error" if errors == 1 else f"{errors} errors"
    return (
        f"{error} of {rate:.2g} among {count:,} {trials} are about {about}; "
        f"{ERRORS} make the rate reliable, which takes {ERRORS / rate:,.0f}"
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
