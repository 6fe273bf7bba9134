"""All pairs through a pairs network on a GPU: one kernel against the paths that PyTorch offers.

    python benchmarks/pairs_kernel.py [--rows 8192] [--columns 16384] [--repeats 7] [--out results/pairs]

The network is of the size the library is made for (128 numbers an item, four hidden layers of 256), trained
for some steps on items around the centres of classes. Every path scores the same pairs, turn by turn; the
medians' ratios are the result. The limit is a product of two large matrices, by the operations it does a
second: a pair costs 3 x 2 x 256 x 256 of them once the first layer is split. Errors are against float64, with
the equal error rate of each precision.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.measures import equal_error_rate
from samekind.similarities import PairsNetwork, blocks
from samekind.similarities.kernels.pairs_kernel import PairsKernel
from samekind.similarities.pairs_network import concatenated
from samekind.storage import write_text

DIMENSION, HIDDEN, DEPTH, CLASSES = 128, 256, 4, 100
OPERATIONS = (DEPTH - 1) * 2 * HIDDEN * HIDDEN  # a pair
CHECKED = 2000  # items whose pairs are scored in float64 too


def items(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Items around the centres of classes, so that some pairs are hard to tell."""
    centres = torch.randn(CLASSES, DIMENSION, generator=torch.Generator().manual_seed(1))
    labels = torch.randint(CLASSES, (count,), generator=generator)
    return (centres[labels] + 1.6 * torch.randn(count, DIMENSION, generator=generator)).cuda(), labels.cuda()


def trained(steps: int = 300) -> PairsNetwork:
    """A network that has seen some pairs: what it scores is spread as scores in use are."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(2)
    network = PairsNetwork(dimension=DIMENSION, hidden=HIDDEN, depth=DEPTH, dropout=0.0).cuda()
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    for _ in range(steps):
        z, labels = items(512, generator)
        scores, same = network.score_all(z, z), labels[:, None] == labels
        weight = torch.where(same, same.numel() / same.sum(), same.numel() / (~same).sum())
        cost = F.binary_cross_entropy_with_logits(scores, same.float(), weight=weight)
        optimiser.zero_grad()
        cost.backward()
        optimiser.step()
    return network.eval()


def in_blocks(score_all: Callable[[Tensor, Tensor], Tensor], a: Tensor, b: Tensor, pairs: int) -> None:
    """Block after block, each of so many pairs, as large as a path can have it in memory."""
    height = max(1, pairs // len(b))
    for top in range(0, len(a), height):
        score_all(a[top : top + height], b)


def paths(network: PairsNetwork) -> dict[str, Callable[[Tensor, Tensor], None]]:
    """What is compared, by name."""
    half = torch.autocast("cuda", dtype=torch.bfloat16)
    compiled = torch.compile(network.score_all)
    kernels = {path: PairsKernel(network, path=path) for path in ("portable", "hopper")}

    def concatenate(a: Tensor, b: Tensor) -> Tensor:
        return concatenated(network, a, b)

    def at_half(score_all: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], None]:
        def run(a: Tensor, b: Tensor) -> None:
            with half:
                in_blocks(score_all, a, b, 2**21)

        return run

    return {
        "concatenation, float32": lambda a, b: in_blocks(concatenate, a, b, 2**20),
        "concatenation, bfloat16": at_half(concatenate),
        "split, float32": lambda a, b: [None for _ in blocks(network, a, b)] and None,
        "split, bfloat16": at_half(network.score_all),
        "split, bfloat16, compiled": at_half(compiled),
        "kernel, portable": lambda a, b: kernels["portable"].score_all(a, b) is None,
        "kernel": lambda a, b: kernels["hopper"].score_all(a, b) is None,
    }


def epilogues(
    network: PairsNetwork, labels: tuple[Tensor, Tensor]
) -> dict[str, Callable[[Tensor, Tensor], object]]:
    """The kernel asked without writing the matrix."""
    kernel = PairsKernel(network)
    return {
        "kernel, the 10 best of each row": lambda a, b: kernel.best(a, b, 10),
        "kernel, counts by bin": lambda a, b: kernel.count_bins(a, b, labels),
        "kernel, log-sum-exp of each row": lambda a, b: kernel.log_sum_exp(a, b),
    }


def seconds(work: Callable[[], object]) -> float:
    """How long the GPU is busy with it."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    work()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1000


