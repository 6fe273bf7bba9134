"""Items that are vectors already: embedded once for several questions, or together with those of others."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from samekind.data import Collection
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import embedded
from samekind.space import MetricSpace


@dataclass(frozen=True)
class Embedded:
    """The vectors (n, d) of items, with their ids and labels."""

    z: Tensor
    ids: tuple[str, ...]
    labels: tuple[str | None, ...]
    skipped: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """How many vectors there are, of how many numbers, and what was skipped."""
        return {"items": len(self.z), "dimension": self.z.shape[1], "skipped": self.skipped}


def vectors_of(
    space: MetricSpace, items: Collection | Embedded, *, title: str, progress: Progress = silent
) -> Tensor:
    """The vectors (n, d) of items, on the CPU: embedded now, if they are not yet."""
    if isinstance(items, Embedded):
        return items.z
    return embedded(space, items.inputs, title=title, progress=progress)
