"""Images per second of training: samekind's loop, a plain PyTorch loop and pytorch-metric-learning's trainer.

    python benchmarks/training.py [--device cuda --model PreActResNet18 --batch 256] [--out results/training]

One network, one loss (softmax over the cosines to learned proxies), one augmentation (mirrored, and shifted
by up to 4 pixels), one optimiser and one precision, three ways, an epoch of each in turns. The plain loop has
the images on the device as bytes and is written to be quick; the trainer has them augmented one by one by the
workers of a DataLoader, as is usual with it. Validation and checkpoints are not timed. The ratios are the
result; the absolute numbers are this machine's.
"""

import argparse
import copy
import importlib.util
import json
import logging
import math
import os
import statistics
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.data import Items
from samekind.training import Batches, Nobody, Optimiser, Part, Parts, Run, Term, launch
from samekind.training.forward import forward_pass
from samekind.training.loop import Trainer
from samekind.training.run_folder import RunFolder

OURS, PLAIN, PEER = "samekind", "plain PyTorch", "pytorch-metric-learning"
WRAPPED = "samekind, Fabric's module"
CLASSES, DIMENSION, SCALE, PADDING = 100, 128, 16.0, 4
RATE, MOMENTUM, DECAY = 0.01, 0.9, 5e-4
EXTRA = {"EfficientNetLite": {"weights": False}}  # other packages, and no quicker with them


def synthetic(count: int, size: int) -> Items:
    """Coloured noise as bytes: what a network is shown does not change how long it takes."""
    draw = torch.Generator().manual_seed(0)
    images = torch.randint(256, (count, 3, size, size), dtype=torch.uint8, generator=draw)
    labels = torch.arange(count) % CLASSES
    return Items(images, labels, tuple(map(str, range(CLASSES))), "noise")


def run_for(arguments: argparse.Namespace, precision: str) -> Run:
    return Run(
        recipe="benchmark",
        space=Parts(
            Part(arguments.model, {"dimension": DIMENSION, **EXTRA.get(arguments.model, {})}),
            Part("Cosine", {"scale": {"name": "FixedScale", "value": SCALE}}),
            Part("LearnedProxies"),
        ),
        terms={"class": Term("softmax", against="prototypes")},
        batches=Batches("Shuffled", {"size": arguments.batch}),
        optimiser=Optimiser("SGD", rate=RATE, momentum=MOMENTUM, weight_decay=DECAY),
        epochs=arguments.rounds + 1,
        precision=precision,  # type: ignore[arg-type]
        augment=(Part("Flip"), Part("PadAndCrop", {"padding": PADDING})),
        channels_last=arguments.channels_last,
        try_convolutions=True,
        compile=arguments.compile,
    )


class Ours:
    """The loop of a run, without its validation and its checkpoints."""

    def __init__(
        self, arguments: argparse.Namespace, items: Items, folder: Path, precision: str, *, direct: bool
    ) -> None:
        fabric = launch(arguments.device, precision)  # type: ignore[arg-type]
        run = run_for(arguments, precision)
        self.trainer = Trainer(run, items, RunFolder(folder), fabric, lambda _: {"eer": 0.5}, Nobody(), None)
        learner = self.trainer.learner
        learner.forward = forward_pass(fabric, learner.wrapped, direct=direct)

    def epoch(self) -> float:
        began = time.perf_counter()
        self.trainer.train_epoch()  # its last look at the loss waits for the device
        seconds = time.perf_counter() - began
        self.trainer.close_epoch()
        return seconds

    def loss(self, x: Tensor, y: Tensor) -> float:
        z, _ = self.trainer.learner.forward(x)
        return float(self.trainer.learner.value(z, y).total)


class Plain:
    """What one writes by hand if nothing else is wanted."""

    def __init__(self, arguments: argparse.Namespace, items: Items, ours: Ours) -> None:
        device = ours.trainer.fabric.device
        self.images, self.labels = items.inputs.to(device), items.labels.to(device)  # type: ignore[union-attr]
        self.encoder: nn.Module = copy.deepcopy(ours.trainer.space.encoder)
        self.call = torch.compile(self.encoder) if arguments.compile else self.encoder
        self.proxies = nn.Parameter(ours.trainer.space.prototypes.vectors.detach()[:, 0].clone())
        parameters = [*self.encoder.parameters(), self.proxies]
        fused = device.type == "cuda"  # as samekind has it
        self.optimiser = torch.optim.SGD(
            parameters, lr=RATE, momentum=MOMENTUM, weight_decay=DECAY, fused=fused
        )
        self.batch, self.channels_last = arguments.batch, arguments.channels_last
        self.mixed = "bf16" in str(ours.trainer.fabric.strategy.precision.precision)

    def epoch(self) -> float:
        began = time.perf_counter()
        self.encoder.train()
        for rows in torch.randperm(len(self.images), device=self.images.device).split(self.batch):
            x, y = augmented(self.images[rows]), self.labels[rows]
            if self.channels_last:
                x = x.contiguous(memory_format=torch.channels_last)
            self.optimiser.zero_grad(set_to_none=True)
            self.cost(x, y).backward()
            self.optimiser.step()
        wait(self.images.device)
        return time.perf_counter() - began

    def cost(self, x: Tensor, y: Tensor) -> Tensor:
        with torch.autocast(x.device.type, torch.bfloat16, enabled=self.mixed):
            z = self.call(x)
        return F.cross_entropy(SCALE * F.normalize(z.float()) @ F.normalize(self.proxies).T, y)

    def loss(self, x: Tensor, y: Tensor) -> float:
        return float(self.cost(x, y))


