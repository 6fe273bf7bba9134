"""How far the distances of classes in a space go with those in a tree: the mean correlation of Kim's thesis.

For every class the rank correlation (Spearman) of its distances to the classes in the space and in the tree;
their mean is taken of Fisher's z. Ties share their mean rank: a tree has many, so that 1 is out of reach.
"""

import torch
from torch import Tensor

from samekind.measures.checks import check_finite

#: A perfect correlation has an infinite z.
NEAREST_TO_ONE = 1 - 1e-12


def mean_correlation(distances: Tensor, in_tree: Tensor, *, include_diagonal: bool = True) -> float:
    """The mean rank correlation of distances between classes in a space and in a tree: -1 to 1.

    Both are (classes, classes), in the same order; column i has the distances to class i. Only their order
    counts, so negated similarities will do. The published values have the distance of each class to itself
    among them (``include_diagonal``), which helps. A class whose distances are all the same has no
    correlation and is left out. For some classes only, give those rows and columns.

    >>> tree = torch.tensor([[0.0, 2.0, 4.0], [2.0, 0.0, 4.0], [4.0, 4.0, 0.0]])
    >>> round(mean_correlation(torch.tensor([[0.0, 1, 3], [1, 0, 2], [3, 2, 0]]), tree), 4)
    1.0
    """
    for values, name in ((distances, "distances"), (in_tree, "in_tree")):
        if values.ndim != 2 or values.shape[0] != values.shape[1] or len(values) < 2:
            raise ValueError(
                f"expected {name} (classes, classes) of two classes or more, got {tuple(values.shape)}"
            )
        check_finite(values, name)
    if distances.shape != in_tree.shape:
        raise ValueError(
            f"expected the same classes in the space and in the tree, got {len(distances)} and {len(in_tree)}"
        )
    columns = [_columns(values, include_diagonal) for values in (distances, in_tree.to(distances.device))]
    correlations = _spearman(*columns)
    defined = correlations[correlations.isfinite()]
    if not len(defined):
        raise ValueError("expected a class with different distances to the others, got none")
    return float(defined.clamp(-NEAREST_TO_ONE, NEAREST_TO_ONE).atanh().mean().tanh())


def chords(vectors: Tensor) -> Tensor:
    """The distances between directions: (classes, d) to float64 (classes, classes), 0 to 2.

    >>> chords(torch.tensor([[2.0, 0.0], [0.0, 3.0]])).tolist()
    [[0.0, 1.4142135623730951], [1.4142135623730951, 0.0]]
    """
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise ValueError(f"expected vectors (classes, d), at least one, got {tuple(vectors.shape)}")
    directions = torch.nn.functional.normalize(vectors.detach().double(), dim=1)
    return torch.cdist(directions, directions, compute_mode="donot_use_mm_for_euclid_dist")


def _columns(values: Tensor, include_diagonal: bool) -> Tensor:
    """The distances to each class, one row a class, with or without its own."""
    rows = values.detach().double().T
    if include_diagonal:
        return rows.contiguous()
    off_diagonal = ~torch.eye(len(rows), dtype=torch.bool, device=rows.device)
    return rows[off_diagonal].reshape(len(rows), len(rows) - 1)


def _spearman(first: Tensor, second: Tensor) -> Tensor:
    """The rank correlation of each two rows: (n, m), (n, m) -> (n,); NaN for a row of equal numbers."""
    first_ranks, second_ranks = (
        ranks - ranks.mean(1, keepdim=True) for ranks in map(_ranks, (first, second))
    )
    return (first_ranks * second_ranks).sum(1) / (
        first_ranks.square().sum(1) * second_ranks.square().sum(1)
    ).sqrt()


def _ranks(rows: Tensor) -> Tensor:
    """The rank of every number in its row, from 0; equal numbers share the mean of theirs."""
    ordered = rows.sort(dim=1).values
    before, upto = (torch.searchsorted(ordered, rows, side=side) for side in ("left", "right"))
    return (before + upto - 1).double() / 2
