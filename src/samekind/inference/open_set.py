"""Which of the known classes is it, or none of these? A threshold on the score of the best class.

Scheirer et al., "Toward Open Set Recognition", IEEE Transactions on Pattern Analysis and Machine Intelligence
2013.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items
from samekind.errors import DataError, SpaceError
from samekind.inference.embed import asking, device_of, embed
from samekind.inference.points import operating_point, threshold_for
from samekind.measures import Interval, bootstrap_mean, logistic_calibration, proportion_interval, rates_at
from samekind.space import Decision, MetricSpace

BATCH = 4096


class Named(NamedTuple):
    """The answer for one item: its class, or None for none of these, and how sure that is."""

    name: str | None
    probability: float
    score: float


def identify(space: MetricSpace, z: Tensor) -> list[Named]:
    """The class of each of (n, d) embeddings, or None where the best class scores below the space's
    ``open_set`` threshold.

    The probability is that of the answer: the class's among the known classes, times that of being known at
    all; for None, that of not being known. Both presume that an item is as likely to be known as not. A
    space without a threshold always names a class, and its probability is that among the known ones.

    An item of no class must be told from all classes, so the more of them a space knows, the easier one is
    taken for one of them: fit the threshold again when many are enrolled.
    """
    answers: list[Named] = []
    with asking(space):
        for some in torch.split(z.to(device_of(space)), BATCH):
            found = space.classify(some)
            best = found.scores.max(1).values
            known = torch.ones_like(best, dtype=torch.double)
            accepted = torch.ones_like(best, dtype=torch.bool)
            if space.open_set is not None:
                known = space.open_set.probability(best.double())
                accepted = space.open_set.accepts(best)
            sure = torch.where(accepted, known * found.probabilities.max(1).values, 1 - known)
            rows = zip(found.classes, accepted.tolist(), sure.tolist(), best.tolist(), strict=True)
            answers += [Named(name if yes else None, chance, score) for name, yes, chance, score in rows]
    return answers


def fit_open_set(
    space: MetricSpace, known: Items, unknown: Items, *, point: str = "eer", seed: int = 0
) -> Decision:
    """The threshold on the score of the best class, at an operating point (see `operating_point`).

    ``known`` are items of the space's classes that it was not trained on and whose examples made no
    prototype, ``unknown`` items of other classes. A false accept is an unknown item that gets a class, a
    false reject a known one that gets none. The intervals come from drawing the classes of either again.
    """
    wanted = operating_point(point)
    if not len(known) or not len(unknown):
        raise DataError(
            "a threshold for none of these needs items of known and of unknown classes; "
            f"got {len(known)} and {len(unknown)}"
        )
    scores = torch.cat([best_scores(space, each) for each in (known, unknown)])
    is_known = torch.arange(len(scores)) < len(known)
    calibration = logistic_calibration(scores, is_known)
    threshold = threshold_for(wanted, scores, is_known, calibration)
    accepts, rejects = rates_at(scores, is_known, threshold)
    accepted = (scores >= threshold).double()
    return Decision(
        kind="similarity",
        threshold=threshold,
        point=point,
        trials=f"{known.name}: {len(known):,} known, {len(unknown):,} unknown",
        false_accepts=accepts,
        false_rejects=rejects,
        calibration=calibration,
        false_accept_interval=_interval(accepted[~is_known], unknown, seed)[1:],
        false_reject_interval=_interval(1 - accepted[is_known], known, seed)[1:],
        same_trials=len(known),
        different_trials=len(unknown),
        classes=min(len(torch.unique(each.labels)) for each in (known, unknown)),
    )


def open_set_rates(
    space: MetricSpace, known: Items, unknown: Items, threshold: float, *, seed: int = 0
) -> tuple[Interval, Interval]:
    """The shares of unknown items that get a class and of known ones that get none, with their intervals."""
    accepts, rejects = (best_scores(space, unknown) >= threshold, best_scores(space, known) < threshold)
    return _interval(accepts.double(), unknown, seed), _interval(rejects.double(), known, seed)


def divided(space: MetricSpace, items: Items) -> tuple[Items, Items]:
    """The items whose class the space knows by name, and the others."""
    known = torch.tensor([name in space.classes for name in items.classes], dtype=torch.bool)
    is_known = known[items.labels.cpu()]
    return items.take(is_known.nonzero().flatten()), items.take((~is_known).nonzero().flatten())


def best_scores(space: MetricSpace, items: Items) -> Tensor:
    """How alike each item and the class most like it are: (n,), on the CPU."""
    if not space.classes:
        raise SpaceError("this space knows no class yet; enrol one from a few examples first")
    z = embed(space, items.inputs).to(device_of(space))
    with asking(space):
        return torch.cat(
            [space.score_classes(some).max(1).values.float().cpu() for some in torch.split(z, BATCH)]
        )


def _interval(errors: Tensor, items: Items, seed: int) -> Interval:
    """A share of errors and its interval over classes; of one class, over items."""
    if len(torch.unique(items.labels)) > 1:
        return bootstrap_mean(errors, units=items.labels, seed=seed)
    return proportion_interval(int(errors.sum()), len(errors))
