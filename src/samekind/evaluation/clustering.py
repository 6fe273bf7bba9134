"""What groups are here? k-means with as many groups as classes, against the classes."""

from torch import Tensor

from samekind.data import Items
from samekind.data.groups import OWN_GROUPS
from samekind.evaluation.rows import Measures, Row
from samekind.evaluation.samples import Sample, computed_sample, rows_of
from samekind.inference import cluster
from samekind.inference.cluster import as_compared, assign_by_similarity
from samekind.measures.catalogue import AMI, F1, NMI
from samekind.measures.clustering import (
    adjusted_mutual_information,
    normalised_mutual_information,
    pairwise_f1,
)
from samekind.measures.measure import Measure
from samekind.space import MetricSpace

MEASURES = {NMI: normalised_mutual_information, AMI: adjusted_mutual_information, F1: pairwise_f1}


def clustering(
    space: MetricSpace, items: Items, z: Tensor, *, name: str, measures: Measures = "main", seed: int = 0
) -> list[Row]:
    """NMI of k-means on the embeddings, with ``measures="all"`` AMI and pairwise F1 too.

    There are two kinds: "embedding" is k-means alone, of embeddings as the space's kind of score for
    neighbours compares them (see `as_compared`); and "similarity" gives each item to the centre that the
    space's own similarity scores highest. There are as many groups as classes. Items of one group are easily
    clustered together: if items have groups, a note says that they are included.
    """
    samples = clustering_samples(space, items, z, name=name, measures=measures, seed=seed)
    return rows_of(samples, seed=seed, note="" if items.groups is None else OWN_GROUPS)


def clustering_samples(
    space: MetricSpace, items: Items, z: Tensor, *, name: str, measures: Measures = "main", seed: int = 0
) -> list[Sample]:
    """The same before the intervals are made; the units are the items, their groups stay as they are."""
    truth, own = items.labels.cpu(), as_compared(space, z, kind="similarity")
    count = len(set(truth.tolist()))
    groups = cluster(own, groups=count, seed=seed)
    by_own = assign_by_similarity(space, groups.centres, own, kind="similarity")
    if space.kind_for("neighbours") != "similarity":
        groups = cluster(as_compared(space, z), groups=count, seed=seed)
    assigned = {"embedding": groups.assigned.cpu(), "similarity": by_own}
    return [
        _sample(name, measure, kind, groups, truth, seed)
        for measure in (MEASURES if measures == "all" else (NMI,))
        for kind, groups in assigned.items()
    ]


def _sample(name: str, measure: Measure, kind: str, assigned: Tensor, truth: Tensor, seed: int) -> Sample:
    function = MEASURES[measure]
    return computed_sample(
        "clustering",
        name,
        measure,
        kind,
        lambda places: function(assigned[places], truth[places]),
        len(truth),
        seed=seed,
    )
