"""Which of the known classes is it, or none of these? A threshold on the score of the best class.

No kind of score is best everywhere: on some data the learned similarity separates known from unknown items
and the cosine does not, on other data the cosine does better. So the kind is chosen with the threshold.

Scheirer et al., "Toward Open Set Recognition", IEEE Transactions on Pattern Analysis and Machine Intelligence
2013.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items
from samekind.decisions import Decision, Kind
from samekind.errors import DataError, SpaceError
from samekind.inference.embed import BATCH, asking, device_of, embed, in_batches
from samekind.inference.points import operating_point, threshold_for
from samekind.measures import Interval, bootstrap_mean, equal_error_rate, logistic_calibration, rates_at
from samekind.space import MetricSpace

#: A threshold that nobody asked for comes with a space if its equal error is at most this.
TOLD_APART = 0.2


class Named(NamedTuple):
    """The answer for one item: its class, or None for none of these, the probability of that answer, and the
    score that was compared with the threshold.
    """

    name: str | None
    probability: float
    score: float


def identify(space: MetricSpace, z: Tensor, *, kind: Kind | None = None) -> list[Named]:
    """The class of each of (n, d) embeddings, or None where the best class scores below the space's
    ``open_set`` threshold.

    The class is that of `MetricSpace.classify`, by a ``kind`` of score or by the space's choice. Whether the
    item is of a known class at all is decided by the threshold's kind of score, and so is the score of the
    answer; the best class by that score may be another one. Without a threshold the score is the one that
    named the class, and every item gets a class.

    The probability of a class is its probability among the known classes, calibrated if the space has a
    temperature, times that of being known at all; for None it is that of being unknown. Both assume that half
    of all items are known. Without a threshold it is the probability among the known classes.

    The more classes a space knows, the easier an unknown item is taken for one of them: fit the threshold
    again after many classes were enrolled.
    """
    answers: list[Named] = []
    with asking(space):
        for part in torch.split(z.to(device_of(space)), BATCH):
            classified = space.classify(part, kind=kind)
            result = familiar(space, part, scores=classified.scores, kind=kind)
            probabilities = result.answered(classified.probabilities.max(1).values.cpu())
            names = [
                name if accepted else None
                for name, accepted in zip(classified.classes, result.accepted.tolist(), strict=True)
            ]
            answers += map(Named, names, probabilities.tolist(), result.score.tolist())
    return answers


class Familiar(NamedTuple):
    """Items compared with the threshold for none of these, (n,) each: the score, the probability of being of
    a known class, and whether the item is accepted as one.
    """

    score: Tensor
    probability: Tensor
    accepted: Tensor

    def answered(self, probabilities: Tensor) -> Tensor:
        """The probability (n,) of each answer, given that of the class among the known ones."""
        return torch.where(self.accepted, self.probability * probabilities, 1 - self.probability)


def familiar(
    space: MetricSpace, z: Tensor, *, scores: Tensor | None = None, kind: Kind | None = None
) -> Familiar:
    """Compare each of (n, d) embeddings with the space's threshold, as `identify` does; on the CPU.

    Without a threshold all are known, and the score is of the ``kind`` that names classes, by default the
    space's choice. ``scores`` (n, classes) of that kind, if given, are not computed again.
    """
    named_by = kind or space.kind_for("classes")
    compared_by = named_by if space.open_set is None else space.open_set.kind
    if scores is not None and compared_by == named_by:
        return _compared(space, scores.max(1).values.cpu())
    return _compared(
        space, in_batches(space, z, lambda part: space.score_classes(part, kind=compared_by).max(1).values)
    )


def _compared(space: MetricSpace, best: Tensor) -> Familiar:
    """The scores (n,) of the best classes compared with the threshold."""
    if space.open_set is None:
        certain = torch.ones_like(best, dtype=torch.double)
        return Familiar(best, certain, certain.bool())
    return Familiar(best, space.open_set.probability(best.double()), space.open_set.accepts(best))


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

    ``known`` are items of the space's classes that were used neither for training nor for a prototype,
    ``unknown`` items of other classes. A false accept is an unknown item that gets a class, a false reject a
    known one that gets none. The intervals come from a bootstrap over classes; items of one class have none.

    Without a ``kind`` of score, the one with the least equal error on these items is taken; the first of
    equals. The rates, measured on the same items, are then slightly optimistic.
    """
    operating_point(point)  # a mistake is reported before anything is embedded
    if not len(known) or not len(unknown):
        raise DataError(
            "a threshold for none of these needs items of known and of unknown classes; "
            f"got {len(known)} and {len(unknown)}"
        )
    z = torch.cat([embed(space, items.inputs) for items in (known, unknown)])
    familiarity = Familiarity(
        {name: best_of(space, z, kind=name) for name in ([kind] if kind else space.kinds)},
        torch.arange(len(z)) < len(known),
        torch.cat([items.labels.cpu() for items in (known, unknown)]),
    )
    return decide(familiarity, name=known.name, point=point, seed=seed)


