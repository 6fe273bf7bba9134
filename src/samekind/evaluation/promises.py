"""Does a threshold still give what it promised? Every stored decision, checked on other trials."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import Tensor

from samekind.data import Items
from samekind.data.drawing import MOST_ITEMS, draw
from samekind.data.groups import OTHER_GROUPS, OWN_GROUPS, Apart, groups_apart
from samekind.data.trial_lists import TrialList
from samekind.decisions import Decision
from samekind.evaluation.listed_trials import scored
from samekind.inference import all_trials, embed
from samekind.inference.enrolment import Combination
from samekind.inference.known_classes import divided
from samekind.inference.promise import Promise, check_open_set, check_promise
from samekind.inference.trials import Trials
from samekind.space import MetricSpace


class RatePromise(NamedTuple):
    """One error rate: what was promised, what is measured, its 95% interval, and the verdict in words."""

    promised: float
    measured: float
    low: float
    high: float
    verdict: str


class PromiseRow(NamedTuple):
    """What one threshold promised and what it gives on other items, in numbers and in a sentence.

    If it neither ``holds`` nor is ``broken``, the items are too few to decide.
    """

    items: str
    kind: str
    point: str
    holds: bool
    broken: bool
    sentence: str
    false_accepts: RatePromise
    false_rejects: RatePromise

    def as_json(self) -> dict[str, Any]:
        """The row as plain values, the rates by name."""
        rates = {name: getattr(self, name)._asdict() for name in ("false_accepts", "false_rejects")}
        return {**self._asdict(), **rates}


def promises(space: MetricSpace, sets: Mapping[str, Items], *, seed: int = 0) -> list[PromiseRow]:
    """Each decision of the space checked on all pairs of each named set, or of 2,000 random items of it. If
    items have groups, the pairs are from different groups; the sentence says if the threshold was fitted on
    other pairs.

    Sets of classes that were not in training are harder: a threshold often does not hold there. A threshold
    for "none of these" is checked on sets with items of known and of unknown classes, and on a set of known
    classes together with one of unknown classes.
    """
    rows = []
    parts = {name: draw(items, most=MOST_ITEMS, seed=seed, balanced=False) for name, items in sets.items()}
    for name, part in parts.items() if space.decisions else ():
        z, apart = embed(space, part.inputs), groups_apart(part)
        for kind in (known for known in space.kinds if known in space.decisions):
            trials = all_trials(space, z, part.labels, groups=apart.groups, kind=kind)
            row = promise_row(space.decisions[kind], trials, name=name, seed=seed)
            note = _other_pairs(space.decisions[kind], apart) if part.groups is not None else ""
            rows.append(row._replace(sentence=f"{row.sentence}{note}"))
    return rows + (_open_set_rows(space, parts, seed) if space.open_set is not None else [])


def listed_promises(
    space: MetricSpace,
    listed: TrialList,
    z: Tensor,
    *,
    name: str,
    combination: Combination = "embedding",
    seed: int = 0,
) -> list[PromiseRow]:
    """Each decision of the space checked on the trials of a list; ``z`` as for `listed_trials`."""
    return [
        promise_row(
            space.decisions[kind],
            scored(space, listed, z, kind=kind, combination=combination),
            name=name,
            seed=seed,
        )
        for kind in space.kinds
        if kind in space.decisions
    ]


def promise_row(decision: Decision, trials: Trials, *, name: str, seed: int = 0) -> PromiseRow:
    """A decision checked on trials of its kind of score, which are called ``name``."""
    return _row(name, decision.kind, decision.point, check_promise(decision, trials, seed=seed))


def _other_pairs(decision: Decision, apart: Apart) -> str:
    """The end of a sentence if pairs within a group were left out when fitting but not when checking, or the
    reverse.
    """
    left_out = OTHER_GROUPS in decision.trials
    if left_out and apart.note == OWN_GROUPS:
        return f"; it was fitted with the {OTHER_GROUPS}, and is checked on pairs with it included"
    if not left_out and apart.groups is not None:
        return f"; it was not fitted with the {OTHER_GROUPS}, and is checked on pairs without it"
    return ""


def _open_set_rows(space: MetricSpace, sets: Mapping[str, Items], seed: int) -> list[PromiseRow]:
    """The threshold for "none of these" on known and unknown items of one set, or of one set each."""
    halves = {name: divided(space, items) for name, items in sets.items()}
    rows = []
    for one, (known, also_unknown) in halves.items():
        for other, (also_known, unknown) in halves.items():
            together = one == other or not (len(also_unknown) or len(also_known))
            if not (together and len(known) and len(unknown)):
                continue
            promise = check_open_set(space, known, unknown, seed=seed)
            if promise is not None and space.open_set is not None:
                name = one if one == other else f"{one}, {other}"
                rows.append(_row(name, "open set", space.open_set.point, promise))
    return rows


def _row(name: str, kind: str, point: str, promise: Promise) -> PromiseRow:
    rates = [RatePromise(rate.promised, *rate.measured, rate.verdict) for rate in promise]
    return PromiseRow(name, kind, point, promise.holds, promise.broken, promise.sentence, *rates)
