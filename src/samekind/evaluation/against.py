"""Is one space better than another? The same questions to both, about the same items.

Hard items are hard for both spaces. Resampling the same units for both therefore gives their difference much
more precisely than either value.
"""

from collections.abc import Mapping

from torch import Tensor

from samekind.data import Items
from samekind.data.drawing import MOST_ITEMS, at_most
from samekind.data.groups import groups_apart
from samekind.evaluation.classification import classification_samples
from samekind.evaluation.clustering import clustering_samples
from samekind.evaluation.everything import embed_sets
from samekind.evaluation.few_shot import few_shot_samples
from samekind.evaluation.retrieval import RANKS, retrieval_samples
from samekind.evaluation.rows import Measures
from samekind.evaluation.samples import Compared, Sample, compared
from samekind.evaluation.trial_measures import About, trial_differences
from samekind.inference.trials import ordered_trials
from samekind.space import MetricSpace


def against(
    first: MetricSpace,
    second: MetricSpace,
    sets: Mapping[str, Items],
    *,
    tasks: int = 600,
    way: int = 5,
    shots: tuple[int, ...] = (1, 5),
    ranks: tuple[int, ...] = RANKS,
    measures: Measures = "main",
    seed: int = 0,
) -> list[Compared]:
    """The difference of each measure, ``first`` minus ``second``, with its paired 95% interval and p-value,
    for the questions and kinds of score that both spaces have.

    Verification draws classes again, retrieval queries, classification and clustering items; few-shot tasks
    are the same for both. Of sets above 2,000 items a random part is compared in pairs. If items have groups,
    pairs and neighbours are from different groups.
    """
    rows: list[Compared] = []
    first_z, second_z = embed_sets(first, sets), embed_sets(second, sets)

    def samples(space: MetricSpace, items: Items, z: Tensor, name: str) -> list[Sample]:
        return [
            *classification_samples(space, items, z, name=name, measures=measures, seed=seed),
            *retrieval_samples(space, items, z, name=name, ks=ranks, measures=measures),
            *few_shot_samples(space, items, z, name=name, way=way, shots=shots, tasks=tasks, seed=seed),
            *clustering_samples(space, items, z, name=name, measures=measures, seed=seed),
        ]

    for name, items in sets.items():
        two = {sample[:4]: sample for sample in samples(second, items, second_z[name], name)}
        by_units = [
            compared(sample, two[sample[:4]], seed=seed)
            for sample in samples(first, items, first_z[name], name)
            if sample[:4] in two
        ]
        z = first_z[name], second_z[name]
        by_classes = _pairs((first, second), items, z, name, measures, seed)
        # Verification comes second, as in an evaluation.
        rows += sorted([*by_classes, *by_units], key=lambda row: row.question != "classification")
    return rows


def _pairs(
    spaces: tuple[MetricSpace, MetricSpace],
    items: Items,
    z: tuple[Tensor, Tensor],
    name: str,
    measures: Measures,
    seed: int,
) -> list[Compared]:
    """The measures of all pairs, by each kind of score both have."""
    places, (first, second) = at_most(len(items), MOST_ITEMS, seed=seed), spaces
    labels = items.labels.cpu()[places]
    groups = groups_apart(items.take(places)).groups if items.groups is not None else None
    rows: list[Compared] = []
    for kind in (kind for kind in first.kinds if kind in second.kinds):
        first_trials, second_trials = (
            ordered_trials(space, vectors[places], labels, groups=groups, kind=kind)
            for space, vectors in zip(spaces, z, strict=True)
        )
        decisions = first.decisions.get(kind), second.decisions.get(kind)
        about = About("verification", name, kind)
        rows += trial_differences(
            first_trials, second_trials, about, decisions=decisions, measures=measures, seed=seed
        )
    return rows
