"""The kind of score that answers a question when the user names none.

The space's own similarity stays, unless another kind is better by more than chance and by one point.
"""

from collections.abc import Callable, Mapping
from typing import get_args

from torch import Tensor

from samekind.decisions import Choices, Kind, Question, Standing
from samekind.inference.standings import measure_embedded
from samekind.space import MetricSpace

#: A gain below one point is not worth another score, however certain it is.
SMALLEST_GAIN = 0.01


def choose(
    space: MetricSpace,
    z: Tensor,
    labels: Tensor,
    *,
    measured_on: str,
    groups: Tensor | None = None,
    seed: int = 0,
) -> Choices | None:
    """The best kinds of score for embeddings (n, d) with labels (n,), of classes that neither the encoder nor
    a fitted similarity has seen; None without two classes, or if no class has two items.

    Classes are named as in few-shot tasks, from five examples each. Items of one of the ``groups`` (n,) are
    not compared.
    """
    measured = measure_embedded(space, z, labels, groups=groups, measured_on=measured_on, seed=seed)
    return choices_of(measured.standings)


def choices_of(standings: Mapping[str, Standing]) -> Choices | None:
    """The best kinds of score by their standings: for pairs by the equal error, for neighbours by the share
    found first, for classes by the share named rightly. None without standings.
    """
    if not standings:
        return None
    own = standings["similarity"]
    return Choices(
        pairs=_best(standings, lambda kind: own.equal_error - kind.equal_error if kind.errs_less else 0.0),
        neighbours=_best(standings, lambda kind: kind.recall - own.recall if kind.finds_more else 0.0),
        classes=_best(
            standings, lambda kind: (kind.named or 0.0) - (own.named or 0.0) if kind.names_more else 0.0
        ),
        measured_on=own.measured_on,
    )


def used_first(space: MetricSpace, question: Question) -> list[Kind]:
    """The kinds of score of a space, the one that answers a question first."""
    used = space.kind_for(question)
    return [used, *(kind for kind in space.kinds if kind != used)]


def _best(standings: Mapping[str, Standing], gain: Callable[[Standing], float]) -> Kind:
    """The kind with the largest gain; the own similarity if none is large enough."""
    gains: dict[Kind, float] = {kind: gain(standings[kind]) for kind in get_args(Kind) if kind in standings}
    best = max(gains, key=gains.__getitem__)
    return best if gains[best] >= SMALLEST_GAIN else "similarity"
