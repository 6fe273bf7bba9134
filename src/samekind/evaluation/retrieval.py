"""What is most like this? Every item a query, the others the gallery."""

from collections.abc import Sequence

from torch import Tensor

from samekind.data import Items
from samekind.evaluation.rows import Row
from samekind.inference import search
from samekind.measures import recall_at
from samekind.space import MetricSpace


def retrieval(
    space: MetricSpace, items: Items, z: Tensor, *, name: str, ks: Sequence[int] = (1, 2, 4, 8)
) -> list[Row]:
    """Recall@k with each kind of score; k beyond the gallery is left out."""
    possible = [k for k in ks if k < len(items)]
    rows = []
    for kind in space.kinds if possible else []:
        found = search(space, z, z, k=max(possible), kind=kind, same_items=True)
        recalls = recall_at(items.labels[found.indices], items.labels, ks=possible)
        rows += [Row("retrieval", name, f"Recall@{k}", kind, value) for k, value in recalls.items()]
    return rows
