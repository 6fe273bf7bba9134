"""What it gives to keep freed memory: a pretrained network on a CPU, as the C library has it and kept.

    python benchmarks/allocator.py [--repeats 5] [--out results/allocator.json]

Every measurement is a process of its own, the two in turns. It is processor time of one thread, so other work
on the machine matters less.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

from samekind.allocator import keep_memory
from samekind.encoders import EfficientNetLite
from samekind.storage import write_text

#: What is measured: items at once, pixels, and whether it is a training step.
CASES = {
    "embed 32 pictures of 224 pixels": (32, 224, False),
    "train 32 pictures of 128 pixels": (32, 128, True),
    "train 128 pictures of 96 pixels": (128, 96, True),
}
STEPS = 3


def measured(count: int, pixels: int, is_training: bool, *, kept: bool) -> dict[str, float]:
    """Milliseconds an item, and the most memory, in MB."""
    if kept and not keep_memory():
        raise SystemExit("allocator: this C library cannot keep memory")
    torch.set_num_threads(1)
    network = EfficientNetLite(variant=0, weights=False).to(memory_format=torch.channels_last)
    network.train(is_training)
    x = torch.rand(count, 3, pixels, pixels).contiguous(memory_format=torch.channels_last)

    def step() -> None:
        with torch.set_grad_enabled(is_training):
            z = network(x)
        if is_training:
            z.square().mean().backward()
            network.zero_grad()

    step()
    began = time.process_time()
    for _ in range(STEPS):
        step()
    seconds = (time.process_time() - began) / STEPS / count
    return {"ms": 1000 * seconds, "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def compared(name: str, repeats: int) -> dict[str, float]:
    """Medians of both, and their ratio."""
    runs: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for _ in range(repeats):
        for kept in runs:
            command = [sys.executable, __file__, "--one", name, *(["--kept"] if kept else [])]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            runs[kept].append(json.loads(done.stdout))
    plain, kept_memory = (
        {key: statistics.median(run[key] for run in some) for key in some[0]} for some in runs.values()
    )
    return {
        "plain ms": plain["ms"],
        "kept ms": kept_memory["ms"],
        "times as fast": plain["ms"] / kept_memory["ms"],
        "plain MB": plain["MB"],
        "kept MB": kept_memory["MB"],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("results/allocator.json"))
    parser.add_argument("--one", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--kept", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(*CASES[arguments.one], kept=arguments.kept)))
    else:
        results = {name: compared(name, arguments.repeats) for name in CASES}
        for name, row in results.items():
            print(f"{name:32}", *(f"{key} {value:.2f}" for key, value in row.items()), sep="  ")
        write_text(arguments.out, json.dumps(results, indent=1) + "\n")
