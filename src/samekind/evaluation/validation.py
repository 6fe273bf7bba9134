"""The measures of a training run after each epoch, on items it does not train on."""

from collections.abc import Callable, Sequence
from typing import get_args

import torch
from torch import Tensor

from samekind.data import Items, draw
from samekind.data.drawing import MOST_ITEMS
from samekind.data.groups import Apart, groups_apart
from samekind.decisions import Kind
from samekind.errors import DataError, SettingError, nearest
from samekind.evaluation.severity import tree_measures
from samekind.inference import all_trials, cluster, embed, search
from samekind.inference.cluster import as_compared
from samekind.measures import (
    centroid_shifts,
    class_radii,
    equal_error_rate,
    map_at_r,
    nearest_centroid_accuracy,
    neighbour_accuracy,
    normalised_mutual_information,
    recall_at,
    relevant_counts,
)
from samekind.measures.catalogue import EER, KNN_ACCURACY, MAP_AT_R, NMI, recall
from samekind.measures.cluster_catalogue import CENTROID_SHIFT, CLUSTER_RADIUS, NEAREST_CENTROID
from samekind.measures.measure import Measure
from samekind.measures.tree_catalogue import CORRELATION, hierarchical_distance, hierarchical_precision
from samekind.pairs import has_pairs
from samekind.prototypes import class_means
from samekind.space import MetricSpace

#: What to do if every class has too few items to be split.
TOO_FEW = (
    "a random split leaves two of a class for validation where it has nine or more. Classes with fewer can "
    "be enrolled, without training, in a space trained on others: samekind enroll"
)

#: The ranks of Recall@k; and nearest neighbours vote three of five, as in zero-shot work.
RANKS, VOTERS, AT_LEAST = (1, 2, 4, 8), 5, 3

#: What each family measures by the space's own similarity. Those of `BY_KIND` are also measured by each kind
#: of score ("eer cosine"), and by the best of them ("eer best").
MEASURES = {
    "verification": (EER,),
    "retrieval": (*map(recall, RANKS), KNN_ACCURACY, MAP_AT_R),
    "clustering": (NMI,),
    "clusters": (NEAREST_CENTROID, CLUSTER_RADIUS),
}
BY_KIND = (EER, recall(1), MAP_AT_R)
#: What is measured as well if there is a tree of the classes.
BY_TREE = (hierarchical_distance(5).key, hierarchical_precision(5).key, CORRELATION.key)


def validation(
    items: Items,
    families: Sequence[str] = ("verification",),
    *,
    watch: str | None = None,
    most_items: int = MOST_ITEMS,
) -> "Validation":
    """A function from a space to the measures of the ``families``:

    * "verification": ``eer`` by the space's own similarity, by each kind of score ("eer cosine"), and the
      lowest of them ("eer best").
    * "retrieval": every item is a query in the others. By the space's own similarity ``recall@1``, 2, 4 and
      8, and ``knn accuracy``, the share of items with three of their class among their five nearest;
      ``recall@1`` and ``map@r`` by each kind of score, and the highest of them. Ranks beyond the items are
      left out. MAP@R sees as many neighbours as a class has items: with few classes it moves where Recall@1
      is near its end.
    * "clustering": ``nmi`` of k-means on the embeddings, with as many groups as classes; embeddings are
      normalised if the space's similarity depends on directions alone.
    * "clusters": classes as clusters of these embeddings: ``nearest-centroid accuracy``, ``cluster radius``
      and, from the second call on, ``centroid shift``, how far their means moved since the call before.

    If the items have a tree of classes, also ``ahd@5``, ``hp@5`` and ``mean correlation`` (see
    `tree_measures`).

    There must be two classes or more, and one class with two items. Of more than ``most_items`` the same are
    drawn for every epoch. If items have groups, items of one group are not compared. A measure to ``watch``
    that no family measures is refused before the first epoch.
    """
    _check_families(families)
    if watch is not None:
        _expect_measured(watch, families, tree=items.tree is not None)
    items = draw(items, most=most_items)
    if not has_pairs(items.labels):
        few = f"; {TOO_FEW}" if len(set(items.labels.tolist())) > 1 else ""
        raise DataError(
            f"{items.name}: expected two classes or more, one of them with two items, to validate on{few}"
        )

    return Validation(items, families)


class Validation:
    """The function that `validation` returns. ``before`` are the means of the classes at the last call, where
    the families need them: a training keeps them in its checkpoints, and sets them before the next call.
    """

    def __init__(self, items: Items, families: Sequence[str]) -> None:
        self.items, self.families = items, families
        self.apart = groups_apart(items)
        self.before: Tensor | None = None

    def __call__(self, space: MetricSpace) -> dict[str, float]:
        z, labels = embed(space, self.items.inputs), self.items.labels.cpu()
        by_family = [FAMILIES[name](space, z, labels, self.apart) for name in self.families]
        if "clusters" in self.families:
            by_family.append(self._shift(as_compared(space, z), labels))
        return {
            key: value
            for measured in (*by_family, tree_measures(space, self.items, z))
            for key, value in measured.items()
        }

    def _shift(self, z: Tensor, labels: Tensor) -> dict[str, float]:
        """How far the means of the classes moved; nothing at the first call."""
        present, index = torch.unique(labels, return_inverse=True)
        before, (self.before, _) = self.before, class_means(z, index, len(present))
        if before is None:
            return {}
        return {CENTROID_SHIFT.key: float(centroid_shifts(before, self.before, present).mean())}


