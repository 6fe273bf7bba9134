"""Verification: stored scores against scikit-learn, and all pairs of many items streamed against stored.

    python benchmarks/verification.py [--scores 10000000] [--items 20000] [--similarity cosine] [--out FOLDER]
    python benchmarks/verification.py --scores 0 --items 50000 --device cuda --similarity pairs

The first part takes the equal error rate and the area under the curve of float32 scores, ours from one sort,
scikit-learn's from `roc_curve` with all thresholds and `auc`. Times are interleaved medians; peak memory is
that of a fresh process for each, above what it held before. The second part scores all pairs of items and
measures them three ways, each in a fresh process: every score stored, streamed exactly, and streamed in one
walk with proved bounds. Beyond ``--most-stored`` pairs nothing is stored. The ratios are the result.
"""

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from processes import forget_peak, resident
from torch import Tensor, nn

from samekind.inference import all_trials, streamed_trials
from samekind.measures import equal_error_and_area
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, PairsNetwork
from samekind.space import MetricSpace

DIMENSION, CLASSES, HIDDEN = 64, 10, 256
OURS, PEER = "samekind", "scikit-learn"
STORED, EXACT, ONCE = "stored", "streamed, exact", "streamed, one walk"
Values = tuple[float, float, float]  # equal error rate, its threshold, area under the curve


def drawn_scores(count: int) -> tuple[Tensor, Tensor]:
    """Overlapping scores, a tenth of them of one class."""
    generator = torch.Generator().manual_seed(0)
    same = torch.rand(count, generator=generator) < 0.1
    return torch.randn(count, generator=generator).add_(same, alpha=2), same


def ours(scores: Tensor, same: Tensor) -> Values:
    (rate, threshold), area = equal_error_and_area(scores, same)
    return rate, threshold, area


def peer(scores: Tensor, same: Tensor) -> Values:
    from sklearn.metrics import auc, roc_curve

    accepts, accepted, thresholds = roc_curve(same.numpy(), scores.numpy(), drop_intermediate=False)
    nearest = np.abs(accepts - (1 - accepted)).argmin()
    rate = (accepts[nearest] + 1 - accepted[nearest]) / 2
    return float(rate), float(thresholds[nearest]), float(auc(accepts, accepted))


MEASURES: dict[str, Callable[[Tensor, Tensor], Values]] = {OURS: ours, PEER: peer}


def pairs_of(items: int, similarity: str, device: str) -> tuple[MetricSpace, Tensor, Tensor]:
    """A space and embeddings around the centres of ten classes."""
    torch.manual_seed(0)
    network = PairsNetwork(dimension=DIMENSION, hidden=HIDDEN)
    scorer = Cosine() if similarity == "cosine" else network
    space = MetricSpace(nn.Identity(), scorer, SupportMeans(dimension=DIMENSION)).eval().to(device)
    labels = torch.randint(CLASSES, (items,))
    return space, torch.randn(items, DIMENSION) + 0.5 * torch.randn(CLASSES, DIMENSION)[labels], labels


def measured_pairs(way: str, space: MetricSpace, z: Tensor, labels: Tensor) -> dict[str, Any]:
    """One of the three ways to the measures of all pairs."""
    if way == STORED:
        trials = all_trials(space, z, labels)
        return {"values": ours(trials.scores, trials.same), "passes": 1}
    streamed = streamed_trials(space, z, labels, exact=way == EXACT)
    values = streamed.equal_error, streamed.threshold, streamed.area
    bounds = streamed.equal_error_bounds, streamed.threshold_bounds, streamed.area_bounds
    return {"values": values, "passes": streamed.passes, "bounds": bounds}


def in_fresh_process(arguments: Sequence[str]) -> dict[str, Any]:
    """What a fresh process measured: seconds, MiB on top of what it held before, and the values."""
    command = [sys.executable, __file__, *arguments]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, Any] = json.loads(answer.stdout)
    return figures


def print_own_peak(arguments: argparse.Namespace) -> None:
    """What `in_fresh_process` asks for."""
    if arguments.only in MEASURES:
        measure, given = MEASURES[arguments.only], drawn_scores(arguments.scores)
        measure(*drawn_scores(1000))  # whatever is set up at the first call is not part of the measure

        def work() -> dict[str, Any]:
            return {"values": measure(*given)}
    else:
        space, z, labels = pairs_of(arguments.items, arguments.similarity, arguments.device)
        measured_pairs(arguments.only, space, z[:300], labels[:300])

        def work() -> dict[str, Any]:
            return measured_pairs(arguments.only, space, z, labels)

    with contextlib.suppress(OSError):
        forget_peak()
    before, began = resident("VmRSS"), time.perf_counter()
    figures = work()
    figures["seconds"] = time.perf_counter() - began
    figures["MiB"] = (resident("VmHWM") - before) / 1024
    if arguments.device != "cpu":
        figures["device MiB"] = torch.cuda.max_memory_allocated() / 2**20
        figures["device"] = torch.cuda.get_device_name()
    print(json.dumps(figures))