def augmented(images: Tensor) -> Tensor:
    """Bytes (n, channels, height, width) mirrored and shifted by one gathering, and then as numbers."""
    count, channels, height, width = images.shape
    device = images.device
    top, left = torch.randint(2 * PADDING + 1, (2, count, 1), device=device)
    down = top + torch.arange(height, device=device)
    across = torch.arange(width, device=device)
    mirrored = torch.rand(count, 1, device=device) < 0.5
    across = left + torch.where(mirrored, across.flip(0), across)
    item = torch.arange(count, device=device)[:, None, None, None]
    channel = torch.arange(channels, device=device)[:, None, None]
    padded = F.pad(images, [PADDING] * 4)
    return padded[item, channel, down[:, None, :, None], across[:, None, None, :]].float().div_(255)


class Mixed(nn.Module):
    """An encoder in the precision of the others, as numbers of 32 bits."""

    def __init__(self, encoder: nn.Module, *, mixed: bool) -> None:
        super().__init__()
        self.encoder, self.mixed = encoder, mixed

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast(x.device.type, torch.bfloat16, enabled=self.mixed):
            z: Tensor = self.encoder(x)
        return z.float()


class Noise(torch.utils.data.Dataset[tuple[Tensor, int]]):
    """One image at a time, augmented."""

    def __init__(self, items: Items) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> tuple[Tensor, int]:
        image = self.items.inputs[place]  # type: ignore[index]
        top, left = torch.randint(2 * PADDING + 1, (2,)).tolist()
        height, width = image.shape[1:]
        image = F.pad(image, [PADDING] * 4)[:, top : top + height, left : left + width]
        image = image.flip(2) if float(torch.rand(())) < 0.5 else image
        return image.float().div_(255), int(self.items.labels[place])


class Peer:
    """The trainer; workers are started before the clock is."""

    def __init__(self, arguments: argparse.Namespace, items: Items, plain: Plain) -> None:
        import tqdm
        from pytorch_metric_learning import losses, trainers

        tqdm.tqdm = partial(tqdm.tqdm, disable=True)  # the bar of the trainer, which cannot be told
        logging.getLogger("PML").setLevel(logging.ERROR)
        warnings.filterwarnings("ignore", "Converting a tensor with requires_grad=True")  # once a step
        self.device, self.batch, self.count = plain.images.device, arguments.batch, len(items)
        self.loss_function = losses.NormalizedSoftmaxLoss(CLASSES, DIMENSION, temperature=1 / SCALE)
        self.loss_function.W.data.copy_(plain.proxies.detach().T)
        self.loss_function.to(self.device)
        self.model = Mixed(copy.deepcopy(plain.encoder), mixed=plain.mixed)
        optimisers = {
            f"{name}_optimizer": torch.optim.SGD(
                module.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=DECAY
            )
            for name, module in (("trunk", self.model), ("metric_loss", self.loss_function))
        }
        self.times: list[float] = []
        self.trainer = trainers.MetricLossOnly(
            models={"trunk": self.model},
            optimizers=optimisers,
            batch_size=arguments.batch,
            loss_funcs={"metric_loss": self.loss_function},
            dataset=Noise(items),
            data_device=self.device,
            dataloader_num_workers=workers_for(self.device),
            end_of_iteration_hook=lambda _: self.times.append(time.perf_counter()),
        )

    def epoch(self) -> float:
        """From the end of the first step, so as if all had taken as long as the others."""
        self.times.clear()
        self.trainer.train()
        wait(self.device)
        steps = len(self.times)
        return (time.perf_counter() - self.times[0]) * steps / (steps - 1)

    def loss(self, x: Tensor, y: Tensor) -> float:
        return float(self.loss_function(self.model(x), y))


