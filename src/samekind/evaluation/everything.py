"""Every question, of every set of items."""

from collections.abc import Mapping

import torch

from samekind.data import Items
from samekind.errors import DataError
from samekind.evaluation.classification import classification
from samekind.evaluation.clustering import clustering
from samekind.evaluation.few_shot import few_shot
from samekind.evaluation.retrieval import retrieval
from samekind.evaluation.rows import Row
from samekind.evaluation.verification import verification
from samekind.inference import embed
from samekind.space import MetricSpace


def evaluate(space: MetricSpace, sets: Mapping[str, Items], *, tasks: int = 600, seed: int = 0) -> list[Row]:
    """All questions to a space about named sets of items, each item embedded once.

    A set needs items of two classes at least, and one class with two items: else there is nothing to compare.
    """
    rows: list[Row] = []
    for name, items in sets.items():
        sizes = torch.bincount(items.labels)
        if (sizes > 0).sum() < 2 or (sizes < 2).all():
            raise DataError(
                f"{items.name}: expected two classes or more, one of them with two items, to evaluate on"
            )
        z = embed(space, items.inputs)
        rows += classification(space, items, z, name=name)
        rows += verification(space, items, z, name=name)
        rows += retrieval(space, items, z, name=name)
        rows += few_shot(space, items, z, name=name, tasks=tasks, seed=seed)
        rows += clustering(items, z, name=name, seed=seed)
    return rows
