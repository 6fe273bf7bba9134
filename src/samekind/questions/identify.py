"""Which class is it, or none of these?"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from samekind.data import Collection
from samekind.decisions import Kind
from samekind.errors import SpaceError
from samekind.inference import identify as named_classes
from samekind.inference import identify_at
from samekind.inference.embed import in_batches
from samekind.inference.inner_nodes import NO_TREE, threshold_at
from samekind.questions.embedded import Embedded, vectors_of
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import known_kind
from samekind.questions.unheard import about_unheard, unheard_in
from samekind.space import MetricSpace

NONE = "none of these"
NOT_FITTED = (
    "the level was not fitted on held-out items, so the probabilities are taken at their word; calibrate the "
    "space on such items first"
)
TOO_FEW = (
    "the {items:,} held-out items were too few to promise {level:g} right answers in 1, so every answer is "
    "the root of the tree"
)
OTHER_CLASSES = (
    "the level was fitted when the space knew {before:,} classes, and it knows {now:,} now; fit it again "
    "(samekind calibrate), or the share of right answers may be lower"
)
NO_THRESHOLD = "this space has no threshold for none of these, so every item gets its best class"


class Answer(NamedTuple):
    """The class of one item, or with a level perhaps a node above it; None for none of these. With its
    probability and the score, and if they were asked for the most probable of the known classes.
    """

    id: str
    name: str | None
    probability: float
    score: float
    best: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Identified:
    """The class of each item. ``kind`` is the score that is given: the one that was compared with the
    threshold, if there is one, else ``named_by``, the score that named the classes. ``level`` is the share of
    answers that is to be right, if one was wanted; ``about_level`` says why it may not be. ``unheard`` are
    the items with nothing in them to know them by.
    """

    items: tuple[Answer, ...]
    threshold: float | None
    kind: Kind
    named_by: Kind
    skipped: tuple[tuple[str, str], ...]
    classes: tuple[str, ...] = ()
    level: float | None = None
    about_level: str | None = None
    unheard: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        without = NO_THRESHOLD if self.threshold is None else None
        return tuple(filter(None, (without, self.about_level, about_unheard(self.unheard))))

    def is_inner(self, item: Answer) -> bool:
        """Whether an answer is a node above the classes."""
        return item.name is not None and item.name not in self.classes

    def to_json(self) -> dict[str, Any]:
        return {
            "items": [self._row(item) for item in self.items],
            "threshold": self.threshold,
            "kind": self.kind,
            "named by": self.named_by,
            "skipped": self.skipped,
            **({} if self.level is None else {"level": self.level, "about level": self.about_level}),
            **({"unheard": self.unheard} if self.unheard else {}),
        }

    def _row(self, item: Answer) -> dict[str, Any]:
        row: dict[str, Any] = {
            "id": item.id,
            "class": item.name,
            "probability": item.probability,
            "score": item.score,
        }
        if self.level is not None:
            row["inner"] = self.is_inner(item)
        if item.best:
            row["best"] = [{"class": name, "probability": value} for name, value in item.best]
        return row


def identify(
    space: MetricSpace,
    items: Collection | Embedded,
    *,
    kind: str | None = None,
    level: float | None = None,
    best: int = 0,
    progress: Progress = silent,
) -> Identified:
    """Name the class of each item, or none of these where the space has a threshold for that.

    Classes are named by a ``kind`` of score; None is the space's choice for classes. With a ``level``, such
    as 0.95, the answer is the deepest node of the space's tree that is sure enough for that share of answers
    to be right. Raises SpaceError for a level without a tree. So many of the ``best`` classes are listed with
    each answer.
    """
    score = known_kind(space, kind, "classes")
    about_level = None if level is None else _about_level(space, level, score)
    z = vectors_of(space, items, title="identify", progress=progress)
    if level is None:
        named = named_classes(space, z, kind=score)
    else:
        named = identify_at(space, z, level=level, kind=score)
    answers = zip(items.ids, named, _best(space, z, best, score), strict=True)
    decision = space.open_set
    return Identified(
        items=tuple(Answer(id, *answer, likely) for id, answer, likely in answers),
        threshold=None if decision is None else decision.threshold,
        kind=score if decision is None else decision.kind,
        named_by=score,
        skipped=items.skipped,
        classes=tuple(space.classes),
        level=level,
        about_level=about_level,
        unheard=unheard_in(space, items),
    )


def _best(space: MetricSpace, z: Tensor, count: int, kind: Kind) -> list[tuple[tuple[str, float], ...]]:
    """The most probable of the known classes of each item, if any are wanted."""
    count = min(count, len(space.classes))
    if not count:
        return [()] * len(z)
    best = in_batches(
        space, z, lambda part: _most_probable(space.classify(part, kind=kind).probabilities, count)
    )
    names = space.classes
    return [
        tuple((names[int(place)], value) for value, place in zip(*row, strict=True)) for row in best.tolist()
    ]


def _most_probable(probabilities: Tensor, count: int) -> Tensor:
    """The highest probabilities of each item and their places, as numbers: (n, classes) -> (n, 2, count)."""
    return torch.stack([part.double() for part in probabilities.cpu().topk(count)], 1)


def _about_level(space: MetricSpace, level: float, kind: Kind) -> str | None:
    """Warnings about a level. Raises SpaceError for a space without a tree."""
    if space.tree is None:
        raise SpaceError(NO_TREE)
    threshold, fitted = threshold_at(space, level, kind=kind)
    if not fitted:
        return NOT_FITTED
    assert space.levels is not None
    if space.levels.classes not in (0, len(space.classes)):
        return OTHER_CLASSES.format(before=space.levels.classes, now=len(space.classes))
    return TOO_FEW.format(items=space.levels.items, level=level) if threshold > 1 else None
