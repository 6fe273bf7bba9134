"""How bad are the mistakes, by a tree of classes?

The measures of Kim's thesis (chapter 4), of Bertinetto et al., "Making Better Mistakes", CVPR 2020, and of
Barz and Denzler, "Hierarchy-Based Image Embeddings for Semantic Image Retrieval", WACV 2019.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.groups import groups_apart
from samekind.evaluation.rows import Measures, Row
from samekind.evaluation.samples import Sample, mean_sample, rows_of
from samekind.inference import asking, device_of, search
from samekind.inference.inner_nodes import threshold_at, way_down
from samekind.inference.known_classes import class_names, knows, labels_in
from samekind.measures import (
    average_hierarchical_similarity,
    hierarchical_similarity_at,
    mean_correlation,
    tree_catalogue,
    tree_distances,
    tree_precisions,
)
from samekind.prototypes import class_means
from samekind.space import MetricSpace
from samekind.taxonomy import Tree

#: The question of these rows.
QUESTION = "tree"
#: The share of right answers that inner nodes are measured at.
LEVEL = 0.95
#: What the means of the evaluated items are called; and the classes that a correlation takes.
OF_ITEMS, FEWEST = "item means", 3
#: The ranks of HS@k, the first of them the main one.
SIMILAR = (50, 250)


def severity(
    space: MetricSpace, items: Items, z: Tensor, *, name: str, measures: Measures = "main", seed: int = 0
) -> list[Row]:
    """Rows by the space's tree; none without one, or if it lacks a class of the items.

    If the space knows the classes of the items: how far wrong classes are, HP@5, and answers at a wanted 95 %
    (the share that is right, and the share that names a class and not a group). Of all items: HS@50, and the
    mean correlation of the space's prototypes, be they averages or proxies, or of the means of items of
    unknown classes. With ``measures="all"`` also AHD@1 and AHD@5, HS@250 and AHS@250, and the correlations of
    both, with and without the diagonal, and of the branch below the root that holds most of the classes alone
    (the living among them, in a tree of plankton).
    """
    if space.tree is None or not class_names(items) <= set(space.tree.names):
        return []
    samples = _predictions(space, space.tree, items, z, name, measures) if knows(space, items) else []
    samples += _neighbours(space, space.tree, items, z, name, measures)
    return rows_of([*samples, *_correlations(space, space.tree, items, z, name, measures)], seed=seed)


def _predictions(
    space: MetricSpace, tree: Tree, items: Items, z: Tensor, name: str, measures: Measures
) -> list[Sample]:
    truth, distances = labels_in(space, items), tree.distances(space.classes)
    with asking(space):
        scores = space.classify(z.to(device_of(space))).probabilities.cpu()
    steps = tree_distances(scores, truth, class_distances=distances)
    near = tree_precisions(scores, truth, class_distances=distances, k=5)
    values = {tree_catalogue.SEVERITY: steps[steps > 0], tree_catalogue.hierarchical_precision(5): near}
    if measures == "all":
        five = tree_distances(scores, truth, class_distances=distances, k=5)
        values |= {
            tree_catalogue.hierarchical_distance(1): steps,
            tree_catalogue.hierarchical_distance(5): five,
        }
    way = way_down(space, z)
    nodes, _ = way.ends(threshold_at(space, LEVEL)[0])
    right = way.tree.membership(space.classes)[nodes, truth]
    is_class = torch.tensor([answer in set(space.classes) for answer in way.names(nodes)])
    values |= {
        tree_catalogue.right_at(LEVEL): right.double(),
        tree_catalogue.class_named_at(LEVEL): is_class.double(),
    }
    kind = space.kind_for("classes")
    return [
        mean_sample(QUESTION, name, measure, kind, "items", numbers)
        for measure, numbers in values.items()
        if len(numbers)
    ]


def _neighbours(
    space: MetricSpace, tree: Tree, items: Items, z: Tensor, name: str, measures: Measures
) -> list[Sample]:
    """HS@k of every item as a query in the others, those of its own group left out."""
    labels, (_, marks, queries, _) = items.labels.cpu(), groups_apart(items)
    available = len(items) - int(torch.unique(marks, return_counts=True)[1].max())
    ranks = SIMILAR if measures == "all" else SIMILAR[:1]
    k = min(max(ranks), available)
    if k < 1 or not len(queries):
        return []
    kind = space.kind_for("neighbours")
    found_at = search(space, z[queries], z, k=k, kind=kind, apart=(marks[queries], marks)).indices
    neighbours, truth = labels[found_at], labels[queries]
    # The best order leaves out one item, the query; with groups more are left out, so 1 may be out of reach.
    steps = tree.distances(items.classes)
    gallery = None if len(queries) == len(items) else labels
    samples = []
    # Half of what can be found, where a rank takes all of that: all in any order are the best.
    for rank in dict.fromkeys(rank if rank < available else max(1, available // 2) for rank in ranks):
        mean, last_rank = hierarchical_similarity_at(
            neighbours, truth, k=rank, class_distances=steps, gallery=gallery
        )
        samples.append(
            Sample(QUESTION, name, tree_catalogue.hierarchical_similarity(last_rank), kind, "queries", mean)
        )
    if measures == "all":
        mean, last_rank = average_hierarchical_similarity(
            neighbours, truth, k=k, class_distances=steps, gallery=gallery
        )
        samples.append(
            Sample(QUESTION, name, tree_catalogue.average_similarity(last_rank), kind, "queries", mean)
        )
    return samples


def _correlations(
    space: MetricSpace, tree: Tree, items: Items, z: Tensor, name: str, measures: Measures
) -> list[Sample]:
    """The mean correlation of the prototypes of the space, and of the means of the items."""
    samples = []
    by_class = _representatives(space, items, z)
    if measures == "main" and len(by_class) > 1:
        by_class.pop(OF_ITEMS)
    for of, (names, vectors) in by_class.items():
        if len(names) < FEWEST:
            continue
        in_tree, distances = tree.distances(names), _distances(space, vectors)
        subsets = {of: torch.arange(len(names))}
        if measures == "all":
            subsets |= {f"{of}, {branch}": places for branch, places in _most_of(tree, names)}
        for subset, places in subsets.items():
            for diagonal in (True, False) if measures == "all" else (True,):
                matrices = (matrix[places][:, places] for matrix in (distances, in_tree))
                try:
                    value = mean_correlation(*matrices, include_diagonal=diagonal)
                except ValueError:  # two classes, or all equally far
                    continue
                measure = tree_catalogue.correlation_of(
                    subset if diagonal else f"{subset}, without the diagonal"
                )
                samples.append(Sample(QUESTION, name, measure, space.kind_for("classes"), "", value))
    return samples


def _most_of(tree: Tree, names: Sequence[str]) -> Iterator[tuple[str, Tensor]]:
    """The branch below the root that holds more than half of the classes, but not all, and the places of
    those; nothing if there is none.
    """
    inside = tree.membership(names)
    for branch in tree.children(tree.root):
        places = inside[tree.names.index(branch)].nonzero().flatten()
        if len(names) / 2 < len(places) < len(names):
            yield branch, places


def _representatives(space: MetricSpace, items: Items, z: Tensor) -> dict[str, tuple[list[str], Tensor]]:
    """The names and vectors (classes, d) that stand for the classes."""
    means, present = class_means(z, items.labels.to(z.device), len(items.classes))
    names = [items.classes[label] for label in present.nonzero().flatten().tolist()]
    sources = (
        {"prototypes": (space.classes, space.prototypes.vectors.detach().mean(1))}
        if knows(space, items)
        else {}
    )
    return {**sources, OF_ITEMS: (names, means[present])}


def tree_measures(space: MetricSpace, items: Items, z: Tensor) -> dict[str, float]:
    """AHD@5, HP@5 and the mean correlation by their keys, for the record of a training: of the items' tree,
    by the space's prototypes if they are trained and it knows the classes. Support means are filled after the
    training: then the correlation alone, by the means of the items.
    """
    tree = items.tree
    if tree is None:
        return {}
    measured: dict[str, float] = {}
    by_class = _representatives(space, items, z)
    if not space.prototypes.trained:
        by_class = {OF_ITEMS: by_class[OF_ITEMS]}
    names, vectors = next(iter(by_class.values()))
    try:
        measured[tree_catalogue.correlation_of("").key] = mean_correlation(
            _distances(space, vectors), tree.distances(names)
        )
    except ValueError:
        return {}
    if len(by_class) > 1:
        with asking(space):
            scores = space.score_classes(z.to(device_of(space))).cpu()
        truth, steps = labels_in(space, items), tree.distances(space.classes)
        far = tree_distances(scores, truth, class_distances=steps, k=5)
        near = tree_precisions(scores, truth, class_distances=steps, k=5)
        measured[tree_catalogue.hierarchical_distance(5).key] = float(far.mean())
        measured[tree_catalogue.hierarchical_precision(5).key] = float(near.mean())
    return measured


def _distances(space: MetricSpace, vectors: Tensor) -> Tensor:
    """How far classes are from each other by the space's own similarity; no other is nearer than itself."""
    with asking(space):
        there = vectors.to(device_of(space))
        scores = space.score_all(there, there).double().cpu()
    scores = (scores + scores.T) / 2
    return (scores.max() - scores).fill_diagonal_(-1.0)