def ratio(value: float, own: float) -> str:
    """How many times as much; a dash where too little was taken to be measured."""
    return f"{value / own:.2f}x" if own else "-"


def compare_scores(count: int, repeats: int) -> dict[str, Any]:
    """Ours against scikit-learn on stored scores: time, memory and the largest difference."""
    scores, same = drawn_scores(count)
    seconds: dict[str, list[float]] = {name: [] for name in MEASURES}
    values = {}
    for _ in range(repeats):
        for name, measure in MEASURES.items():
            began = time.perf_counter()
            values[name] = measure(scores, same)
            seconds[name].append(time.perf_counter() - began)
    difference = max(abs(one - other) for one, other in zip(*values.values(), strict=True))
    del scores, same
    memory = {name: in_fresh_process(["--scores", str(count), "--only", name])["MiB"] for name in MEASURES}
    figures = {name: {"seconds": statistics.median(seconds[name]), "MiB": memory[name]} for name in MEASURES}
    print(f"{count:,} scores: equal error rate and area under the curve, {torch.get_num_threads()} threads\n")
    print(f"{'':24}{'time':>10}{'memory':>12}{'seconds':>12}{'MiB':>10}")
    for name, row in figures.items():
        time_taken, memory_taken = (ratio(row[what], figures[OURS][what]) for what in ("seconds", "MiB"))
        print(f"{name:24}{time_taken:>10}{memory_taken:>12}{row['seconds']:>12.2f}{row['MiB']:>10.0f}")
    print(f"largest difference {difference:.1e}\n")
    return {"scores": count, "difference": difference, **figures}


def compare_pairs(arguments: argparse.Namespace) -> dict[str, Any]:
    """All pairs stored against streamed: time, memory, and whether the measures are equal."""
    items, similarity, device = arguments.items, arguments.similarity, arguments.device
    pairs = items * (items - 1) // 2
    asked = ["--items", str(items), "--similarity", similarity, "--device", device]
    ways = [STORED, EXACT, ONCE] if pairs <= arguments.most_stored else [EXACT, ONCE]
    figures = {way: in_fresh_process([*asked, "--only", way]) for way in ways}
    print(f"{items:,} items, {pairs:,} pairs, {similarity}, d={DIMENSION}, {device}\n")
    print(f"{'':24}{'time':>10}{'memory':>12}{'walks':>8}{'seconds':>12}{'MiB':>10}")
    for way, row in figures.items():
        time_taken, memory_taken = (ratio(row[what], figures[EXACT][what]) for what in ("seconds", "MiB"))
        print(f"{way:24}{time_taken:>10}{memory_taken:>12}{row['passes']:>8}", end="")
        print(f"{row['seconds']:>12.2f}{row['MiB']:>10.0f}", end="")
        print(f"   {row['device MiB']:.0f} MiB on the device" if "device MiB" in row else "")
    equal = figures[STORED]["values"] == figures[EXACT]["values"] if STORED in figures else None
    print(f"exact equals stored: {'not measured' if equal is None else equal}")
    for name, value, bounds in zip(
        ("equal error rate", "threshold", "area"),
        figures[EXACT]["values"],
        figures[ONCE]["bounds"],
        strict=True,
    ):
        inside = bounds[0] <= value <= bounds[1]
        print(f"{name:17} {value:.9f}; after one walk {bounds[0]:.6f} to {bounds[1]:.6f}: {inside}")
    return {
        "items": items,
        "pairs": pairs,
        "similarity": similarity,
        "device": device,
        "equal": equal,
    } | figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", type=int, default=10_000_000, help="0 leaves the first part out")
    parser.add_argument("--items", type=int, default=20_000, help="0 leaves the second part out")
    parser.add_argument("--similarity", choices=["cosine", "pairs"], default="cosine")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--most-stored", type=int, default=300_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="write the figures into this folder as well")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print_own_peak(arguments)
        return
    by_name = {}
    if arguments.scores:
        by_name[f"scores-{arguments.scores}"] = compare_scores(arguments.scores, arguments.repeats)
    if arguments.items:
        name = f"items-{arguments.items}-{arguments.similarity}-{arguments.device}"
        by_name[name] = compare_pairs(arguments)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        for name, figures in by_name.items():
            (arguments.out / f"{name}.json").write_text(json.dumps(figures, indent=2) + "\n")
    if any(
        figures.get("equal") is False or figures.get("difference", 0) > 1e-12 for figures in by_name.values()
    ):
        sys.exit("the measures differ")


if __name__ == "__main__":
    main()
