"""Operating points: where on the curve of errors a threshold is to lie, and what it takes to know.

The rule of 30 errors (to be 90 % sure that a rate is within 30 % of the truth) is from Doddington et al.,
"The NIST Speaker Recognition Evaluation: Overview, Methodology, Systems, Results, Perspective", Speech
Communication 2000.
"""

import math
from typing import NamedTuple

from torch import Tensor

from samekind.decisions import Decision
from samekind.errors import SettingError
from samekind.measures import bayes_threshold, equal_error_rate, threshold_at

#: How many errors a rate should rest on.
ERRORS = 30
#: With fewer classes than this a decision about others is a guess.
FEW_CLASSES = 10
#: From this equal error on, a score tells known from unknown hardly better than a coin, which has a half.
NEAR_A_COIN = 0.4
EXPECTED = (
    'expected an operating point "eer", "far=0.01" or "frr=0.01" (a rate from 0 to 1), '
    '"cost=PRIOR" or "cost=PRIOR:MISS:FALSE_ACCEPT"'
)


class OperatingPoint(NamedTuple):
    """A point that was asked for: ``name`` is eer, far, frr or cost, the rest what belongs to it."""

    name: str
    rate: float = math.nan
    prior: float = math.nan
    miss_cost: float = 1.0
    false_accept_cost: float = 1.0


def operating_point(text: str) -> OperatingPoint:
    """The point a text speaks of; any other text is refused.

    ``eer``: both errors equally frequent. ``far=RATE`` and ``frr=RATE``: false accepts or false rejects at
    most this frequent. ``cost=PRIOR``: the least cost where this share of what is asked about is the same,
    both errors costing 1, or what ``cost=PRIOR:MISS:FALSE_ACCEPT`` says.

    >>> operating_point("far=0.001").rate
    0.001
    """
    name, _, rest = text.partition("=")
    numbers = [_number(each) for each in rest.split(":")]
    if text == "eer":
        return OperatingPoint("eer")
    if name in ("far", "frr") and len(numbers) == 1 and 0 <= numbers[0] <= 1:
        return OperatingPoint(name, rate=numbers[0])
    if name == "cost" and len(numbers) in (1, 3):
        costs = numbers[1:] or [1.0, 1.0]
        if 0 < numbers[0] < 1 and all(0 < each < math.inf for each in costs):
            return OperatingPoint(name, math.nan, numbers[0], *costs)
    raise SettingError(f'{EXPECTED}, got "{text}"')


def threshold_for(
    point: OperatingPoint, scores: Tensor, same: Tensor, calibration: tuple[float, float]
) -> float:
    """The threshold of a point on some trials.

    That of a cost is where the calibrated odds outweigh prior and costs, not the one that happens to cost
    least on these trials: it rests on all of them and not on the few around it, and it agrees with the
    probabilities.
    """
    match point.name:
        case "far":
            return threshold_at(scores, same, false_accepts=point.rate)
        case "frr":
            return threshold_at(scores, same, false_rejects=point.rate)
        case "cost":
            wanted = bayes_threshold(
                prior=point.prior, miss_cost=point.miss_cost, false_accept_cost=point.false_accept_cost
            )
            slope, offset = calibration
            if slope > 0:
                return (wanted - offset) / slope
            # A score that says nothing, or the wrong thing, should not be trusted to accept.
            return threshold_at(scores, same, false_accepts=0.0)
    return equal_error_rate(scores, same).threshold


def support(decision: Decision, *, open_set: bool = False) -> str | None:
    """What the trials of a decision are too few to promise, in a sentence; None where they are enough.

    With ``open_set`` it is a decision about known and unknown items, not about pairs; where its score hardly
    tells one from the other, that is said first, because no number of items helps against it.
    """
    point = operating_point(decision.point)
    same, different = ("known items", "unknown items") if open_set else ("same trials", "different trials")
    asked = {
        "far": (decision.false_accepts, decision.different_trials, "false accepts", different),
        "frr": (decision.false_rejects, decision.same_trials, "false rejects", same),
    }
    if point.name in asked:
        asked = {point.name: (point.rate, *asked[point.name][1:])}
    error = decision.equal_error
    found = [_a_coin(error)] if error is not None and error >= NEAR_A_COIN else []
    found += [sentence for each in asked.values() if (sentence := _too_few(*each))]
    if 0 < decision.classes < FEW_CLASSES:
        found.append(_few_classes(decision, open_set=open_set))
    return "; ".join(found) or None


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


def _a_coin(error: float) -> str:
    return f"these scores hardly tell known from unknown: the equal error is {error:.1%}, that of a coin 50%"


def _too_few(rate: float, count: int, error: str, trials: str) -> str | None:
    """Whether so many trials can tell a rate; 0 were never counted."""
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
