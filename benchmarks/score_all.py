"""All pairs with the pairs network: blocks with the split first layer against concatenation.

    python benchmarks/score_all.py [--items 600] [--json FILE]

Three ways to the same n x n scores, in one run: every pair concatenated at once, concatenated in blocks
of the same memory budget, and the split first layer in blocks (what samekind does). Times are interleaved
medians; peak memory is that of a fresh process for each way, above what it held before scoring. The ratios
are the result; the absolute numbers are this machine's.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from processes import forget_peak, resident
from torch import Tensor

from samekind.similarities import MEMORY_BUDGET, PairsNetwork, score_all
from samekind.similarities.pairs_network import concatenated

DIMENSION, HIDDEN, DEPTH = 128, 256, 4


class Concatenation:
    """The definition behind the interface that `score_all` walks in blocks."""

    def __init__(self, network: PairsNetwork) -> None:
        self.network = network

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return concatenated(self.network, a, b)

    def pair_bytes(self, dimension: int) -> int:
        return self.network.pair_bytes(dimension)


def ways(items: int) -> dict[str, Callable[[], Tensor]]:
    """The three ways, over the same network and embeddings."""
    torch.manual_seed(0)
    network = PairsNetwork(dimension=DIMENSION, hidden=HIDDEN, depth=DEPTH, dropout=0.1).eval()
    z = torch.randn(items, DIMENSION)
    return {
        "concatenation, at once": lambda: concatenated(network, z, z),
        "concatenation, in blocks": lambda: score_all(Concatenation(network), z, z),
        "split, in blocks": lambda: score_all(network, z, z),
    }


def measure_times(items: int, repeats: int) -> tuple[dict[str, float], dict[str, float]]:
    """Median seconds of each way, taken in turns, and the largest difference of each from the definition."""
    functions = ways(items)
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    reference = functions["concatenation, at once"]()
    differences = {name: float((function() - reference).abs().max()) for name, function in functions.items()}
    for _ in range(repeats):
        for name, function in functions.items():
            began = time.perf_counter()
            function()
            seconds[name].append(time.perf_counter() - began)
    return {name: statistics.median(times) for name, times in seconds.items()}, differences


def measure_memory(items: int, name: str) -> float:
    """MiB a fresh process needs on top of what it held before, for one way."""
    command = [sys.executable, __file__, "--items", str(items), "--only", name]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(answer.stdout)


@torch.no_grad()
def print_own_peak(items: int, name: str) -> None:
    """What `measure_memory` asks of the fresh process."""
    function = ways(items)[name]
    ways(8)[name]()  # whatever is set up at the first call is not part of the scoring
    forget_peak()
    before = resident("VmRSS")
    function()
    print((resident("VmHWM") - before) / 1024)


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=600)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print_own_peak(arguments.items, arguments.only)
        return
    seconds, differences = measure_times(arguments.items, arguments.repeats)
    memory = {name: measure_memory(arguments.items, name) for name in seconds}
    ours = "split, in blocks"
    print(f"{arguments.items} x {arguments.items} pairs, d={DIMENSION}, {DEPTH} x {HIDDEN}, ", end="")
    print(f"{torch.get_num_threads()} threads, budget {MEMORY_BUDGET['cpu'] // 2**20} MiB\n")
    print(f"{'':28}{'time':>10}{'memory':>12}{'largest difference':>22}")
    for name in seconds:
        time_ratio, memory_ratio = seconds[name] / seconds[ours], memory[name] / memory[ours]
        print(f"{name:28}{time_ratio:>9.2f}x{memory_ratio:>11.2f}x{differences[name]:>22.1e}")
    figures = {"seconds": seconds, "MiB": memory, "difference": differences, "items": arguments.items}
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")
    if differences[ours] > 1e-5:
        sys.exit("the split form differs from the definition by more than 1e-5")


if __name__ == "__main__":
    main()
