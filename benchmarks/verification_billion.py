"""Every pair of 50,000 items through the pairs network: equal error rate and area, on a GPU.

    python benchmarks/verification_billion.py [--items 50000] [--out results/pairs]

1.25 billion trials are scored by the kernel of the learned similarity and counted on the chip; no score is
written. Measured: seconds until both measures are exact, until the equal error rate is and the area has
bounds, and of one walk with bounds for both; memory of the device beyond the embeddings; and, if asked, the
same by the plain path in float32. The network is trained for some steps, see
pairs_kernel.py, so that the scores are spread as scores in use are.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from pairs_kernel import DIMENSION, items, trained
from torch import nn

from samekind.inference import streamed_trials
from samekind.measures.streaming import Exactness
from samekind.prototypes import SupportMeans
from samekind.space import MetricSpace
from samekind.storage import write_text


def measured(
    space: MetricSpace,
    z: torch.Tensor,
    labels: torch.Tensor,
    *,
    precision: str,
    exact: Exactness,
    budget: int,
) -> dict[str, Any]:
    """The measures, and what they cost."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before, began = torch.cuda.memory_allocated(), time.perf_counter()
    rates = streamed_trials(space, z, labels, exact=exact, precision=precision, memory_budget=budget)
    torch.cuda.synchronize()
    return {
        "seconds": time.perf_counter() - began,
        "device MiB": (torch.cuda.max_memory_allocated() - before) / 2**20,
        "walks": rates.passes,
        "equal error rate": rates.equal_error,
        "between": rates.equal_error_bounds,
        "area": rates.area,
        "area between": rates.area_bounds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--budget", type=int, default=1400, help="MiB for the counts")
    parser.add_argument("--plain", action="store_true", help="the plain path, too")
    parser.add_argument("--out", type=Path, help="a folder to write the figures to as well")
    arguments = parser.parse_args()
    budget = arguments.budget * 2**20
    z, labels = items(arguments.items, torch.Generator().manual_seed(5))
    space = MetricSpace(nn.Identity(), trained(), SupportMeans(dimension=DIMENSION)).eval().cuda()
    wanted: dict[str, Exactness] = {"all exact": True, "EER exact": "equal error", "one walk": False}
    ways = {f"kernel, {name}": ("bfloat16", exact) for name, exact in wanted.items()}
    if arguments.plain:
        ways |= {f"plain, {name}": ("as it is", exact) for name, exact in wanted.items()}
    figures: dict[str, Any] = {
        "device": torch.cuda.get_device_name(),
        "items": len(z),
        "pairs": len(z) * (len(z) - 1) // 2,
    }
    for name, (precision, exact) in ways.items():
        if name.startswith("kernel"):
            # Once to compile: anew for other sizes, and for counters of another kind.
            measured(space, z, labels, precision=precision, exact=exact, budget=budget)
        figures[name] = measured(space, z, labels, precision=precision, exact=exact, budget=budget)
    print(f"{figures['device']}: {figures['pairs']:,} pairs\n")
    for name in ways:
        row = figures[name]
        print(
            f"{name:18}{row['seconds']:>8.2f} s{row['walks']:>4} walks{row['device MiB']:>8.0f} MiB   "
            f"EER {row['equal error rate']:.7f} ({row['between'][0]:.6f} to {row['between'][1]:.6f}), "
            f"AUC {row['area']:.7f} ({row['area between'][0]:.6f} to {row['area between'][1]:.6f})"
        )
    if arguments.out:
        write_text(arguments.out / "billion.json", json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