def _verification(space: MetricSpace, z: Tensor, labels: Tensor, apart: Apart) -> dict[str, float]:
    rates = {}
    for kind in space.kinds:
        trials = all_trials(space, z, labels, groups=apart.groups, kind=kind)
        rates[EER.variant(kind).key] = equal_error_rate(trials.scores, trials.same).rate
    own = rates[EER.variant("similarity").key]
    return {EER.key: own, **rates, EER.variant("best").key: min(rates.values())}


def _retrieval(space: MetricSpace, z: Tensor, labels: Tensor, apart: Apart) -> dict[str, float]:
    marks, queries = apart.marks, apart.queries
    available = len(z) - int(relevant_counts(marks[queries], gallery=marks).max())
    relevant = relevant_counts(labels, gallery=labels, apart=(marks, marks))[queries]
    k = min(max(*RANKS, VOTERS, int(relevant.max())), available)
    neighbour_marks, truth = (marks[queries], marks), labels[queries]
    neighbours = {
        kind: labels[search(space, z[queries], z, k=k, kind=kind, apart=neighbour_marks).indices]
        for kind in space.kinds
    }
    ranks = [rank for rank in RANKS if rank <= available]
    own = neighbours["similarity"]
    recalls = recall_at(own, truth, ks=ranks)
    measures = {recall(rank).key: recalls[rank] for rank in ranks}
    if available >= VOTERS:
        measures[KNN_ACCURACY.key] = neighbour_accuracy(own, truth, k=VOTERS, at_least=AT_LEAST)
    precisions = {kind: map_at_r(near, truth, relevant=relevant) for kind, near in neighbours.items()}
    firsts = {kind: recall_at(near, truth, ks=[1])[1] for kind, near in neighbours.items()}
    return {
        **measures,
        **_by_kind(recall(1), firsts),
        MAP_AT_R.key: precisions["similarity"],
        **_by_kind(MAP_AT_R, precisions),
    }


def _by_kind(measure: Measure, values: dict[Kind, float]) -> dict[str, float]:
    """A measure of which more is better, by each kind of score, and by the best of them."""
    by_kind = {measure.variant(kind).key: value for kind, value in values.items()}
    return {**by_kind, measure.variant("best").key: max(values.values())}


def _clustering(space: MetricSpace, z: Tensor, labels: Tensor, _: Apart) -> dict[str, float]:
    groups = cluster(as_compared(space, z), groups=len(torch.unique(labels)))
    return {NMI.key: normalised_mutual_information(groups.assigned, labels)}


def _clusters(space: MetricSpace, z: Tensor, labels: Tensor, _: Apart) -> dict[str, float]:
    z = as_compared(space, z)
    return {
        NEAREST_CENTROID.key: nearest_centroid_accuracy(z, labels),
        CLUSTER_RADIUS.key: float(class_radii(z, labels).mean()),
    }


FAMILIES: dict[str, Callable[[MetricSpace, Tensor, Tensor, Apart], dict[str, float]]] = {
    "verification": _verification,
    "retrieval": _retrieval,
    "clustering": _clustering,
    "clusters": _clusters,
}


def _check_families(families: Sequence[str]) -> None:
    if isinstance(families, str) or not families:
        family_names = ", ".join(f'"{name}"' for name in FAMILIES)
        raise SettingError(f"expected a list of {family_names} to validate by, got {families!r}")
    for name in families:
        if name not in FAMILIES:
            raise SettingError(f'there is no validation by "{name}"; {nearest(name, FAMILIES)}')


def _expect_measured(watch: str, families: Sequence[str], *, tree: bool) -> None:
    if watch in BY_TREE:
        if not tree:
            raise SettingError(
                f'run.watch: "{watch}" is measured by a tree of the classes, which the data lacks; name one: '
                "data.taxonomy, or --taxonomy FILE"
            )
        return
    measured = [measure.key for name in families for measure in MEASURES[name]]
    family = next((name for name in MEASURES if watch in _keys(name)), None)
    if family is None:
        raise SettingError(f'run.watch: no measure "{watch}"; {nearest(watch, measured)}')
    if family not in families:
        raise SettingError(
            f'run.watch: "{watch}" is measured by "{family}", which run.validate does not name; add it '
            f"there, or watch one of {', '.join(measured)}"
        )


def _keys(family: str) -> list[str]:
    """Everything a family measures, by the keys of the record."""
    measures = MEASURES[family]
    by_kind = [
        measure.variant(kind)
        for measure in measures
        if measure in BY_KIND
        for kind in (*get_args(Kind), "best")
    ]
    return [measure.key for measure in (*measures, *by_kind)]