def workers_for(device: torch.device) -> int:
    return 2 if device.type == "cpu" else os.cpu_count() or 1


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def check(ways: dict[str, Any], plain: Plain) -> None:
    """Before anything is timed: the same weights give the same loss, every way."""
    x, y = plain.images[:64].float() / 255, plain.labels[:64]
    with torch.no_grad():
        losses = {name: way.loss(x, y) for name, way in ways.items()}
    if max(losses.values()) - min(losses.values()) > 1e-2 * max(losses.values()):
        sys.exit(f"these are to be one loss: {losses}")


def measure(ways: dict[str, Any], rounds: int, *, at_most: float) -> dict[str, list[float]]:
    """Seconds of an epoch, each way in turns; a first round is not counted, and none but the second is begun
    after ``at_most`` seconds.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    began = time.perf_counter()
    for done in range(rounds + 1):
        if done > 1 and time.perf_counter() - began > at_most:
            break
        for name, way in ways.items():
            seconds[name].append(way.epoch())
            gone = time.perf_counter() - began
            print(f"{gone:6.1f} s: {name}, {seconds[name][-1]:.2f} s", file=sys.stderr, flush=True)
    return {name: times[1:] for name, times in seconds.items()}


def show(seconds: dict[str, list[float]], count: int) -> dict[str, dict[str, float]]:
    """Images a second, and how many times as many samekind does: medians over rounds."""
    print(f"{'':28}{'images/s':>12}{'samekind is':>14}")
    rows = {}
    for name, times in seconds.items():
        ratio = statistics.median(theirs / ours for ours, theirs in zip(seconds[OURS], times, strict=True))
        rows[name] = {"images per second": count / statistics.median(times), "samekind is": ratio}
        print(f"{name:28}{rows[name]['images per second']:>12,.0f}{ratio:>13.2f}x")
    return rows


def arguments_given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--model", choices=["PreActResNet18", "SmallConvnet", "EfficientNetLite"], default="SmallConvnet"
    )
    parser.add_argument(
        "--images", type=int, help="in an epoch; a multiple of the batch (1024; on a GPU 51,200)"
    )
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--at-most", type=float, default=math.inf, help="seconds after which no other round begins"
    )
    parser.add_argument("--precision", choices=["auto", "32-true", "bf16-mixed"], default="auto")
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--compile", action="store_true", help="samekind and the plain loop")
    parser.add_argument(
        "--wrapped", action="store_true", help="samekind through Fabric's module as well, as on many devices"
    )
    parser.add_argument("--no-peer", action="store_true", help="leave pytorch-metric-learning out")
    parser.add_argument("--out", type=Path, help="a folder to write the figures to as well")
    return parser.parse_args()


def name_of(arguments: argparse.Namespace, precision: str) -> str:
    """What was measured, so that no other measurement takes its place."""
    sizes = [f"{arguments.size}-pixels", f"batches-of-{arguments.batch}"]
    switches = [name for name in ("channels_last", "compile") if getattr(arguments, name)]
    device = arguments.device.replace(":", "")
    return "-".join([arguments.model, *sizes, precision, *switches, device]).replace("_", "-")


def main() -> None:
    arguments = arguments_given()
    images = arguments.images or (51_200 if arguments.device.startswith("cuda") else 1024)
    images = max(2, images // arguments.batch) * arguments.batch
    items = synthetic(images, arguments.size)
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True  # for all three
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(arguments, items, Path(folder), arguments.precision, direct=True)
        plain = Plain(arguments, items, ours)
        ways: dict[str, Any] = {OURS: ours, PLAIN: plain}
        if arguments.wrapped:
            ways[WRAPPED] = Ours(
                arguments, items, Path(folder) / "wrapped", arguments.precision, direct=False
            )
        if not arguments.no_peer and importlib.util.find_spec("pytorch_metric_learning"):
            ways[PEER] = Peer(arguments, items, plain)
        check(ways, plain)
        precision = "bf16-mixed" if plain.mixed else "float32"
        device = (
            torch.cuda.get_device_name() if plain.images.is_cuda else f"{torch.get_num_threads()} threads"
        )
        print(
            f"{arguments.model}, {images} images of {arguments.size} pixels, batches of {arguments.batch}, ",
            end="",
        )
        print(f"{precision}, {device}\n")
        seconds = measure(ways, arguments.rounds, at_most=arguments.at_most)
    rows = show(seconds, images)
    if PEER not in ways:
        print(f"{PEER:28}{'left out, or not installed here':>34}")
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        settings = {name: value for name, value in vars(arguments).items() if name not in ("out", "at_most")}
        figures = {
            **settings,
            "images": images,
            "rounds": len(seconds[OURS]),
            "precision": precision,
            "on": device,
            "torch": torch.__version__,
        }
        path = arguments.out / f"{name_of(arguments, precision)}.json"
        path.write_text(json.dumps({**figures, "ways": rows, "seconds": seconds}, indent=2) + "\n")


if __name__ == "__main__":
    main()
