"""Which of the known classes is it, or none of these? A threshold on the score of the best class.

No kind of score is the best everywhere: on some data the learned similarity tells strangers from the known
where the cosine does not, on other data it is a coin beside it. So the kind is chosen with the threshold.

Scheirer et al., "Toward Open Set Recognition", IEEE Transactions on Pattern Analysis and Machine Intelligence
2013.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items
from samekind.decisions import Decision, Kind
from samekind.errors import DataError, SpaceError
from samekind.inference.embed import asking, device_of, embed
from samekind.inference.points import operating_point, threshold_for
from samekind.measures import (
    Interval,
    bootstrap_mean,
    equal_error_rate,
    logistic_calibration,
    rates_at,
)
from samekind.space import MetricSpace

BATCH = 4096


class Named(NamedTuple):
    """The answer for one item: its class, or None for none of these, how sure that is, and the score the
    threshold was held against.
    """

    name: str | None
    probability: float
    score: float


def identify(space: MetricSpace, z: Tensor) -> list[Named]:
    """The class of each of (n, d) embeddings, or None where the best class scores below the space's
    ``open_set`` threshold.

    The class is that of `MetricSpace.classify`; whether it is any is asked of the threshold's kind of score,
    and the best class by that one need not be the one named. The score told is of that kind, too; without a
    threshold, of the similarity.

    The probability is that of the answer: the class's among the known classes, calibrated where the space has
    a temperature, times that of being known at all; for None, that of not being known. Both presume that an
    item is as likely to be known as not. A space without a threshold always names a class, and its
    probability is that among the known ones.

    An item of no class must be told from all classes, so the more of them a space knows, the easier one is
    taken for one of them: fit the threshold again when many are enrolled.
    """
    answers: list[Named] = []
    with asking(space):
        for some in torch.split(z.to(device_of(space)), BATCH):
            found = space.classify(some)
            stands = _held(space, some, found.scores)
            sure = stands.answered(found.probabilities.max(1).values)
            rows = zip(
                found.classes, stands.accepted.tolist(), sure.tolist(), stands.score.tolist(), strict=True
            )
            answers += [Named(name if yes else None, chance, score) for name, yes, chance, score in rows]
    return answers


class Familiar(NamedTuple):
    """How items stand to the threshold for none of these, (n,) each: the score it is held against, how
    probable it is that the item is of a known class at all, and whether it passes for one.
    """

    score: Tensor
    probability: Tensor
    accepted: Tensor

    def answered(self, chances: Tensor) -> Tensor:
        """The probability (n,) of the answer, of a class that has these among the known ones, or none."""
        return torch.where(self.accepted, self.probability * chances, 1 - self.probability)


def familiar(space: MetricSpace, z: Tensor, *, similarities: Tensor | None = None) -> Familiar:
    """How each of (n, d) embeddings stands to the space's threshold, on the CPU, as `identify` asks it;
    without one, all are known for sure, and the score is the similarity. The ``similarities`` (n, classes) of
    who has them already are not asked for again.
    """
    device = device_of(space)
    given = None if similarities is None else torch.split(similarities.to(device), BATCH)
    with asking(space):
        parts = [
            _held(space, some, None if given is None else given[place])
            for place, some in enumerate(torch.split(z.to(device), BATCH))
        ]
    return Familiar(*(torch.cat(each).cpu() for each in zip(*parts, strict=True)))


def _held(space: MetricSpace, z: Tensor, similarities: Tensor | None) -> Familiar:
    """The same where the space lives."""
    decision = space.open_set
    kind: Kind = "similarity" if decision is None else decision.kind
    scores = similarities if kind == "similarity" else None
    best = (space.score_classes(z, kind=kind) if scores is None else scores).max(1).values
    if decision is None:
        sure = torch.ones_like(best, dtype=torch.double)
        return Familiar(best, sure, sure.bool())
    return Familiar(best, decision.probability(best.double()), decision.accepts(best))


def fit_open_set(
    space: MetricSpace,
    known: Items,
    unknown: Items,
    *,
    kind: Kind | None = None,
    point: str = "eer",
    seed: int = 0,
) -> Decision:
    """The threshold on the score of the best class, at an operating point (see `operating_point`).

    ``known`` are items of the space's classes that it was not trained on and whose examples made no
    prototype, ``unknown`` items of other classes. A false accept is an unknown item that gets a class, a
    false reject a known one that gets none. The intervals come from drawing the classes of either again; a
    rate among items of one class has none, for one class cannot say what another would do.

    Without a ``kind`` of score it is the one of the space's with the least equal error on these very items,
    of equals the first; the rates are then told of the items that chose it, and flatter it a little.
    """
    wanted = operating_point(point)
    if not len(known) or not len(unknown):
        raise DataError(
            "a threshold for none of these needs items of known and of unknown classes; "
            f"got {len(known)} and {len(unknown)}"
        )
    is_known = torch.arange(len(known) + len(unknown)) < len(known)
    z = torch.cat([embed(space, each.inputs) for each in (known, unknown)])
    by_kind = {each: best_of(space, z, kind=each) for each in ([kind] if kind else space.kinds)}
    errors = {each: equal_error_rate(scores, is_known).rate for each, scores in by_kind.items()}
    chosen = min(errors, key=errors.__getitem__)
    scores = by_kind[chosen]
    calibration = logistic_calibration(scores, is_known)
    threshold = threshold_for(wanted, scores, is_known, calibration)
    accepts, rejects = rates_at(scores, is_known, threshold)
    accepted = (scores >= threshold).double()
    return Decision(
        kind=chosen,
        threshold=threshold,
        point=point,
        trials=f"{known.name}: {len(known):,} known, {len(unknown):,} unknown; {_in_words(chosen, errors)}",
        false_accepts=accepts,
        false_rejects=rejects,
        calibration=calibration,
        false_accept_interval=_ends(accepted[~is_known], unknown, seed),
        false_reject_interval=_ends(1 - accepted[is_known], known, seed),
        same_trials=len(known),
        different_trials=len(unknown),
        classes=min(len(torch.unique(each.labels)) for each in (known, unknown)),
        equal_error=errors[chosen],
    )


def open_set_rates(
    space: MetricSpace, known: Items, unknown: Items, decision: Decision, *, seed: int = 0
) -> tuple[Interval, Interval]:
    """The shares of unknown items that get a class and of known ones that get none, with their intervals
    over classes; that of one class, which leaves open what others do, is from 0 to 1.
    """
    strange, familiar = (
        decision.accepts(best_scores(space, each, kind=decision.kind)).double() for each in (unknown, known)
    )
    rates = ((strange, unknown), (1 - familiar, known))
    accepts, rejects = (
        Interval(float(errors.mean()), *(_ends(errors, items, seed) or (0.0, 1.0))) for errors, items in rates
    )
    return accepts, rejects


def divided(space: MetricSpace, items: Items) -> tuple[Items, Items]:
    """The items whose class the space knows by name, and the others."""
    known = torch.tensor([name in space.classes for name in items.classes], dtype=torch.bool)
    is_known = known[items.labels.cpu()]
    return items.take(is_known.nonzero().flatten()), items.take((~is_known).nonzero().flatten())


def best_scores(space: MetricSpace, items: Items, *, kind: Kind = "similarity") -> Tensor:
    """How alike each item and the class most like it are: (n,), on the CPU."""
    return best_of(space, embed(space, items.inputs), kind=kind)


def best_of(space: MetricSpace, z: Tensor, *, kind: Kind = "similarity") -> Tensor:
    """The same of embeddings (n, d)."""
    if not space.classes:
        raise SpaceError("this space knows no class yet; enrol one from a few examples first")
    with asking(space):
        return torch.cat(
            [
                space.score_classes(some, kind=kind).max(1).values.float().cpu()
                for some in torch.split(z.to(device_of(space)), BATCH)
            ]
        )


def _in_words(chosen: Kind, errors: Mapping[Kind, float]) -> str:
    """Which score it is, and what it was chosen among, if it was."""
    if len(errors) == 1:
        return f"by {chosen}, equal error {errors[chosen]:.1%}"
    told = ", ".join(f"{each} {error:.1%}" for each, error in errors.items())
    return f"by {chosen}, chosen there by equal error: {told}"


def _ends(errors: Tensor, items: Items, seed: int) -> tuple[float, float] | None:
    """Between which a share of errors lies, for classes like those of the items; None if they are of one."""
    if len(torch.unique(items.labels)) < 2:
        return None
    found = bootstrap_mean(errors, units=items.labels, seed=seed)
    return found.low, found.high
