"""One run of the study, written down as one JSON."""

import json
import time
from pathlib import Path
from typing import Any

import torch
from grid import BOTH, SHOTS, Experiment
from grids.running import Place, not_now
from sets import Parts, parts_of
from systems import run_of
from teaching import Stopped, taught
from torch import Tensor

from samekind.data import Items, scaled
from samekind.evaluation.task_heads import TaskHead, task_accuracies
from samekind.inference import fit_similarities
from samekind.measures import normal_interval
from samekind.samplers import Episode, episodes_at_once
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import Run, build_space
from samekind.training.acceleration import batches_on, lay_out
from samekind.training.build import build_sampler
from samekind.training.fabric import Fabric, current, launch
from samekind.training.learner import Learner

#: Tasks of the test, and queries of a class in them; in a trial.
TEST_TASKS, TEST_QUERIES, QUICK_TASKS, QUICK_QUERIES = 600, 15, 20, 4
#: Items that are embedded at once; on a CPU so few that they stay near its cache: four times as quick as 256.
AT_ONCE, AT_ONCE_ON_CPU = 256, 64
#: Queries of a batch that is centred.
CENTRED = 24
#: The seed of the tasks of the test, the same for all systems.
TEST_SEED = 10
#: Tasks are scored so many at a time.
TASKS_AT_ONCE = 100


