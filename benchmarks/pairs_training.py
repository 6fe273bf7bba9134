"""Training with all pairs of a batch: recomputed hidden layers against autograd, memory and time.

    python benchmarks/pairs_training.py [--device cuda] [--batch 2048] [--blocks 65536 131072] [--out FOLDER]

Forward and backward of a pair loss over all pairs of a batch, dropout included: by autograd on every pair
concatenated (the definition), by autograd on the split first layer, and with the hidden layers recomputed in
blocks of so many pairs, as it is done by default and, on a GPU, without the kernels. Each in float32 and
under bfloat16 autocast. Times are medians of turns taken one after the other; memory is the peak above what
was there before, on a processor that of a fresh process for each way. The gradients are compared without
dropout. The ratios to the concatenation are the result. What --out holds of a precision that is not measured
this time stays there.
"""

import argparse
import contextlib
import json
import math
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from processes import forget_peak, resident
from torch import Tensor

from samekind.similarities import PairsNetwork, recomputed
from samekind.similarities.pairs_network import concatenated
from samekind.storage import write_text

DIMENSION, HIDDEN, DEPTH, DROPOUT, CLASSES = 128, 256, 4, 0.25, 64
CONCATENATION, SPLIT, RECOMPUTED = "concatenation", "split, kept", "recomputed"
PLAINLY = "recomputed, no kernels"
PRECISIONS = {"float32": None, "bfloat16": torch.bfloat16}


class Batch:
    """A network, embeddings and which pairs are of one class."""

    def __init__(self, size: int, device: str, dropout: float = DROPOUT) -> None:
        torch.manual_seed(0)
        self.network = PairsNetwork(dimension=DIMENSION, hidden=HIDDEN, depth=DEPTH, dropout=dropout)
        self.network = self.network.to(device).train()
        self.z = torch.randn(size, DIMENSION, device=device).requires_grad_()
        labels = torch.randint(CLASSES, (size,), device=device)
        # Few pairs are of one class: both kinds weigh the same.
        same = labels[:, None] == labels
        self.signs = torch.where(same, -1.0, 1.0)
        self.weights = torch.where(same, 1 / same.sum(), 1 / (~same).sum())

    def gradients(self, score: Callable[[Tensor, Tensor], Tensor], precision: str) -> list[Tensor]:
        """Of the loss, by the embeddings and all parameters."""
        dtype = PRECISIONS[precision]
        with torch.autocast(self.z.device.type, dtype=dtype, enabled=dtype is not None):
            scores = score(self.z, self.z)
        cost = (self.weights * F.softplus(self.signs * scores.float())).sum()
        return list(torch.autograd.grad(cost, [self.z, *self.network.parameters()]))


def ways(batch: Batch, blocks: list[int]) -> dict[str, Callable[[Tensor, Tensor], Tensor]]:
    """Each way to the scores, by its name."""

    def in_blocks(pairs: int) -> Callable[[Tensor, Tensor], Tensor]:
        def score(a: Tensor, b: Tensor) -> Tensor:
            with limits(kept_bytes=-1, pairs=pairs):
                return batch.network.score_all(a, b)

        return score

    def by_autograd(a: Tensor, b: Tensor) -> Tensor:
        with limits(kept_bytes=math.inf):
            return batch.network.score_all(a, b)

    def plainly(a: Tensor, b: Tensor) -> Tensor:
        before = recomputed.walk_for
        recomputed.walk_for = lambda *_: recomputed.Walk
        try:
            with limits(kept_bytes=-1):
                return batch.network.score_all(a, b)
        finally:
            recomputed.walk_for = before

    return {
        CONCATENATION: lambda a, b: concatenated(batch.network, a, b),
        SPLIT: by_autograd,
        **({} if batch.z.device.type == "cpu" else {PLAINLY: plainly}),
        **{f"{RECOMPUTED}, {pairs:,} pairs" if pairs else RECOMPUTED: in_blocks(pairs) for pairs in blocks},
    }


@contextlib.contextmanager
def limits(*, kept_bytes: float, pairs: int = 0) -> Iterator[None]:
    """How much autograd may keep, and how many pairs a block has (0: what it has by default)."""
    before = recomputed.KEPT_BYTES, recomputed.block_size
    recomputed.KEPT_BYTES = dict.fromkeys(before[0], kept_bytes)
    if pairs:
        recomputed.block_size = lambda *_: pairs
    try:
        yield
    finally:
        recomputed.KEPT_BYTES, recomputed.block_size = before


def wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def measure_times(
    arguments: argparse.Namespace, precision: str
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Seconds of each way, turn by turn, and what the device held at its peak, in MiB."""
    batch = Batch(arguments.batch, arguments.device)
    seconds: dict[str, list[float]] = {}
    memory: dict[str, float] = {}
    for turn in range(arguments.repeats + 1):
        for name, score in ways(batch, arguments.blocks).items():
            if arguments.device != "cpu":
                torch.cuda.reset_peak_memory_stats()
                before = torch.cuda.memory_allocated()
            wait(arguments.device)
            began = time.perf_counter()
            batch.gradients(score, precision)
            wait(arguments.device)
            if turn:  # the first is to warm up
                seconds.setdefault(name, []).append(time.perf_counter() - began)
            if arguments.device != "cpu":
                memory[name] = (torch.cuda.max_memory_allocated() - before) / 2**20
    if arguments.device == "cpu":
        memory = {name: memory_of_fresh_process(arguments, precision, name) for name in seconds}
    return seconds, memory


def memory_of_fresh_process(arguments: argparse.Namespace, precision: str, name: str) -> float:
    command = [sys.executable, __file__, "--batch", str(arguments.batch), "--only", name, precision]
    command += ["--blocks", *map(str, arguments.blocks)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def print_own_peak(arguments: argparse.Namespace) -> None:
    """What `memory_of_fresh_process` asks for."""
    name, precision = arguments.only
    small, batch = Batch(8, "cpu"), Batch(arguments.batch, "cpu")
    # Whatever is set up at the first call is not part of it.
    small.gradients(ways(small, arguments.blocks)[name], precision)
    forget_peak()
    before = resident("VmRSS")
    batch.gradients(ways(batch, arguments.blocks)[name], precision)
    print((resident("VmHWM") - before) / 1024)


def differences(arguments: argparse.Namespace, precision: str) -> dict[str, float]:
    """How far each way's gradients are from those of the concatenation in float64, relative, without dropout.

    On at most 256 items, because the concatenation in float64 is large.
    """
    batch = Batch(min(256, arguments.batch), arguments.device, dropout=0.0)
    gradients = {
        name: batch.gradients(score, precision) for name, score in ways(batch, arguments.blocks).items()
    }
    batch.network.double()
    batch.z = batch.z.detach().double().requires_grad_()
    exact = batch.gradients(lambda a, b: concatenated(batch.network, a, b), "float32")
    size = sum(float(gradient.norm()) ** 2 for gradient in exact) ** 0.5
    return {
        name: sum(float((one - other).norm()) ** 2 for one, other in zip(way, exact, strict=True)) ** 0.5
        / size
        for name, way in gradients.items()
    }


def compare(arguments: argparse.Namespace, precision: str) -> dict[str, Any]:
    """One precision, printed."""
    seconds, memory = measure_times(arguments, precision)
    error = differences(arguments, precision)
    print(f"\n{precision}\n{'':30}{'faster by':>11}{'less memory':>13}{'ms':>10}{'MiB':>10}{'error':>10}")
    figures = {}
    for name, times in seconds.items():
        faster = statistics.median(
            one / other for one, other in zip(seconds[CONCATENATION], times, strict=True)
        )
        less = memory[CONCATENATION] / memory[name]
        middle = 1000 * statistics.median(times)
        figures[name] = {"faster": faster, "less memory": less, "ms": middle, "MiB": memory[name]}
        figures[name]["relative error"] = error[name]
        print(
            f"{name:30}{faster:>10.2f}x{less:>12.1f}x{middle:>10.1f}{memory[name]:>10.0f}{error[name]:>10.1e}"
        )
    return figures


def earlier(target: Path, facts: dict[str, Any], precisions: list[str]) -> dict[str, Any]:
    """What a file has of the precisions that are not measured now. Figures of another machine, or of another
    torch, cannot stand beside the new ones: that is told before anything is measured.
    """
    stored = json.loads(target.read_text()) if target.exists() else {}
    left = {name: stored[name] for name in PRECISIONS if name in stored and name not in precisions}
    for name, fact in facts.items():
        if left and stored.get(name) != fact:
            raise SystemExit(
                f"{target} has figures of {', '.join(left)} with {name} {stored.get(name)}, and here it is "
                f"{fact}: measure all precisions again, or choose another folder"
            )
    return left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, help="256 on a processor, else 2,048")
    parser.add_argument("--blocks", type=int, nargs="+", help="pairs of a block; 0 is the default size")
    parser.add_argument("--precisions", nargs="+", choices=list(PRECISIONS), default=list(PRECISIONS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, help="write the figures into this folder as well")
    parser.add_argument("--only", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    on_cpu = arguments.device == "cpu"
    arguments.batch = arguments.batch or (256 if on_cpu else 2048)
    arguments.blocks = arguments.blocks or ([0] if on_cpu else [0, 2**18, 2**20])
    if arguments.only:
        print_own_peak(arguments)
        return
    machine = platform.machine() if on_cpu else torch.cuda.get_device_name()
    print(
        f"batch {arguments.batch}: {arguments.batch**2:,} pairs, d={DIMENSION}, {DEPTH} x {HIDDEN}, ", end=""
    )
    print(f"dropout {DROPOUT}, {machine}, {torch.get_num_threads()} threads")
    facts = {"batch": arguments.batch, "machine": machine, "torch": str(torch.__version__)}
    target = (arguments.out or Path()) / f"training-{arguments.device}-{arguments.batch}.json"
    by_precision = earlier(target, facts, arguments.precisions) if arguments.out else {}
    by_precision |= {precision: compare(arguments, precision) for precision in arguments.precisions}
    if arguments.out:
        figures = {**facts, **{name: by_precision[name] for name in PRECISIONS if name in by_precision}}
        write_text(target, json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
