"""Two samples, one kernel: are they from the same distribution?

``kernel`` is (n, n), how alike every two items of both samples together are; ``in_first`` (n,) is boolean,
true for the items of the first sample. Only pairs of different items are looked at, and both orders of a pair
count alike, so neither the diagonal nor the order of the similarity matters.

Gretton et al., "A Kernel Two-Sample Test", JMLR 2012; the p-value as in Phipson and Smyth, "Permutation
P-values Should Never Be Zero", 2010.
"""

import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor


class TwoSample(NamedTuple):
    """The discrepancy of two samples, and the share of shuffles with at least this discrepancy."""

    discrepancy: float
    p_value: float
    usual: float  # the 95 % quantile of the shuffles
    shuffles: int  # including the original division


def mean_discrepancy(kernel: Tensor, in_first: Tensor) -> float:
    """The squared maximum mean discrepancy, its unbiased estimate.

    The mean over pairs within the first sample, plus the mean within the second, minus twice the mean across.
    It is about 0, on either side, for samples of one distribution, and grows with their difference. A sample
    of fewer than two items raises a ValueError.

    >>> kernel = torch.tensor([[1.0, 0.9, 0.1, 0.0], [0.9, 1.0, 0.0, 0.2], [0.1, 0.0, 1.0, 0.8],
    ...     [0.0, 0.2, 0.8, 1.0]], dtype=torch.double)
    >>> round(mean_discrepancy(kernel, torch.tensor([True, True, False, False])), 6)
    1.55
    """
    _check(kernel, in_first)
    everything = slice(0, len(in_first))
    return float(_discrepancies([(everything, everything, kernel)], in_first[:, None].cpu())[0])


def two_sample_test(
    kernel: Tensor, in_first: Tensor, *, permutations: int = 1000, seed: int = 0
) -> TwoSample:
    """The discrepancy, and the share of shuffles of the items over the two samples with at least this one.

    If there are at most ``permutations`` + 1 ways to divide the items, all are tried and the p-value is
    exact. Else ``permutations`` shuffles are drawn by the ``seed``, and the p-value is (1 + as large) / (1 +
    permutations), never 0. For samples of one distribution it is below 0.05 at most 5 % of the time, whatever
    the kernel.

    >>> kernel, in_first = torch.eye(6), torch.arange(6) < 3
    >>> two_sample_test(kernel, in_first).p_value
    1.0
    """
    _check(kernel, in_first)
    everything = slice(0, len(in_first))
    return two_sample_in_blocks(
        [(everything, everything, kernel)], in_first, permutations=permutations, seed=seed
    )


def two_sample_in_blocks(
    walk: Iterable[tuple[slice, slice, Tensor]], in_first: Tensor, *, permutations: int = 1000, seed: int = 0
) -> TwoSample:
    """The same for a kernel in blocks: ``walk`` yields (rows, columns, values), each pair once.

    Memory is one block and one number for each item and permutation.
    """
    if permutations < 1:
        raise ValueError(f"expected at least one permutation, got {permutations}")
    _check_samples(in_first)
    divisions = _divisions(in_first.cpu(), permutations, seed)
    discrepancies = _discrepancies(walk, divisions)
    if not discrepancies.isfinite().all():
        raise ValueError("expected a finite kernel, got NaN or infinity")
    # The tolerance keeps rounding from making equal divisions unequal.
    slack = 1e-9 * float(discrepancies.abs().max())
    as_large = int((discrepancies >= discrepancies[0] - slack).sum())
    return TwoSample(
        float(discrepancies[0]),
        as_large / len(discrepancies),
        float(discrepancies.quantile(0.95)),
        len(discrepancies),
    )


def _divisions(in_first: Tensor, permutations: int, seed: int) -> Tensor:
    """Which items are in the first sample: (n, shuffles), the original division in column 0."""
    count, first = len(in_first), int(in_first.sum())
    if math.comb(count, first) <= permutations + 1:
        combinations = torch.tensor(list(itertools.combinations(range(count), first)))
        divisions = torch.zeros(len(combinations), count, dtype=torch.bool).scatter_(1, combinations, True)
        as_they_came = (divisions == in_first).all(1)
        return torch.cat([divisions[as_they_came], divisions[~as_they_came]]).T
    generator = torch.Generator().manual_seed(seed)
    shuffled = [in_first[torch.randperm(count, generator=generator)] for _ in range(permutations)]
    return torch.stack([in_first, *shuffled], dim=1)


def _discrepancies(walk: Iterable[tuple[slice, slice, Tensor]], divisions: Tensor) -> Tensor:
    """The unbiased estimate for each division, (shuffles,).

    With w the indicator of the first sample and K without its diagonal, the sums within and across are
    w'Kw, 1'K1 - w'K1 - 1'Kw + w'Kw and w'K1 + 1'Kw - 2 w'Kw: one product of matrices for all shuffles.
    """
    first = divisions.double()
    within = torch.zeros(first.shape[1], dtype=torch.float64)
    touching, total = torch.zeros_like(within), 0.0
    for rows, columns, block in walk:
        values = block.detach().cpu().double()
        itself = torch.arange(rows.start, rows.stop)[:, None] == torch.arange(columns.start, columns.stop)
        values = values.masked_fill(itself, 0)
        within += ((values @ first[columns]) * first[rows]).sum(0)
        touching += values.sum(1) @ first[rows] + values.sum(0) @ first[columns]
        total += float(values.sum())
    ones, twos = first[:, 0].sum(), (1 - first[:, 0]).sum()
    second = total - touching + within
    across = (touching - 2 * within) / 2
    return within / (ones * (ones - 1)) + second / (twos * (twos - 1)) - 2 * across / (ones * twos)


def _check(kernel: Tensor, in_first: Tensor) -> None:
    if kernel.ndim != 2 or kernel.shape != (len(in_first), len(in_first)):
        shapes = f"{tuple(kernel.shape)} and {tuple(in_first.shape)}"
        raise ValueError(f"expected a kernel (n, n) and in_first (n,), got {shapes}")
    _check_samples(in_first)
    if not kernel.isfinite().all():
        raise ValueError("expected a finite kernel, got NaN or infinity")


def _check_samples(in_first: Tensor) -> None:
    if in_first.ndim != 1 or in_first.dtype != torch.bool:
        raise ValueError(f"expected a boolean in_first (n,), got {in_first.dtype} {tuple(in_first.shape)}")
    first = int(in_first.sum())
    if min(first, len(in_first) - first) < 2:
        sizes = f"{first} and {len(in_first) - first}"
        raise ValueError(f"expected two items or more in each sample, got {sizes}")
