"""Few-shot evaluation against easyfsl, and training by tasks against a plain loop, as ratios in one run.

    python benchmarks/few_shot.py [--device cpu] [--way 5] [--tasks 600] [--size 28] [--json FILE] [--quick]

First the two are compared on the same features and tasks: prototypical networks by the Euclidean distance
must give the same scores and answers. Then each draws its own tasks and evaluates them on cached features:
easyfsl as its documentation does (TaskSampler, DataLoader, evaluate), and fed with tasks that are ready, so
that only its arithmetic is timed. Ours draws, scores and gives an interval; the evaluation of a space, which
scores by the cosine as well, has a row of its own.

Many classes are enrolled at once, on a CPU, and asked about; the answers must be those of one product of
matrices. Training is of a Conv4 by one task a step, without augmentation, against a loop written by hand.
Times are medians of rounds taken in turns, on a CPU of the processor, because others may use the machine;
above 1 is in our favour.

easyfsl imports torchvision. Where that does not fit the PyTorch that is installed, put both into a folder of
their own (pip install --no-deps --target FOLDER easyfsl torchvision) and name it in PYTHONPATH. Without
easyfsl only training is compared.
"""

import argparse
import copy
import importlib
import importlib.util
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.allocator import keep_memory
from samekind.data import Items
from samekind.data.groups import groups_apart
from samekind.evaluation.few_shot import few_shot as evaluate_few_shot
from samekind.evaluation.task_heads import head_scores, task_accuracies
from samekind.evaluation.tasks import drawn_tasks
from samekind.inference import identify
from samekind.measures import Interval, normal_interval
from samekind.prototypes import SupportMeans
from samekind.recipes.few_shot import few_shot as few_shot_run
from samekind.samplers import Episode, episodes_at_once, stacked
from samekind.similarities import Cosine, Euclidean
from samekind.space import MetricSpace
from samekind.training import Nobody, launch
from samekind.training.loop import Trainer
from samekind.training.run_folder import RunFolder

#: A test set: as many classes as the novel half of CUB has, of as many items.
CLASSES, MEMBERS, QUERIES = 50, 60, 15
#: Of a training task, as in the paper on ratios of distances.
TRAINED_QUERIES, RATE = 16, 1e-3
SHOTS = (1, 5)

Task = tuple[Tensor, Tensor, Tensor, Tensor]


def features(dimension: int, device: str) -> Items:
    """Vectors around the centre of their class, so near that tasks are neither easy nor hopeless."""
    draw = torch.Generator().manual_seed(0)
    labels = torch.arange(CLASSES).repeat_interleave(MEMBERS)
    centres = torch.randn(CLASSES, dimension, generator=draw)
    z = 0.4 * centres[labels] + torch.randn(len(labels), dimension, generator=draw)
    return Items(z, labels, tuple(map(str, range(CLASSES))), "features").to(torch.device(device))


def space_of(dimension: int, device: str) -> MetricSpace:
    """Prototypical networks: cached features, means, the Euclidean distance."""
    space = MetricSpace(nn.Identity(), Euclidean(), SupportMeans(dimension=dimension))
    return space.eval().to(device)


# --- easyfsl ----------------------------------------------------------------------------------------


def easyfsl(part: str) -> Any:
    """A module of easyfsl, also where torchvision was built for another PyTorch, whose C++ is not needed, and
    where samplers no longer take their data, as easyfsl 1.5 gives it to them.
    """
    torch.utils.data.Sampler.__init__ = lambda self, data_source=None: None  # type: ignore[assignment, misc] # noqa: ARG005
    if "torchvision" not in sys.modules:
        try:
            importlib.import_module("torchvision")
        except (ImportError, OSError, RuntimeError):
            sys.modules.pop("torchvision", None)
            easyfsl.library = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[attr-defined]
            for name in ("nms", "qnms"):
                signature = f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
                easyfsl.library.define(signature)  # type: ignore[attr-defined]
    return importlib.import_module(f"easyfsl.{part}")


def ready(items: Items, tasks: Episode) -> list[Task]:
    """Tasks as easyfsl takes them: examples, their labels, queries, theirs."""
    way = tasks.support.shape[1]
    z: Any = items.inputs
    names = torch.arange(way, device=z.device)
    examples, queries = (names.repeat_interleave(places.shape[2]) for places in (tasks.support, tasks.query))
    return [
        (z[support.flatten()], examples, z[query.flatten()], queries)
        for support, query in zip(tasks.support, tasks.query, strict=True)
    ]


def equality(items: Items, *, way: int, tasks: int, device: str) -> dict[str, float]:
    """The largest difference of scores on the same tasks, and the share of answers that are the same."""
    space, peer = space_of(items.shape[0], device), easyfsl("methods").PrototypicalNetworks()
    worst, same = 0.0, []
    for shot in SHOTS:
        drawn = drawn_for(items, way=way, shot=shot, tasks=tasks)
        with torch.no_grad():
            ours = head_scores(space, items.inputs, drawn)  # type: ignore[arg-type]
            for scores, (support, labels, queries, _) in zip(ours, ready(items, drawn), strict=True):
                peer.process_support_set(support, labels)
                theirs = peer(queries)
                worst = max(worst, float((scores - theirs).abs().max()))
                same.append((scores.argmax(1) == theirs.argmax(1)).double().mean())
    return {"largest difference": worst, "answers alike": float(torch.stack(same).mean())}


