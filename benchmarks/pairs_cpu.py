"""All pairs with the pairs network on a processor: against its own matrix rate, and against concatenation.

    python benchmarks/pairs_cpu.py [--items 384] [--threads 2] [--processor-time] [--out results/pairs]

The matrix rate is that of one plain product of (rows, 256) and (256, 256) in float32, in the same run and
with as many threads. For it and for our way the operations counted are those of the products alone, three
layers of 256 x 256 a pair: the first layer is split, and sums and activations count for nothing. The ways
take turns; each ratio is the median over the turns, so that a machine with other work to do slows both sides
of it. With ``--processor-time`` the clock stands still while others have the processor; with more than one
thread it counts their waiting for each other as work. The ratios are the result.
"""

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from score_all import Concatenation
from torch import Tensor

from samekind.similarities import PairsNetwork, score_all
from samekind.similarities.pairs_network import concatenated
from samekind.storage import write_text

DIMENSION, HIDDEN, DEPTH = 128, 256, 4
ROWS = 2**16
PRODUCT = "one matrix product"
OURS, WALKED = "split, in the cache", "the same, walked in blocks"
AT_ONCE, IN_BLOCKS = "concatenation, at once", "concatenation, in blocks"
#: What is asked for: part of the matrix rate, and times the rate of the concatenation.
AIMS = {PRODUCT: 0.85, AT_ONCE: 1.5}


def ways(items: int) -> dict[str, Callable[[], Tensor]]:
    """The ways to all scores, over the same network and embeddings, and the product they are held against."""
    torch.manual_seed(0)
    network = PairsNetwork(dimension=DIMENSION, hidden=HIDDEN, depth=DEPTH).eval()
    z = torch.randn(items, DIMENSION)
    x, product = torch.randn(ROWS, HIDDEN), torch.empty(ROWS, HIDDEN)
    weight = network.layers[0].weight.t()
    return {
        PRODUCT: lambda: torch.mm(x, weight, out=product),
        OURS: lambda: network.score_all(z, z),
        WALKED: lambda: score_all(network, z, z),
        IN_BLOCKS: lambda: score_all(Concatenation(network), z, z),
        AT_ONCE: lambda: concatenated(network, z, z),
    }


def operations(name: str, items: int) -> float:
    """Multiplications and additions of the products that are counted."""
    one_row = 2 * HIDDEN * HIDDEN
    return one_row * (ROWS if name == PRODUCT else items * items * (DEPTH - 1))


def measure(items: int, repeats: int, clock: Callable[[], float]) -> tuple[dict[str, list[float]], float]:
    """Operations a second of each way, turn by turn, and the largest difference from the definition."""
    functions = ways(items)
    difference = float((functions[WALKED]() - functions[AT_ONCE]()).abs().max())
    rates: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(repeats + 1):
        for name, function in functions.items():
            began = clock()
            function()
            if turn:  # the first is to warm up
                rates[name].append(operations(name, items) / (clock() - began))
    return rates, difference


def ratios(rates: dict[str, list[float]], ours: str, name: str) -> tuple[float, float, float]:
    """Ours to another way: the median over the turns, and the quartiles."""
    quotients = [one / other for one, other in zip(rates[ours], rates[name], strict=True)]
    low, middle, high = statistics.quantiles(quotients, n=4)
    return middle, low, high


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=384)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--processor-time", action="store_true")
    parser.add_argument("--out", type=Path, help="write the figures into this folder as well")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    clock = time.process_time if arguments.processor_time else time.perf_counter
    rates, difference = measure(arguments.items, arguments.repeats, clock)
    print(
        f"{arguments.items} x {arguments.items} pairs, d={DIMENSION}, {DEPTH} x {HIDDEN}, float32, ", end=""
    )
    print(
        f"{arguments.threads} threads\n\n{'':28}{'ratio to it':>12}{'quartiles':>16}{'GFLOP/s':>10}{'aim':>8}"
    )
    ratio_of = {}
    for ours in (OURS, WALKED):
        print(f"{ours:28}{'':12}{'':16}{statistics.median(rates[ours]) / 1e9:>10.0f}")
        for name in (PRODUCT, AT_ONCE, IN_BLOCKS):
            middle, low, high = ratio_of[f"{ours} to {name}"] = ratios(rates, ours, name)
            print(f"  {name:26}{middle:>12.2f}{low:>9.2f} - {high:.2f}", end="")
            print(f"{statistics.median(rates[name]) / 1e9:>10.0f}{AIMS.get(name, ''):>8}")
    print(f"\nlargest difference from the definition {difference:.1e}")
    if arguments.out:
        figures = {
            "items": arguments.items,
            "threads": arguments.threads,
            "clock": clock.__name__,
            "processor": platform.processor() or platform.machine(),
            "torch": torch.__version__,
            "ratios (median, quartiles)": ratio_of,
            "operations a second (median)": {
                name: statistics.median(values) for name, values in rates.items()
            },
            "difference": difference,
        }
        target = arguments.out / f"cpu-{arguments.threads}-threads.json"
        write_text(target, json.dumps(figures, indent=2) + "\n")
    if difference > 1e-5:
        sys.exit("the scores differ from the definition by more than 1e-5")


if __name__ == "__main__":
    main()
