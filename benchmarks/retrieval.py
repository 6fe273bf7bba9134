"""Measures of retrieval and clustering against pytorch-metric-learning with FAISS, as ratios in one run.

    python benchmarks/retrieval.py [--items 60000] [--classes 11316] [--repeats 1] [--out FOLDER]

The default has the size of Stanford Online Products' test set: precision at 1, R-precision and MAP@R, then
k-means with a group for each class (20 rounds from random items, one run, as the peer calls FAISS) and NMI
and AMI of its groups. Each side has two threads and a process of its own, which also gives its peak memory.
The ratios are the result; the absolute numbers are this machine's. Where others use the machine too, the
ratio of the processors' time is the steadier one.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from processes import forget_peak, resident
from torch import Tensor, nn

from samekind.inference import search
from samekind.inference.kmeans import kmeans
from samekind.measures import (
    adjusted_mutual_information,
    map_at_r,
    normalised_mutual_information,
    precision_at,
    r_precision,
    relevant_counts,
)
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace

DIMENSION, ROUNDS, THREADS = 64, 20, 2
PARTS = ("retrieval", "k-means", "NMI and AMI")
SAME = ("precision_at_1", "r_precision", "mean_average_precision_at_r")


def embeddings(items: int, classes: int) -> tuple[Tensor, Tensor]:
    """Unit vectors around their class's, and labels; every class has two items at least."""
    generator = torch.Generator().manual_seed(0)
    twice = torch.arange(classes).repeat(2)
    labels = torch.cat([twice, torch.randint(classes, (items - len(twice),), generator=generator)])
    labels = labels[torch.randperm(items, generator=generator)]
    centres = torch.randn(classes, DIMENSION, generator=generator)
    noise = torch.randn(items, DIMENSION, generator=generator)
    return F.normalize(centres[labels] + noise, dim=1), labels


def ours(z: Tensor, labels: Tensor) -> dict[str, Any]:
    clock = Clock()
    space = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=DIMENSION)).eval()
    relevant = relevant_counts(labels)
    places = search(space, z, z, k=int(relevant.max()), same_items=True).indices
    neighbours = labels[places]
    values = {
        "precision_at_1": precision_at(neighbours, labels, relevant=relevant, ks=(1,))[1],
        "r_precision": r_precision(neighbours, labels, relevant=relevant),
        "mean_average_precision_at_r": map_at_r(neighbours, labels, relevant=relevant),
    }
    clock.lap("retrieval")
    groups = kmeans(z, groups=len(labels.unique()), start="random", rounds=ROUNDS).assigned
    clock.lap("k-means")
    values["NMI"] = normalised_mutual_information(groups, labels)
    values["AMI"] = adjusted_mutual_information(groups, labels)
    clock.lap("NMI and AMI")
    return {"seconds": clock.seconds, "values": values, "inertia": inertia(z, groups)}


def peer(z: Tensor, labels: Tensor) -> dict[str, Any]:
    import faiss
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
    from pytorch_metric_learning.utils.inference import FaissKMeans

    faiss.omp_set_num_threads(THREADS)
    clock, groups = Clock(), []

    def timed_kmeans(z: Tensor, count: int) -> Tensor:
        clock.lap("NMI and AMI")
        groups.append(FaissKMeans(niter=ROUNDS)(z, count))
        clock.lap("k-means")
        return groups[0]

    calculator = AccuracyCalculator(
        include=(*SAME, "NMI", "AMI"), k="max_bin_count", device=torch.device("cpu"), kmeans_func=timed_kmeans
    )
    clock.lap("start")
    values = calculator.get_accuracy(z, labels, include=SAME)
    clock.lap("retrieval")
    values |= calculator.get_accuracy(z, labels, include=("NMI", "AMI"))
    clock.lap("NMI and AMI")
    return {
        "seconds": {name: clock.seconds[name] for name in PARTS},
        "values": {name: float(value) for name, value in values.items()},
        "inertia": inertia(z, groups[0]),
    }


SIDES: dict[str, Callable[[Tensor, Tensor], dict[str, Any]]] = {"samekind": ours, "peer": peer}


