"""Items to vectors."""

from samekind.data import Collection
from samekind.questions.embedded import Embedded, vectors_of
from samekind.questions.progress import Progress, silent
from samekind.space import MetricSpace


def embed(space: MetricSpace, items: Collection, *, progress: Progress = silent) -> Embedded:
    """Embed items."""
    z = vectors_of(space, items, title="embed", progress=progress)
    return Embedded(z, items.ids, items.labels, items.skipped)
