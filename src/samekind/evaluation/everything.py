"""Every question, of every set of items."""

from collections.abc import Mapping
from itertools import permutations

from torch import Tensor

from samekind.data import Items
from samekind.errors import DataError, expect
from samekind.evaluation.beside_known import few_shot_beside_known
from samekind.evaluation.claims import claims
from samekind.evaluation.classification import classification
from samekind.evaluation.clustering import clustering
from samekind.evaluation.few_shot import few_shot
from samekind.evaluation.open_set import open_set
from samekind.evaluation.retrieval import RANKS, retrieval
from samekind.evaluation.rows import Measures, Row
from samekind.evaluation.severity import severity
from samekind.evaluation.unknown_classes import unknown_classes
from samekind.evaluation.verification import verification
from samekind.inference import embed
from samekind.inference.known_classes import knows
from samekind.pairs import has_pairs
from samekind.space import MetricSpace


def evaluate(
    space: MetricSpace,
    sets: Mapping[str, Items],
    *,
    tasks: int = 600,
    way: int = 5,
    shots: tuple[int, ...] = (1, 5),
    ranks: tuple[int, ...] = RANKS,
    measures: Measures = "main",
    seed: int = 0,
) -> list[Row]:
    """All questions to a space about named sets of items, each item embedded once.

    ``measures="all"`` adds what the main tables leave out; ``ranks`` are those of Recall@k. ``seed`` fixes
    the few-shot tasks, the starts of k-means and the draws of the intervals. If the space knows the classes
    of one set and none of another's, the two together make the open set, and the tasks in which new classes
    are enrolled beside the known ones. A set needs two classes or more, and one class with two items.
    """
    expect(sets, Mapping, 'sets of items by name, such as sets.tests() or {"test": items}')
    rows: list[Row] = []
    embedded = embed_sets(space, sets)
    for name, items in sets.items():
        z = embedded[name]
        rows += classification(space, items, z, name=name, measures=measures, seed=seed)
        rows += severity(space, items, z, name=name, measures=measures, seed=seed)
        if measures == "all":
            rows += unknown_classes(space, items, z, name=name, seed=seed)
            rows += claims(space, items, z, name=name, measures=measures, seed=seed)
        rows += verification(space, items, z, name=name, measures=measures, seed=seed)
        rows += retrieval(space, items, z, name=name, ks=ranks, measures=measures, seed=seed)
        rows += few_shot(space, items, z, name=name, way=way, shots=shots, tasks=tasks, seed=seed)
        rows += clustering(space, items, z, name=name, measures=measures, seed=seed)
    for first, second in permutations(sets, 2):
        if not knows(space, sets[first]):
            continue
        arguments = (sets[first], embedded[first], sets[second], embedded[second])
        name = f"{first}, {second}"
        rows += open_set(space, *arguments, name=name, seed=seed)
        rows += few_shot_beside_known(
            space, *arguments, name=name, way=way, shots=shots, tasks=tasks, seed=seed
        )
    return rows


#: Groups are dealt whole, so that few of them leave nothing for a test.
FEW_GROUPS = (
    "; to be tested a class needs three groups, one for each part of a split: split another way "
    "(--split random), or evaluate other items (--data DATA)"
)


def embed_sets(space: MetricSpace, sets: Mapping[str, Items]) -> dict[str, Tensor]:
    """The embeddings of every set. Raises DataError for a set with nothing to compare."""
    for items in sets.values():
        if not has_pairs(items.labels):
            raise DataError(
                f"{items.name}: expected two classes or more, one of them with two items, to evaluate on"
                f"{'' if items.groups is None else FEW_GROUPS}"
            )
    return {name: embed(space, items.inputs) for name, items in sets.items()}
