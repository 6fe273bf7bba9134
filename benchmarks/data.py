"""Decoded and augmented images per second: samekind's way to a batch against a plain Dataset and DataLoader.

    python benchmarks/data.py [--images 2000] [--size 96] [--repeats 5] [--workers 2] [--out results/data]

Both do the same to every image: decode the file, cut out a window of 8 to 100% of its area, stretch it back,
mirror every other one, and change brightness, contrast and saturation by up to 40%. samekind decodes with
threads, four batches ahead, and augments whole batches; the plain way does it image by image with Pillow in
worker processes that stay alive between epochs, and hands bytes over, which become floats in the main
process. Both get the same two cores: two threads that decode beside the one that augments, or two
processes. A last comparison leaves the decoding out: the images lie in memory as bytes, and one thread that
augments has two processes against it. Epochs are taken in turns; the ratios of the medians are the result,
the absolute numbers are this machine's. The cores should have nothing else to do. What the processors spend
on an image, in this process and in the workers, is given as well: it says how much work there is, and
depends less on what else the machine does; the images per second say how well the work is shared out too.
"""

import argparse
import json
import math
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageEnhance
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from samekind.augmentations import ColourJitter, Flip, RandomResizedCrop, augment, step_generator
from samekind.data import ImageReader, Stored, scaled
from samekind.data.stored import fetched
from samekind.storage import write_text

BATCH = 64
CORES = 2
AUGMENTATIONS = [RandomResizedCrop(), Flip(), ColourJitter()]


class PlainImages(Dataset[Tensor]):
    """One image after another, with Pillow: from files, or from bytes in memory."""

    def __init__(self, source: list[Path] | np.ndarray, size: int) -> None:
        self.source = source
        self.size = size

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, index: int) -> Tensor:
        stored = self.source[index]
        if isinstance(stored, Path):
            with Image.open(stored) as opened:
                image = opened.convert("RGB")
        else:
            image = Image.fromarray(stored)
        image = image.resize((self.size, self.size), Image.Resampling.BILINEAR, box=window(*image.size))
        if torch.rand(()) < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        changes = (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color)
        for place in torch.randperm(len(changes)).tolist():
            image = changes[place](image).enhance(0.6 + 0.8 * float(torch.rand(())))
        return torch.from_numpy(np.array(image)).permute(2, 0, 1)


def window(width: int, height: int) -> tuple[float, float, float, float]:
    """A random part of an image: left, top, right, bottom."""
    for _ in range(10):
        area = width * height * (0.08 + 0.92 * float(torch.rand(())))
        ratio = math.exp((2 * float(torch.rand(())) - 1) * math.log(4 / 3))
        across, along = math.sqrt(area * ratio), math.sqrt(area / ratio)
        if across <= width and along <= height:
            left, top = (width - across) * float(torch.rand(())), (height - along) * float(torch.rand(()))
            return left, top, left + across, top + along
    return 0.0, 0.0, float(width), float(height)


def ours(inputs: Tensor | Stored, epoch: int) -> Iterator[Tensor]:
    """The batches of an epoch as the training loop makes them."""
    order = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(epoch)).split(BATCH)
    for step, batch in enumerate(fetched(inputs, order)):
        yield augment(scaled(batch), AUGMENTATIONS, generator=step_generator(epoch, step))


def plain(source: list[Path] | np.ndarray, size: int) -> Callable[[int], Iterator[Tensor]]:
    """The batches of an epoch by a DataLoader with two workers that stay alive."""
    loader = DataLoader(
        PlainImages(source, size), BATCH, shuffle=True, num_workers=CORES, persistent_workers=True
    )

    def batches(_: int) -> Iterator[Tensor]:
        for batch in loader:
            yield batch.float() / 255

    return batches