def carry_out(experiment: Experiment, place: Place) -> str:
    """Carry out the run, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    began = time.perf_counter()
    parts = parts_of(experiment, place)
    run = run_of(experiment, parts.train, place)
    fabric = launch(place.device, run.precision)
    with current(fabric.device):
        try:
            way = _house if experiment.system == "house" else _by_tasks
            content = way(experiment, run, parts, fabric, place)
        except Stopped as stopped:
            return str(stopped)
    content |= {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "run": run.to_dict(),
        "items": {
            name: {"items": len(items), "classes": len(items.classes)}
            for name, items in parts._asdict().items()
        },
        "seconds": {**content.get("seconds", {}), "all": time.perf_counter() - began},
        "device": place.device,
        "torch": torch.__version__,
    }
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    _store(experiment, place).unlink(missing_ok=True)
    told = ", ".join(f"{name} {100 * row['mean']:.2f}" for name, row in content["test"].items())
    return f"{told}; {content['seconds'].get('training', 0):.0f} s of training"


def _by_tasks(experiment: Experiment, run: Run, parts: Parts, fabric: Fabric, place: Place) -> dict[str, Any]:
    """Trained by tasks; the best checkpoint is tested by tasks of as many shots."""
    head = TaskHead(by={"nearest": "nearest", "matching": "sum"}.get(experiment.recipe.split("-")[0], "mean"))
    setting = experiment.setting(place.quick)

    def validate(learner: Learner, checkpoint: int) -> float:
        tasks = drawn(
            parts.validation,
            way=setting.asked_way,
            shot=experiment.shot,
            queries=setting.queries,
            tasks=setting.tasks,
            seed=1000 * experiment.seed + checkpoint,
        )
        used, places = torch.cat([tasks.support, tasks.query], 2).unique(return_inverse=True)
        with learner.training():  # as quickly as steps are taken
            z = embedded(learner.space.eval(), parts.validation.inputs[used.to(fabric.device)], fabric)
        asked = Episode(tasks.classes, places[..., : experiment.shot], places[..., experiment.shot :])
        return float(accuracies(learner.space, z, asked, head).mean())

    store, deadline = _store(experiment, place), place.deadline
    space, progress = taught(run, parts.train, fabric, validate, store=store, deadline=deadline)
    z, tests = embedded(space, parts.test.inputs, fabric), test_tasks(experiment, parts.test, place)
    test = {name: summed(accuracies(space, z, tasks, head)) for name, tasks in tests.items()}
    for other in _other_heads(experiment):
        name = f"5-way {experiment.shot}-shot"
        test[f"{name}, {other.name}"] = summed(accuracies(space, z, tests[name], other))
    start = _untrained(run, parts, fabric, tests, head)
    rounded = {name: [round(value, 5) for value in values] for name, values in progress.curves.items()}
    return {
        "test": test,
        "untrained": start,
        "checkpoints": rounded,
        "best": progress.best + 1,
        "episodes": run.epochs * int(run.batches.arguments["steps"]),
        "seconds": {"training": progress.seconds},
    }


def _store(experiment: Experiment, place: Place) -> Path:
    """The file of a training that is not done. That of a trial lies elsewhere: both may run at a time."""
    return (place.work / "quick" if place.quick else place.work) / f"{experiment.name}.pt"


def _other_heads(experiment: Experiment) -> list[TaskHead]:
    """Heads that answer by the embeddings of prototypical networks as well."""
    if experiment.recipe not in BOTH:
        return []
    several = [TaskHead(by="nearest"), TaskHead(by="votes")] if experiment.shot > 1 else []
    return [TaskHead("cosine"), TaskHead("cosine", centre=CENTRED), *several]


def _untrained(
    run: Run, parts: Parts, fabric: Fabric, tests: dict[str, Episode], head: TaskHead
) -> dict[str, dict[str, float]]:
    """The same network with the weights it began with."""
    torch.manual_seed(run.seed)
    space = build_space(run, parts.train).to(fabric.device).eval()
    lay_out(space.encoder, channels_last=run.channels_last)
    z = embedded(space, parts.test.inputs, fabric)
    return {name: summed(accuracies(space, z, tasks, head)) for name, tasks in tests.items()}


def _house(experiment: Experiment, run: Run, parts: Parts, fabric: Fabric, place: Place) -> dict[str, Any]:
    """The pretrained network, as it is and trained on the base classes; in both only prototypes are new."""
    torch.manual_seed(run.seed)
    space = build_space(run, parts.train).to(fabric.device).eval()
    test = _fitted(space, parts, fabric, experiment, place, name="frozen")
    torch.manual_seed(run.seed)
    space, began = build_space(run, parts.train), time.perf_counter()
    sampler = build_sampler(run, parts.train.labels.cpu())
    learner, number = Learner(run, space, parts.train, fabric, batches=len(sampler)), 0
    for epoch in range(run.epochs):
        learner.begin_epoch(epoch)
        with learner.training():
            for indices in batches_on(fabric.device, sampler.batches(epoch)):
                learner.step(parts.train.inputs[indices], parts.train.labels[indices], number=number)
                number += 1
    if fabric.device.type == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - began
    test |= _fitted(space.eval(), parts, fabric, experiment, place, name="tuned")
    return {"test": test, "untrained": {}, "episodes": 0, "seconds": {"training": seconds}}


def _fitted(
    space: MetricSpace, parts: Parts, fabric: Fabric, experiment: Experiment, place: Place, *, name: str
) -> dict[str, dict[str, float]]:
    """The tasks by the cosine, by a similarity fitted to the base classes, and by the normalised one."""
    z = embedded(space, parts.test.inputs, fabric)
    fit_similarities(
        space, embedded(space, parts.train.inputs, fabric), parts.train.labels, seed=experiment.seed
    )
    heads = {kind: TaskHead(kind) for kind in space.kinds}
    heads["similarity, centred in turn"] = TaskHead(centre=CENTRED)
    return {
        f"{name}, {words}, {shots}": summed(accuracies(space, z, tasks, head))
        for words, head in heads.items()
        for shots, tasks in test_tasks(experiment, parts.test, place).items()
    }


def test_tasks(experiment: Experiment, items: Items, place: Place) -> dict[str, Episode]:
    """The tasks of the test, the same for all systems and seeds."""
    count, queries = (QUICK_TASKS, QUICK_QUERIES) if place.quick else (TEST_TASKS, TEST_QUERIES)
    shots = (experiment.shot,) if experiment.shot else SHOTS
    ways = (5,) if experiment.birds else (5, 20)
    tasks = {
        f"{way}-way {shot}-shot": drawn(
            items, way=way, shot=shot, queries=queries, tasks=count, seed=TEST_SEED
        )
        for way in ways
        for shot in shots
    }
    if not experiment.birds and experiment.shot == 1:
        tasks["20-way 1-shot, within an alphabet"] = within_alphabets(items, tasks=count, seed=TEST_SEED)
    return tasks


def drawn(items: Items, *, way: int, shot: int, queries: int, tasks: int, seed: int) -> Episode:
    """Random tasks; of a class with few pictures fewer queries than asked for would be left, so all have
    as many as the smallest allows.
    """
    labels = items.labels.cpu()
    fewest = int(torch.bincount(labels).min())
    return episodes_at_once(
        labels,
        way=way,
        shot=shot,
        queries=min(queries, fewest - shot),
        tasks=tasks,
        generator=torch.Generator().manual_seed(seed),
    )


def within_alphabets(items: Items, *, tasks: int, seed: int) -> Episode:
    """Lake et al.: 20 characters of one alphabet, not rotated, an example of each by one person, and one
    drawing of each by another person to be named.
    """
    generator = torch.Generator().manual_seed(seed)
    upright = [name for name in items.classes if name.endswith(", 0")]
    alphabets: dict[str, list[int]] = {}
    for name in upright:
        alphabets.setdefault(name.partition("/")[0], []).append(items.classes.index(name))
    labels = items.labels.cpu()
    chosen, support, query = [], [], []
    large = [characters for characters in alphabets.values() if len(characters) >= 20]
    for number in range(tasks):
        characters = large[number % len(large)]
        order = torch.randperm(len(characters), generator=generator)[:20]
        classes = torch.tensor(characters)[order]
        people = torch.randperm(20, generator=generator)[:2]
        rows = torch.stack([(labels == label).nonzero().flatten()[people] for label in classes])
        chosen.append(classes)
        support.append(rows[:, :1])
        query.append(rows[:, 1:])
    return Episode(torch.stack(chosen), torch.stack(support), torch.stack(query))


@torch.no_grad()
def accuracies(space: MetricSpace, z: Tensor, tasks: Episode, head: TaskHead) -> Tensor:
    """The accuracy of each task (tasks,), some of them at a time."""
    parts = zip(*(part.to(z.device).split(TASKS_AT_ONCE) for part in tasks), strict=True)
    return torch.cat([task_accuracies(space, z, Episode(*some), head) for some in parts]).cpu()


def summed(values: Tensor) -> dict[str, float]:
    """The mean over tasks, and the half width of its 95% interval, 1.96 deviations over the root of them."""
    mean, low, high = normal_interval(values)
    return {"mean": mean, "half": (high - low) / 2, "tasks": len(values)}


@torch.no_grad()
def embedded(space: MetricSpace, inputs: Tensor, fabric: Fabric) -> Tensor:
    """The embeddings of items (n, …), on the device: (n, d). The last ones are filled up to as many as were
    embedded at a time before: a compiled network is compiled for each shape.
    """
    parts, at_once = [], AT_ONCE_ON_CPU if fabric.device.type == "cpu" else AT_ONCE
    for some in inputs.split(at_once):
        x = scaled(some.to(fabric.device))
        full = torch.cat([x, x.new_zeros(at_once - len(x), *x.shape[1:])])
        with fabric.autocast():
            parts.append(space.embed(full)[: len(x)].float())
    return torch.cat(parts)