def drawn_for(items: Items, *, way: int, shot: int, tasks: int) -> Episode:
    generator = torch.Generator().manual_seed(shot)
    labels = items.labels.cpu()
    return episodes_at_once(labels, way=way, shot=shot, queries=QUERIES, tasks=tasks, generator=generator)


def evaluations(
    items: Items, *, way: int, tasks: int, shot: int, device: str
) -> dict[str, Callable[[], Any]]:
    """Ways to evaluate so many tasks on cached features."""
    space, peer = space_of(items.shape[0], device), easyfsl("methods").PrototypicalNetworks()
    z: Any = items.inputs
    data = easyfsl("datasets").FeaturesDataset(items.labels.tolist(), list(z.cpu()), list(items.classes))
    sampler = easyfsl("samplers").TaskSampler(data, way, shot, QUERIES, tasks)
    loader = torch.utils.data.DataLoader(data, batch_sampler=sampler, collate_fn=sampler.episodic_collate_fn)
    at_hand = ready(items, drawn_for(items, way=way, shot=shot, tasks=tasks))
    utils = easyfsl("utils")

    @torch.no_grad()
    def on_ready_tasks() -> float:
        return sum(utils.evaluate_on_one_task(peer, *task)[0] for task in at_hand)

    @torch.no_grad()
    def by_the_distance() -> Interval:
        drawn = drawn_tasks(
            items, groups_apart(items), way=way, shot=shot, queries=QUERIES, tasks=tasks, seed=0
        )
        accuracies = [
            task_accuracies(space, z, Episode(*(part.to(device) for part in some)))
            for _, some in stacked(drawn)
        ]
        return normal_interval(torch.cat(accuracies).cpu())

    return {
        "samekind": by_the_distance,
        "samekind, cosine too": lambda: evaluate_few_shot(
            space, items, z, name="features", way=way, shots=(shot,), queries=QUERIES, tasks=tasks
        ),
        "easyfsl": lambda: utils.evaluate(peer, loader, device=device, use_tqdm=False),
        "easyfsl, tasks ready": on_ready_tasks,
    }


# --- many classes -----------------------------------------------------------------------------------


def many_classes(classes: int, clock: Callable[[], float], *, dimension: int = 128) -> dict[str, float]:
    """Seconds to enrol so many classes from five embeddings each, and to ask about one item of each; and the
    share of answers that are those of one product of matrices.
    """
    draw = torch.Generator().manual_seed(0)
    centres = torch.randn(classes, dimension, generator=draw)
    examples = centres[:, None] + 0.5 * torch.randn(classes, 5, dimension, generator=draw)
    asked = centres + 0.5 * torch.randn(classes, dimension, generator=draw)
    space = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=dimension)).eval()
    times = [clock()]
    space.enroll_classes({str(number): z for number, z in enumerate(examples)})
    times.append(clock())
    answers = identify(space, asked)
    times.append(clock())
    best = (F.normalize(asked) @ F.normalize(examples.mean(1)).T).argmax(1).tolist()
    alike = sum(answer.name == str(place) for answer, place in zip(answers, best, strict=True))
    return {
        "classes": classes,
        "seconds to enrol": times[1] - times[0],
        "seconds to identify": times[2] - times[1],
        "answers alike": alike / classes,
    }


# --- training ---------------------------------------------------------------------------------------


class Ours:
    """Steps of a run of the recipe `proto-softmax`, without its validation and its checkpoints."""

    def __init__(self, items: Items, folder: Path, *, way: int, steps: int, rounds: int, device: str) -> None:
        run = few_shot_run(items, classifier="softmax", way=way, queries=TRAINED_QUERIES)
        changes = [f"batches.steps={steps}", f"epochs={rounds}", "watch=eer", "validate=['verification']"]
        changes += ["precision=32-true", "space.standardise=none", f"optimiser.rate={RATE}", "augment=[]"]
        fabric = launch(device, "32-true")
        validate = lambda _: {"eer": 0.5}  # noqa: E731 (nothing is validated)
        self.trainer = Trainer(
            run.override(changes), items, RunFolder(folder), fabric, validate, Nobody(), None
        )

    def epoch(self) -> None:
        self.trainer.train_epoch()  # its last look at the loss waits for the device
        self.trainer.progress.epoch += 1
        self.trainer.progress.batch, self.trainer.progress.costs = 0, []


