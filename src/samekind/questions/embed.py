"""Items to vectors."""

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
    skipped: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """How many vectors there are, of how many numbers, and what was skipped."""
        return {"items": len(self.z), "dimension": self.z.shape[1], "skipped": self.skipped}


def embed(space: MetricSpace, items: Collection, *, progress: Progress = silent) -> Embedded:
    """Embed items."""
    z = embedded(space, items.inputs, title="embed", progress=progress)
    return Embedded(z, items.ids, items.labels, items.skipped)