class Familiarity(NamedTuple):
    """Held-out items: the ``scores`` (n,) of their best classes by each kind of score, whether their class is
    ``known`` (n,), and its number (n,).
    """

    scores: Mapping[Kind, Tensor]
    known: Tensor
    labels: Tensor


def pooled(parts: Sequence[Familiarity]) -> Familiarity:
    """Several of them as one."""
    return Familiarity(
        {kind: torch.cat([part.scores[kind] for part in parts]) for kind in parts[0].scores},
        torch.cat([part.known for part in parts]),
        torch.cat([part.labels for part in parts]),
    )


def decide_if_told_apart(familiarity: Familiarity, *, name: str, point: str) -> Decision | None:
    """`decide`, for nobody who asked for it: None where it would err too often to be of use."""
    decision = decide(familiarity, name=name, point=point)
    return decision if decision.equal_error is not None and decision.equal_error <= TOLD_APART else None


def decide(familiarity: Familiarity, *, name: str, point: str = "eer", seed: int = 0) -> Decision:
    """The threshold for held-out items of this name, by the kind of score that errs least."""
    is_known, labels = familiarity.known, familiarity.labels
    errors = {kind: equal_error_rate(scores, is_known).rate for kind, scores in familiarity.scores.items()}
    chosen = min(errors, key=errors.__getitem__)
    scores = familiarity.scores[chosen]
    calibration = logistic_calibration(scores, is_known)
    threshold = threshold_for(operating_point(point), scores, is_known, calibration)
    accepts, rejects = rates_at(scores, is_known, threshold)
    accepted = (scores >= threshold).double()
    known, unknown = int(is_known.sum()), int((~is_known).sum())
    return Decision(
        kind=chosen,
        threshold=threshold,
        point=point,
        trials=f"{name}: {known:,} known, {unknown:,} unknown; {_in_words(chosen, errors)}",
        false_accepts=accepts,
        false_rejects=rejects,
        calibration=calibration,
        false_accept_interval=_ends(accepted[~is_known], labels[~is_known], seed),
        false_reject_interval=_ends(1 - accepted[is_known], labels[is_known], seed),
        same_trials=known,
        different_trials=unknown,
        classes=min(len(torch.unique(labels[side])) for side in (is_known, ~is_known)),
        equal_error=errors[chosen],
    )


def open_set_rates(
    space: MetricSpace, known: Items, unknown: Items, decision: Decision, *, seed: int = 0
) -> tuple[Interval, Interval]:
    """The share of unknown items that get a class, and of known ones that get none, with intervals over
    classes; from 0 to 1 for items of one class.
    """

    def rate(items: Items, *, accepted: bool) -> Interval:
        accepts = decision.accepts(best_scores(space, items, kind=decision.kind))
        errors = (accepts == accepted).double()
        return Interval(float(errors.mean()), *(_ends(errors, items.labels, seed) or (0.0, 1.0)))

    return rate(unknown, accepted=True), rate(known, accepted=False)


def best_scores(space: MetricSpace, items: Items, *, kind: Kind | None = None) -> Tensor:
    """The score of each item and its best class: (n,), on the CPU."""
    return best_of(space, embed(space, items.inputs), kind=kind)


def best_of(space: MetricSpace, z: Tensor, *, kind: Kind | None = None) -> Tensor:
    """The same for embeddings (n, d)."""
    if not space.classes:
        raise SpaceError("this space knows no class yet; enrol one from a few examples first")
    by = kind or space.kind_for("classes")
    return in_batches(space, z, lambda part: space.score_classes(part, kind=by).max(1).values.float())


def _in_words(chosen: Kind, errors: Mapping[Kind, float]) -> str:
    """The kind of score, and the errors of all kinds it was chosen from."""
    if len(errors) == 1:
        return f"by {chosen}, equal error {errors[chosen]:.1%}"
    listed = ", ".join(f"{kind} {error:.1%}" for kind, error in errors.items())
    return f"by {chosen}, chosen there by equal error: {listed}"


def _ends(errors: Tensor, labels: Tensor, seed: int) -> tuple[float, float] | None:
    """The interval of a share of errors over classes; None for items of one class."""
    if len(torch.unique(labels)) < 2:
        return None
    _, low, high = bootstrap_mean(errors, units=labels, seed=seed)
    return low, high