class Plain:
    """What one writes by hand: items on the device, one task a step."""

    def __init__(self, items: Items, ours: Ours, *, way: int, steps: int) -> None:
        device = ours.trainer.fabric.device
        self.images: Any = items.inputs.to(device)  # type: ignore[union-attr]
        self.members = torch.arange(len(items)).reshape(len(items.classes), -1)
        self.encoder: nn.Module = copy.deepcopy(ours.trainer.space.encoder)
        self.optimiser = torch.optim.Adam(self.encoder.parameters(), lr=RATE, fused=device.type == "cuda")
        self.way, self.steps, self.device = way, steps, device

    def epoch(self) -> None:
        self.encoder.train()
        truth = torch.arange(self.way, device=self.device).repeat_interleave(TRAINED_QUERIES)
        for _ in range(self.steps):
            rows = self.members[torch.randperm(len(self.members))[: self.way]]
            order = torch.rand(rows.shape).argsort(1)[:, : 1 + TRAINED_QUERIES]
            x = self.images[rows.gather(1, order).flatten().to(self.device)].float().div_(255)
            z = self.encoder(x).reshape(self.way, 1 + TRAINED_QUERIES, -1)
            prototypes, queries = z[:, :1].mean(1), z[:, 1:].flatten(0, 1)
            self.optimiser.zero_grad(set_to_none=True)
            F.cross_entropy(-torch.cdist(queries, prototypes).square(), truth).backward()
            self.optimiser.step()
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def pictures(size: int) -> Items:
    """Noise as bytes: what a network is shown does not change how long it takes."""
    draw = torch.Generator().manual_seed(0)
    images = torch.randint(256, (CLASSES * 20, 3, size, size), dtype=torch.uint8, generator=draw)
    labels = torch.arange(CLASSES).repeat_interleave(20)
    return Items(images, labels, tuple(map(str, range(CLASSES))), "noise")


# --- times ------------------------------------------------------------------------------------------


def seconds_of(
    ways: dict[str, Callable[[], Any]], rounds: int, clock: Callable[[], float]
) -> dict[str, list[float]]:
    """Seconds of each way in turns; a first round is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            began = clock()
            way()
            seconds[name].append(clock() - began)
    return {name: times[1:] for name, times in seconds.items()}


def rows_of(what: str, seconds: dict[str, list[float]], count: int) -> list[dict[str, Any]]:
    """A row a way: how many a second, and how many times as fast samekind is, round by round."""
    ours = seconds["samekind"]
    return [
        {
            "what": what,
            "way": name,
            "per second": count / statistics.median(times),
            "samekind is": statistics.median(b / a for a, b in zip(ours, times, strict=True)),
        }
        for name, times in seconds.items()
    ]


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    device, way = arguments.device, arguments.way
    settings = {name: value for name, value in vars(arguments).items() if name != "json"}
    result: dict[str, Any] = {"settings": settings, "torch": torch.__version__}
    rows: list[dict[str, Any]] = []
    clock = time.process_time if device == "cpu" else time.perf_counter
    keep_memory()  # as the program does, for all that is compared
    if importlib.util.find_spec("easyfsl") is not None:
        items = features(arguments.dimension, device)
        result["equality"] = equality(items, way=way, tasks=min(arguments.tasks, 200), device=device)
        for shot in SHOTS:
            ways = evaluations(items, way=way, tasks=arguments.tasks, shot=shot, device=device)
            taken = seconds_of(ways, arguments.rounds, clock)
            rows += rows_of(f"evaluation, {way}-way {shot}-shot", taken, arguments.tasks)
    else:
        print("easyfsl is not installed: only training is compared", file=sys.stderr)
    result["many classes"] = many_classes(arguments.classes, clock)
    with tempfile.TemporaryDirectory() as folder:
        items, steps = pictures(arguments.size), arguments.steps
        run = Ours(items, Path(folder), way=way, steps=steps, rounds=arguments.rounds + 1, device=device)
        plain = Plain(items, run, way=way, steps=steps)
        taken = seconds_of({"samekind": run.epoch, "plain loop": plain.epoch}, arguments.rounds, clock)
        rows += rows_of(f"training, Conv4 at {arguments.size} pixels, {way}-way 1-shot", taken, steps)
    return {**result, "rows": rows}


def show(result: dict[str, Any]) -> None:
    if "equality" in result:
        told = result["equality"]
        print(
            f"prototypical networks of both: scores differ by {told['largest difference']:.1e} at most, "
            f"{told['answers alike']:.3%} of the answers are alike"
        )
    many = result["many classes"]
    print(
        f"{many['classes']:,} classes: {many['seconds to enrol']:.2f} s to enrol, as many items named in "
        f"{many['seconds to identify']:.2f} s, {many['answers alike']:.3%} of the answers exact"
    )
    for row in result["rows"]:
        print(
            f"{row['what']:45} {row['way']:22} {row['per second']:10.1f} tasks/s, "
            f"samekind {row['samekind is']:.2f}x"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--way", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=600)
    parser.add_argument("--dimension", type=int, default=512)
    parser.add_argument("--size", type=int, default=28, help="pixels of a side, in training")
    parser.add_argument("--steps", type=int, default=50, help="training steps of a round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--classes", type=int, default=5000, help="classes that are enrolled at once")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="a few tasks and steps")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.tasks, arguments.steps, arguments.rounds = 50, 4, 2
    torch.set_num_threads(arguments.threads)
    result = measure(arguments)
    show(result)
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
