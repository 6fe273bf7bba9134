"""Which class is it, or none of these?"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from samekind.data import Collection
from samekind.decisions import Kind
from samekind.inference import identify as named_classes
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import embedded, known_kind
from samekind.space import MetricSpace

NONE = "none of these"
NO_THRESHOLD = "this space has no threshold for none of these, so every item gets its best class"


class Answer(NamedTuple):
    """The class of one item, None for none of these, with its probability and the score."""

    id: str
    name: str | None
    probability: float
    score: float


@dataclass(frozen=True)
class Identified:
    """The class of each item. ``kind`` is the score that is given: the one that was compared with the
    threshold, if there is one, else ``named_by``, the score that named the classes.
    """

    items: tuple[Answer, ...]
    threshold: float | None
    kind: Kind
    named_by: Kind
    skipped: tuple[tuple[str, str], ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before using the answer."""
        return (NO_THRESHOLD,) if self.threshold is None else ()

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values."""
        return {
            "items": [
                {"id": item.id, "class": item.name, "probability": item.probability, "score": item.score}
                for item in self.items
            ],
            "threshold": self.threshold,
            "kind": self.kind,
            "named by": self.named_by,
            "skipped": self.skipped,
        }


def identify(
    space: MetricSpace, items: Collection, *, kind: str | None = None, progress: Progress = silent
) -> Identified:
    """Name the class of each item, or none of these where the space has a threshold for that.

    Classes are named by a ``kind`` of score; None is the space's choice for classes.
    """
    score = known_kind(space, kind, "classes")
    z = embedded(space, items.inputs, title="identify", progress=progress)
    answers = zip(items.ids, named_classes(space, z, kind=score), strict=True)
    decision = space.open_set
    return Identified(
        items=tuple(Answer(id, *answer) for id, answer in answers),
        threshold=None if decision is None else decision.threshold,
        kind=score if decision is None else decision.kind,
        named_by=score,
        skipped=items.skipped,
    )