def limit() -> float:
    """Pairs a second if the GPU did nothing but multiply, as fast as it multiplies large matrices."""
    size = 8192
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    a @ b
    taken = statistics.median(seconds(lambda: a @ b) for _ in range(10))
    return 2 * size**3 / taken / OPERATIONS


def errors(network: PairsNetwork) -> dict[str, dict[str, float]]:
    """How far each precision is from float64, and what that does to the equal error rate."""
    z, labels = items(CHECKED, torch.Generator().manual_seed(3))
    above = torch.ones(CHECKED, CHECKED, dtype=torch.bool, device="cuda").triu(1)
    same = (labels[:, None] == labels)[above].cpu()
    exact = torch.cat([network.double().score_all(part.double(), z.double()) for part in z.split(100)])[above]
    network.float()
    ways = {"float32": network.score_all}
    ways |= {
        f"kernel, {str(dtype)[6:]}": PairsKernel(network, dtype=dtype).score_all
        for dtype in (torch.bfloat16, torch.float16)
    }
    figures, spread = {}, float(exact.std())
    rate = equal_error_rate(exact.float().cpu(), same).rate
    for name, score_all in ways.items():
        scores = torch.cat([score_all(part, z) for part in z.split(500)])[above]
        figures[name] = {
            "largest error": float((scores - exact).abs().max()),
            "mean error": float((scores - exact).abs().mean()),
            "spread of the scores": spread,
            "equal error rate": equal_error_rate(scores.cpu(), same).rate,
            "its change": equal_error_rate(scores.cpu(), same).rate - rate,
        }
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=8192)
    parser.add_argument("--columns", type=int, default=16384)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path, help="a folder to write the figures to as well")
    arguments = parser.parse_args()
    network = trained()
    generator = torch.Generator().manual_seed(4)
    (a, mine), (b, others) = items(arguments.rows, generator), items(arguments.columns, generator)
    taken: dict[str, list[float]] = {}
    with torch.no_grad():
        ways = paths(network) | epilogues(network, (mine, others))
        for repeat in range(arguments.repeats + 1):
            for name, work in ways.items():
                passed = seconds(lambda work=work: work(a, b))
                if repeat:  # the first compiles and warms up
                    taken.setdefault(name, []).append(passed)
        pairs, most = len(a) * len(b), limit()
        speeds = {name: pairs / statistics.median(times) for name, times in taken.items()}
        figures = {
            "device": torch.cuda.get_device_name(),
            "pairs": pairs,
            "million pairs a second": {name: round(speed / 1e6, 1) for name, speed in speeds.items()},
            "limit, million pairs a second": round(most / 1e6, 1),
            "errors": errors(network),
        }
    fastest = speeds["kernel"]
    print(f"{figures['device']}: {pairs:,} pairs, {DIMENSION} numbers an item, {DEPTH} layers of {HIDDEN}\n")
    print(f"{'':34}{'kernel is faster by':>20}{'million pairs/s':>18}")
    for name, speed in speeds.items():
        print(f"{name:34}{fastest / speed:>19.2f}x{speed / 1e6:>18.1f}")
    print(f"{'products of large matrices':34}{fastest / most:>19.2f}x{most / 1e6:>18.1f}\n")
    for name, error in figures["errors"].items():
        print(f"{name:18}" + ", ".join(f"{what} {value:.2e}" for what, value in error.items()))
    if arguments.out:
        write_text(arguments.out / "kernel.json", json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
