"""What is most like this? Every item a query and the others the gallery, or queries against a gallery."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.groups import OTHER_GROUPS, groups_apart
from samekind.decisions import Kind
from samekind.errors import DataError
from samekind.evaluation.rows import Measures, Row
from samekind.evaluation.samples import Compared, Sample, mean_sample, rows_of
from samekind.inference import search
from samekind.inference.choosing import used_first
from samekind.measures.by_class import means_by_class
from samekind.measures.catalogue import (
    KNN_ACCURACY,
    MAP_AT_R,
    R_PRECISION,
    RECALL_BY_CLASS,
    average_precision_at,
    recall,
    reciprocal_rank,
)
from samekind.measures.ranking import relevant_counts
from samekind.measures.retrieval import retrieval_values
from samekind.space import MetricSpace

#: Neighbours held in memory at a time.
MOST_NEIGHBOURS = 20_000_000

#: Neighbours that vote on the class of a query, as in zero-shot work.
VOTERS = 5

#: The ranks of Recall@k.
RANKS = (1, 2, 4, 8)

#: The labels of queries, beside the values of their measures.
LABELS = "labels"

Ignored = Literal["nothing", "domain", "group"]


def retrieval(
    space: MetricSpace,
    items: Items,
    z: Tensor,
    *,
    name: str,
    ks: Sequence[int] = RANKS,
    measures: Measures = "main",
    seed: int = 0,
) -> list[Row]:
    """Recall@k and MAP@R with each kind of score; with ``measures="all"`` also R-precision, MRR and MAP at
    the largest k, Recall@1 averaged by class, and "kNN accuracy", the share of queries with three of their
    class among their five nearest. No item finds itself.

    k beyond the gallery is left out, see `left_out`. An item that is alone in its class can only miss in
    Recall@k and kNN accuracy, and does not count in the others.

    If items have groups, no query finds its own group, and a note says so. An item whose class has no other
    group is in the gallery and not a query.
    """
    samples = retrieval_samples(space, items, z, name=name, ks=ks, measures=measures)
    return rows_of(samples, seed=seed, note=groups_apart(items).note)


def retrieval_samples(
    space: MetricSpace,
    items: Items,
    z: Tensor,
    *,
    name: str,
    ks: Sequence[int] = RANKS,
    measures: Measures = "main",
) -> list[Sample]:
    """The samples of these measures; the units are the queries."""
    labels, (_, marks, queries, _) = items.labels.cpu(), groups_apart(items)
    relevant = relevant_counts(labels, gallery=labels, apart=(marks, marks))
    return _samples(
        space,
        (z[queries], z),
        (labels[queries], labels),
        (marks[queries], marks),
        relevant[queries],
        name=name,
        ks=ks,
        measures=measures,
    )


def query_gallery(
    space: MetricSpace,
    queries: Items,
    queries_z: Tensor,
    gallery: Items,
    gallery_z: Tensor,
    *,
    name: str,
    ignore: Ignored = "nothing",
    ks: Sequence[int] = RANKS,
    measures: Measures = "main",
    seed: int = 0,
) -> list[Row]:
    """As `retrieval`, for queries against other items; classes are compared by name.

    ``ignore="group"`` leaves out the query's own group, as in `retrieval`: a note says so, and a query with
    nothing else to find does not count. ``ignore="domain"`` leaves out gallery items of the query's domain
    and class: the same person before the same camera, as in Zheng et al., "Scalable Person Re-identification:
    A Benchmark", ICCV 2015.
    """
    names = list(dict.fromkeys([*queries.classes, *gallery.classes]))
    labels = _renamed(queries, names), _renamed(gallery, names)
    apart = None
    if ignore != "nothing":
        apart = _marks(queries, ignore), _marks(gallery, ignore)
    if ignore == "domain" and apart is not None:
        wide = int(torch.cat(apart).max()) + 1
        apart = labels[0] * wide + apart[0], labels[1] * wide + apart[1]
    relevant = relevant_counts(labels[0], gallery=labels[1], apart=apart)
    note = ""
    if ignore == "group" and apart is not None:
        note = OTHER_GROUPS
        answerable = (relevant > 0) | (relevant_counts(labels[0], gallery=labels[1]) == 0)
        queries_z, relevant = queries_z[answerable.to(queries_z.device)], relevant[answerable]
        labels, apart = (labels[0][answerable], labels[1]), (apart[0][answerable], apart[1])
    samples = _samples(
        space, (queries_z, gallery_z), labels, apart, relevant, name=name, ks=ks, measures=measures
    )
    return rows_of(samples, seed=seed, note=note)


def left_out(rows: Iterable[Row | Compared], ks: Sequence[int]) -> list[str]:
    """A sentence for each set of items and each k without a Recall@k, because there are too few items.

    >>> left_out([Row("retrieval", "unseen", "MAP@R", "cosine", 0.5)], (100,))
    ['Recall@100, unseen: not measured, as there are fewer than 100 other items to search']
    """
    measured: dict[str, set[str]] = {}
    for row in rows:
        if row.question == "retrieval":
            measured.setdefault(row.items, set()).add(row.measure)
    return [
        f"{recall(k)}, {items}: not measured, as there are fewer than {k:,} other items to search"
        for items, measures in measured.items()
        for k in dict.fromkeys(ks)
        if recall(k) not in measures
    ]


def _samples(
    space: MetricSpace,
    z: tuple[Tensor, Tensor],
    labels: tuple[Tensor, Tensor],
    apart: tuple[Tensor, Tensor] | None,
    relevant: Tensor,
    *,
    name: str,
    ks: Sequence[int],
    measures: Measures,
) -> list[Sample]:
    """The measures of queries (first) in a gallery (second), without items of the query's mark."""
    if not len(relevant):
        return []
    available = torch.full_like(relevant, len(z[1]))
    if apart is not None:
        available -= relevant_counts(apart[0], gallery=apart[1])
    fewest = int(available.min())
    possible = [k for k in ks if k <= fewest]
    families = ["Recall"] if possible else []
    if relevant.any():
        families += ["MAP@R", "R-precision", "MRR@k", "MAP@k"] if measures == "all" else ["MAP@R"]
    voters = VOTERS if measures == "all" and fewest >= VOTERS else 0
    measured = [*map(recall, possible), MAP_AT_R, R_PRECISION, KNN_ACCURACY]
    measured += [member(max(possible)) for member in (reciprocal_rank, average_precision_at) if possible]
    samples = []
    for kind in used_first(space, "neighbours") if families else []:
        k = max([*possible, voters, int(relevant.max()) if "MAP@R" in families else 1])
        nearest = _neighbour_labels(space, z, labels[1], apart, kind, available.clamp(max=k))
        joined = _joined(nearest, labels[0], relevant, ks=possible, families=families, voters=voters)
        for measure in measured:
            if measure in joined:
                values = joined[measure][~joined[measure].isnan()]
                samples.append(mean_sample("retrieval", name, measure, kind, "queries", values))
        if measures == "all" and 1 in possible:
            means = means_by_class(joined[recall(1)], joined[LABELS])
            values = torch.tensor(list(means.values()), dtype=torch.double)
            samples.append(mean_sample("retrieval", name, RECALL_BY_CLASS, kind, "classes", values))
    return samples