def make_folder(folder: Path, images: int, size: int, suffix: str) -> list[Path]:
    """Files of smooth colourful pictures, which compress about as photographs do."""
    generator = torch.Generator().manual_seed(0)
    paths = [folder / f"{place}.{suffix}" for place in range(images)]
    for path in paths:
        rough = torch.rand(1, 3, 12, 12, generator=generator)
        smooth = torch.nn.functional.interpolate(rough, (size, size), mode="bicubic", align_corners=False)
        grain = 0.04 * torch.randn(smooth.shape, generator=generator)
        pixels = ((smooth + grain).clamp(0, 1)[0] * 255).to(torch.uint8).permute(1, 2, 0).numpy()
        Image.fromarray(pixels).save(path, quality=90)
    return paths


def seconds() -> float:
    """What the processors have spent on this process and on the workers it has now.

    Elsewhere than on Linux nothing is known of workers that still live, and the answer is NaN.
    """
    if not Path("/proc/self/stat").exists():
        return math.nan
    spent = time.process_time()
    for child in multiprocessing.active_children():
        # After the program's name, which may hold anything, user and system time are the 12th and 13th.
        fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        spent += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


def costs_of(epoch: Iterator[Tensor], images: int, size: int) -> tuple[float, float]:
    """Seconds an epoch takes, on the clock and of the processors; that every batch is floats of the right
    shape is looked at on the way.
    """
    began, spent, seen = time.perf_counter(), seconds(), 0
    for batch in epoch:
        assert batch.dtype == torch.float32
        assert batch.shape[1:] == (3, size, size)
        seen += len(batch)
    assert seen == images
    return time.perf_counter() - began, seconds() - spent


def compare(ways: dict[str, Callable[[int], Iterator[Tensor]]], images: int, size: int, repeats: int) -> dict:
    """Images per second of each way, as medians of epochs taken in turns; the first of each warms up."""
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for epoch in range(repeats + 1):
        for name, way in ways.items():
            taken = costs_of(way(epoch), images, size)
            if epoch:
                costs[name].append(taken)
    speeds = {name: [images / seconds for seconds, _ in taken] for name, taken in costs.items()}
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    spent = {name: statistics.median(seconds for _, seconds in taken) for name, taken in costs.items()}
    ratios = [one / other for one, other in zip(speeds["samekind"], speeds["plain"], strict=True)]
    return {
        "images per second": {name: round(speed, 1) for name, speed in medians.items()},
        "ratio": round(medians["samekind"] / medians["plain"], 2),
        "lowest and highest ratio": [round(min(ratios), 2), round(max(ratios), 2)],
        "processor milliseconds per image": {
            name: None if math.isnan(seconds) else round(1000 * seconds / images, 3)
            for name, seconds in spent.items()
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--workers", type=int, default=CORES, help="threads that decode; 0: samekind's choice"
    )
    parser.add_argument("--out", type=Path, help="a folder to write the figures to as well")
    arguments = parser.parse_args()
    images, size = arguments.images, arguments.size
    if hasattr(os, "sched_setaffinity"):  # where it can be said, both ways get the same two cores
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    torch.set_num_threads(1)
    figures: dict[str, object] = {"images": images, "size": size, "batch": BATCH, "cores": CORES}
    figures["threads that decode"] = arguments.workers
    with tempfile.TemporaryDirectory() as name:
        reader = ImageReader(height=size, width=size, channels=3)
        for suffix in ("jpg", "png"):
            paths = make_folder(Path(name), images, size, suffix)
            stored = Stored(paths, reader, workers=arguments.workers)
            ways = {"samekind": lambda epoch, stored=stored: ours(stored, epoch), "plain": plain(paths, size)}
            figures[suffix] = compare(ways, images, size, arguments.repeats)
        pixels = stored[:]
    array = pixels.permute(0, 2, 3, 1).contiguous().numpy()
    ways = {"samekind": lambda epoch: ours(pixels, epoch), "plain": plain(array, size)}
    figures["memory"] = compare(ways, images, size, arguments.repeats)
    print(json.dumps(figures, indent=2))
    if arguments.out:
        write_text(arguments.out / "augmented.json", json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
