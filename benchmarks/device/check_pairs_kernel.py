"""The kernels against the network they stand for, on a GPU: random shapes, every epilogue, both precisions.

    python benchmarks/device/check_pairs_kernel.py [--cases 40] [--seed 0]

Each case draws widths, depths, a slope and sizes (one row, one column and odd ones among them), lays the
embeddings out so that neither side is contiguous, and compares scores with float64, and counts, best columns
and log-sums with what the written scores say. The last line says whether all agree.
"""

import random

import torch
from cases import checked

from samekind.measures.binning import count_bins
from samekind.similarities import PairsNetwork
from samekind.similarities.kernels.pairs_kernel import PairsKernel

#: Of the scores' own spread: what rounding to 16 bits in every layer may do.
TOLERANCE = {torch.bfloat16: 0.06, torch.float16: 0.008}


def drawn(chance: random.Random) -> tuple[str, torch.dtype, int, int, float, int, int, int]:
    """A kernel, a precision, and the shape of a case."""
    path = chance.choice(["hopper", "portable"])
    hidden = chance.randint(1, 256) if path == "hopper" else chance.choice([chance.randint(1, 256), 350, 513])
    depth = chance.randint(2, 6) if path == "hopper" else chance.randint(1, 5)
    sizes = [1, 2, 63, 64, 65, chance.randint(1, 300)]
    dimension, slope = chance.choice([1, 7, 64, 128]), chance.choice([0.0, 0.1, 0.5, 1.0])
    dtype = chance.choice(list(TOLERANCE))
    return path, dtype, dimension, hidden, slope, depth, chance.choice(sizes), chance.choice(sizes)


@torch.no_grad()
def check(
    path: str, dtype: torch.dtype, dimension: int, hidden: int, slope: float, depth: int, n: int, m: int
) -> float:
    """The largest error of a score, as a part of the spread of all; an AssertionError where one is wrong."""
    network = PairsNetwork(dimension=dimension, hidden=hidden, depth=depth, slope=slope).cuda().eval()
    kernel = PairsKernel(network, dtype=dtype, path=path)
    a = torch.randn(n, 2 * dimension, device="cuda")[:, ::2]
    b = torch.randn(dimension, m, device="cuda").T
    exact = network.double().score_all(a.double(), b.double())
    network.float()
    scores = kernel.score_all(a, b)
    # Far from the offset that all have in common, rounding is a part of what the layers add to it.
    spread = max(float((exact - network.last.bias).abs().max()), 1e-3)
    error = float((scores - exact).abs().max()) / spread
    assert error < TOLERANCE[dtype], f"scores are off by {error}"
    for over, dimension_of in (("second", 1), ("first", 0)):
        sums = kernel.log_sum_exp(a, b, over=over, scale=1.5)
        torch.testing.assert_close(sums, (1.5 * scores).logsumexp(dimension_of), atol=1e-3, rtol=1e-3)
    values, places = kernel.best(a, b, 5)
    torch.testing.assert_close(values, exact.float().gather(1, places), atol=1e-3, rtol=1e-3)
    assert float((exact.topk(min(5, m)).values - values).max()) <= 3 * TOLERANCE[dtype] * spread
    mine, others = torch.arange(n, device="cuda") % 3, torch.arange(m, device="cuda") % 3
    same = mine[:, None] == others
    threshold = float(scores.median())
    for upper in (False, True):
        counted = torch.ones_like(same).triu(1) if upper else torch.ones_like(same)
        bins, errors = kernel.count_bins(a, b, (mine, others), upper=upper, threshold=threshold)
        if int(counted.sum()):
            expected, wrong = count_bins([(scores[counted], same[counted])], threshold)
            assert torch.equal(bins, expected), "bins"
            assert tuple(errors.tolist()) == wrong, "errors at a threshold"
        looked_at = bins.sum(1).nonzero().flatten().tolist()[:50]
        cells = kernel.count_cells(a, b, (mine, others), looked_at, upper=upper)
        assert torch.equal(cells.sum(2), bins[looked_at]), "cells"
    return error


def main() -> None:
    worst: dict[tuple[str, torch.dtype], float] = {}
    for (path, dtype, *_), error in checked(__doc__.splitlines()[0], drawn, check):
        worst[path, dtype] = max(worst.get((path, dtype), 0.0), error)
    for (path, dtype), error in worst.items():
        print(f"{path:10}{dtype!s:16} largest error {error:.2e} of the spread of the scores")


if __name__ == "__main__":
    main()