def _joined(
    neighbours: Iterable[tuple[Tensor, Tensor]],
    labels: Tensor,
    relevant: Tensor,
    *,
    ks: Sequence[int],
    families: Sequence[str],
    voters: int,
) -> dict[str, Tensor]:
    """The measures of all queries, with their labels, from the neighbours of some queries at a time."""
    parts = [
        retrieval_values(near, labels[part], relevant=relevant[part], ks=ks, measures=families)
        | _votes(near[:, :voters], labels[part])
        | {LABELS: labels[part]}
        for part, near in neighbours
    ]
    return {measure: torch.cat([values[measure] for values in parts]) for measure in parts[0]}


def _neighbour_labels(
    space: MetricSpace,
    z: tuple[Tensor, Tensor],
    labels: Tensor,
    apart: tuple[Tensor, Tensor] | None,
    kind: Kind,
    lengths: Tensor,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Places of queries (some,) and the labels of their nearest (some, longest), as many at a time as fit.
    ``lengths`` (queries,) says how many a query can find; the rest of its row is -1.
    """
    longest = int(lengths.max())
    step = max(1, MOST_NEIGHBOURS // max(1, longest))
    for length in reversed(torch.unique(lengths).tolist()):
        for part in (lengths == length).nonzero().flatten().split(step):
            neighbours = labels.new_full((len(part), longest), -1)
            if length:
                marks = None if apart is None else (apart[0][part], apart[1])
                queries = z[0][part.to(z[0].device)]
                indices = search(space, queries, z[1], k=length, kind=kind, apart=marks).indices
                neighbours[:, :length] = labels[indices]
            yield part, neighbours


def _votes(neighbours: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """Whether most voters (queries, 5) are of the query's class; nothing without voters."""
    if not neighbours.shape[1]:
        return {}
    return {KNN_ACCURACY: ((neighbours == labels[:, None]).sum(1) > VOTERS // 2).double()}


def _renamed(items: Items, names: list[str]) -> Tensor:
    """The labels of items as indices into common class names."""
    position = {name: index for index, name in enumerate(names)}
    return torch.tensor([position[name] for name in items.classes])[items.labels.cpu()]


def _marks(items: Items, ignore: Ignored) -> Tensor:
    """The domain or group of each item."""
    marks = items.domains if ignore == "domain" else items.groups
    if marks is None:
        raise DataError(f"{items.name}: ignoring the same {ignore} needs a {ignore} for each item, got none")
    return marks.cpu()
