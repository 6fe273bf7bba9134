"""Rankings: which of a query's neighbours are of its class, and how many there are to be found."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.measures.checks import check_neighbours


class Ranking(NamedTuple):
    """Which ranks hold an item of the query's class, ignored ones taken out."""

    hit: Tensor  # (queries, ranks) bool
    length: Tensor  # (queries,) ranks that are left
    relevant: Tensor | None  # (queries,)


def relevant_counts(
    labels: Tensor, *, gallery: Tensor | None = None, apart: tuple[Tensor, Tensor] | None = None
) -> Tensor:
    """How many items each query should find: int64 (queries,).

    ``gallery`` is the labels (m,) of the items searched; by default the queries are the gallery, and no query
    finds itself. ``apart`` is marks of the queries (n,) and of the gallery (m,): a query does not find items
    with its own mark, as in `inference.search`.

    >>> relevant_counts(torch.tensor([0, 0, 0, 1])).tolist()
    [2, 2, 2, 0]
    >>> relevant_counts(torch.tensor([0, 1]), gallery=torch.tensor([0, 0, 2])).tolist()
    [2, 0]
    """
    if gallery is None:
        if apart is not None:
            raise ValueError("expected the labels of the gallery along with apart, got none")
        return _counts(labels, labels) - 1
    if apart is None:
        return _counts(labels, gallery)
    if apart[0].shape != labels.shape or apart[1].shape != gallery.shape:
        shapes = f"{tuple(apart[0].shape)} and {tuple(apart[1].shape)}"
        expected = f"{tuple(labels.shape)} and {tuple(gallery.shape)}"
        raise ValueError(f"expected marks of queries and gallery of shapes {expected}, got {shapes}")
    marks, mark = torch.unique(torch.cat(apart), return_inverse=True)
    _, class_ = torch.unique(torch.cat([labels, gallery]), return_inverse=True)
    class_and_mark = class_ * len(marks) + mark  # one number for each class under each mark
    return _counts(labels, gallery) - _counts(class_and_mark[: len(labels)], class_and_mark[len(labels) :])


def ranked(neighbours: Tensor, labels: Tensor, relevant: Tensor | None, ignored: Tensor | None) -> Ranking:
    """The ranking of labels (queries, ranks) for queries of the given labels (queries,), checked."""
    check_neighbours(neighbours, labels)
    if not len(labels):
        raise ValueError("expected at least one query, got none")
    hit = neighbours == labels[:, None]
    length = torch.full_like(labels, hit.shape[1], dtype=torch.int64)
    if ignored is not None:
        if ignored.shape != hit.shape or ignored.dtype != torch.bool:
            came = f"{ignored.dtype} {tuple(ignored.shape)}"
            raise ValueError(f"expected ignored as booleans of shape {tuple(hit.shape)}, got {came}")
        # Ignored neighbours go to the end, as misses; a stable sort keeps the order of the others.
        order = ignored.to(torch.uint8).sort(dim=1, stable=True).indices
        hit, length = (hit & ~ignored).gather(1, order), (~ignored).sum(1)
    if relevant is not None:
        _check_relevant(relevant, hit)
    return Ranking(hit, length, relevant)


def _check_relevant(relevant: Tensor, hit: Tensor) -> None:
    if relevant.shape != hit.shape[:1] or relevant.is_floating_point():
        came = f"{relevant.dtype} {tuple(relevant.shape)}"
        raise ValueError(f"expected relevant as whole numbers of shape ({len(hit)},), got {came}")
    hits = hit.sum(1)
    if (hits > relevant).any():
        query = int((hits > relevant).nonzero()[0])
        raise ValueError(
            f"expected at most {int(relevant[query])} neighbours of the class of query {query}, as relevant "
            f"says, got {int(hits[query])}; is the query in its own list?"
        )


def check_ks(ranking: Ranking, ks: Sequence[int]) -> None:
    """Raise ValueError unless every query has that many neighbours."""
    shortest = int(ranking.length.min())
    for k in ks:
        if not 1 <= k <= shortest:
            raise ValueError(f"expected k from 1 to {shortest}, the neighbours each query has, got {k}")


def _counts(values: Tensor, among: Tensor) -> Tensor:
    """How often each of ``values`` (n,) occurs in ``among`` (m,)."""
    if values.ndim != 1 or among.ndim != 1 or not len(values):
        shapes = f"{tuple(values.shape)} and {tuple(among.shape)}"
        raise ValueError(
            f"expected labels (queries,), at least one, and labels (m,) of a gallery, got {shapes}"
        )
    distinct, place = torch.unique(torch.cat([values, among]), return_inverse=True)
    counts: Tensor = place[len(values) :].bincount(minlength=len(distinct))[place[: len(values)]]
    return counts