class Clock:
    """Seconds of each part, from the end of the part before: on the wall and of both processors together."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = {}
        self.last = self.now()

    def now(self) -> dict[str, float]:
        return {"wall": time.perf_counter(), "processors": time.process_time()}

    def lap(self, name: str) -> None:
        now, part = self.now(), self.seconds.setdefault(name, {"wall": 0.0, "processors": 0.0})
        for clock in part:
            part[clock] += now[clock] - self.last[clock]
        self.last = now


def inertia(z: Tensor, groups: Tensor) -> float:
    """The sum of squared distances to the means of the groups."""
    sums = torch.zeros(int(groups.max()) + 1, z.shape[1], dtype=torch.double).index_add_(
        0, groups, z.double()
    )
    means = sums / groups.bincount(minlength=len(sums)).clamp(min=1)[:, None]
    return float((z - means[groups]).square().sum())


def print_own(side: str, items: int, classes: int) -> None:
    """What `measured` asks of the fresh process."""
    torch.set_num_threads(THREADS)
    # Whatever is set up at the first call is not part of the measuring. FAISS says on its own standard
    # output that there are few items a group; the last line is ours.
    SIDES[side](*embeddings(400, 50))
    z, labels = embeddings(items, classes)
    forget_peak()
    figures = SIDES[side](z, labels)
    print(json.dumps(figures | {"peak MiB": resident("VmHWM") / 1024}))


def measured(side: str, items: int, classes: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--items", str(items), "--classes", str(classes), "--side", side]
    # A thread that waits sleeps: on a busy machine one that spins costs its own side the most.
    threads = {"OMP_NUM_THREADS": str(THREADS), "OMP_WAIT_POLICY": "PASSIVE"}
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | threads)
    figures: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return figures


def show(runs: dict[str, list[dict[str, Any]]]) -> None:
    print(f"{'':32}{'samekind':>12}{'peer':>12}{'ratio':>10}")
    for kind in ("wall", "processors"):
        medians = {
            side: [statistics.median(run["seconds"][part][kind] for run in repeats) for part in PARTS]
            for side, repeats in runs.items()
        }
        mine, theirs = ([*medians[side], sum(medians[side])] for side in SIDES)
        for part, one, other in zip((*PARTS, "in all"), mine, theirs, strict=True):
            print(f"{f'{part}, s ({kind})':32}{one:>12.2f}{other:>12.2f}{other / one:>9.1f}x")
    ours, peers = (repeats[0] for repeats in runs.values())
    memory, inertias = (tuple(run[name] for run in (ours, peers)) for name in ("peak MiB", "inertia"))
    print(f"{'peak memory, MiB':32}{memory[0]:>12.0f}{memory[1]:>12.0f}{memory[1] / memory[0]:>9.1f}x")
    print(f"{'inertia':32}{inertias[0]:>12.1f}{inertias[1]:>12.1f}{inertias[1] / inertias[0]:>10.4f}")
    for name, value in ours["values"].items():
        print(f"{name:32}{value:>12.5f}{peers['values'][name]:>12.5f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=60_000)
    parser.add_argument("--classes", type=int, default=11_316)
    parser.add_argument("--repeats", type=int, default=1, help="runs of each side, taken in turns")
    parser.add_argument("--out", type=Path, help="a folder to write the figures to as well")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        print_own(arguments.side, arguments.items, arguments.classes)
        return
    runs: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
    for _ in range(arguments.repeats):
        for side, repeats in runs.items():
            repeats.append(measured(side, arguments.items, arguments.classes))
    print(f"{arguments.items} x {DIMENSION}, {arguments.classes} classes, {THREADS} threads\n")
    show(runs)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        figures = {"items": arguments.items, "classes": arguments.classes, "threads": THREADS, "runs": runs}
        path = arguments.out / f"items-{arguments.items}.json"
        path.write_text(json.dumps(figures, indent=2) + "\n")
    mine, theirs = (repeats[0] for repeats in runs.values())
    if any(abs(mine["values"][name] - theirs["values"][name]) > 1e-4 for name in SAME):
        sys.exit("the two sides differ in a measure of retrieval by more than 0.0001")


if __name__ == "__main__":
    main()
