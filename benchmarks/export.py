"""Spaces as ONNX: size of the files, differences from PyTorch, and the time of both for 1 and 32 items.

    python benchmarks/export.py [--spaces vectors characters pictures sounds] [--out results/export]

Four spaces that are not trained (time and size do not depend on it, and differences hardly): vectors of 64
numbers by an MLP and a learned similarity; characters of 28 pixels by Conv4 and the cosine; pictures of 224
pixels by the pretrained EfficientNet-Lite0 at 224 pixels, and with the mirrored copy; three seconds of sound
by MFCC and an x-vector. Times are medians, in turns, in one process and by one thread: milliseconds of work
of the processor, so that other programs on the machine count little. The ratios are the result.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # for both; read when they are imported

import onnxruntime
import torch
from torch import nn

from samekind.data import ImageReader, Reader, SoundReader, VectorReader
from samekind.encoders import MLP, Conv4, EfficientNetLite, FrontEnd, Views, XVector
from samekind.exporting import differences, export_contents, write_export
from samekind.exporting.latency import BATCHES, latencies
from samekind.exporting.parity import random_items
from samekind.inference import embed
from samekind.portable import PortableSpace
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, PairsNetwork, Similarity
from samekind.space import MetricSpace

CLASSES = 10


def vectors() -> MetricSpace:
    """64 numbers, such as the digits, and a learned similarity."""
    return filled(MLP(inputs=64, dimension=64), VectorReader(dimension=64), PairsNetwork(dimension=64))


def characters() -> MetricSpace:
    """Grey pictures of 28 pixels."""
    return filled(Conv4(channels=1, size=28), ImageReader(height=28, width=28), Cosine())


def pictures() -> MetricSpace:
    """Photographs of 224 pixels and their mirrored copies."""
    encoder = Views(encoder=EfficientNetLite(), size=224, mirror=True)
    return filled(encoder, ImageReader(height=224, width=224, channels=3), Cosine())


def sounds() -> MetricSpace:
    """Up to three seconds at 16 kHz."""
    return filled(FrontEnd(encoder=XVector()), SoundReader(seconds=3.0), Cosine())


SPACES: dict[str, Callable[[], MetricSpace]] = {
    "vectors": vectors,
    "characters": characters,
    "pictures": pictures,
    "sounds": sounds,
}


def filled(encoder: nn.Module, reader: Reader, similarity: Similarity) -> MetricSpace:
    """A space that knows a few classes, each from one random item."""
    prototypes = SupportMeans(dimension=int(encoder.dimension))  # type: ignore[arg-type]
    space = MetricSpace(encoder, similarity, prototypes, reader=reader).eval()
    z = embed(space, random_items(reader, CLASSES, seed=1))
    space.enroll_classes({f"class {place}": z[place : place + 1] for place in range(CLASSES)})
    return space


def measured(name: str) -> dict[str, object]:
    """What the question tells about a space, and with what it was measured."""
    torch.manual_seed(0)
    contents = export_contents(SPACES[name](), name=name)
    space = contents.space
    assert space.reader is not None
    items = random_items(space.reader, max(BATCHES))

    def check(portable: PortableSpace) -> dict[str, object]:
        times = latencies(space, portable, items, clock=time.process_time)
        return {
            "parity": [difference._asdict() for difference in differences(space, portable, items)],
            "latency": [{**latency._asdict(), "ratio": latency.ratio} for latency in times],
        }

    with tempfile.TemporaryDirectory() as folder:
        answer = write_export(contents, Path(folder) / name, check)
    files = {file: len(content) for file, content in contents.files.items()}
    machine = {
        "processor": platform.machine(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "onnxruntime": onnxruntime.__version__,
    }
    return {"space": name, "machine": machine, "files": files, "bytes": sum(files.values()), **answer}


def row(content: dict[str, object]) -> str:
    """A line of the table."""
    share = max(entry["difference"] / max(1.0, entry["largest"]) for entry in content["parity"])  # type: ignore[attr-defined]
    times = " | ".join(
        f"{entry['torch']:.2f} | {entry['onnxruntime']:.2f} | {entry['ratio']:.2f}"
        for entry in content["latency"]  # type: ignore[attr-defined]
    )
    return f"| {content['space']} | {content['bytes'] / 1e6:.2f} | {share:.0e} | {times} |"  # type: ignore[operator]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spaces", nargs="+", choices=list(SPACES), default=list(SPACES))
    parser.add_argument("--out", type=Path, help="a folder for one JSON file a space")
    chosen = parser.parse_args()
    for name in chosen.spaces:
        content = measured(name)
        print(row(content), flush=True)
        if chosen.out is not None:
            chosen.out.mkdir(parents=True, exist_ok=True)
            (chosen.out / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
