"""One run of the study, written down as one JSON."""

import json
import time
from typing import Any

import torch
from about import everything, of_distances, of_vectors, prototypes_of
from grid import UNTRAINED, Experiment
from grids.running import Place, not_now
from sets import living, sets_of
from systems import run_of
from torch import Tensor
from torch.nn.functional import normalize

from samekind.data import Items, Sets, scaled
from samekind.prototypes import class_means
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import Run, build_space
from samekind.training.acceleration import batches_on
from samekind.training.build import build_sampler
from samekind.training.class_tree import turn_prototypes
from samekind.training.fabric import Fabric, current, launch
from samekind.training.learner import Learner

#: Items that are embedded at once; pixels a side of the pictures that are compared as they are.
AT_ONCE, INPUT_PIXELS = 512, 32


def carry_out(experiment: Experiment, place: Place) -> str:
    """Carry out the run, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    sets = sets_of(experiment, place)
    assert sets.tree is not None
    classes = list(sets.train.classes)
    context = {
        "distances": sets.tree.distances(classes),
        "living": living(experiment.data, sets.tree, classes),
        "train labels": sets.train.labels,
        "test labels": sets.test.labels,
        "seed": experiment.seed,
    }
    began = time.perf_counter()
    content = _untrained(experiment, sets, place, context)
    if content is None:
        content = _trained(experiment, sets, place, context)
    content |= {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "items": {"train": len(sets.train), "test": len(sets.test), "classes": len(classes)},
        "seconds": {**content.get("seconds", {}), "all": time.perf_counter() - began},
        "torch": torch.__version__,
    }
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    figures = content["measures"]
    shown = ("top-1", "top-5", "AHD@5", "HP@5", "MC proxies", "MC prototypes")
    return ", ".join(f"{name} {figures[name]:.3f}" for name in shown if name in figures)


def _trained(
    experiment: Experiment, sets: Sets, place: Place, context: dict[str, Any]
) -> dict[str, Any] | None:
    run = run_of(experiment, sets.train, place)
    fabric = launch(place.device, run.precision)
    began = time.perf_counter()
    with current(fabric.device):
        torch.manual_seed(run.seed)
        space, epochs = _taught(run, sets.train, fabric, context)
        if fabric.device.type == "cuda":
            torch.cuda.synchronize()
        training = time.perf_counter() - began
        measures = _measured(space, sets, fabric, context, proxies=True)
    return {
        "run": run.to_dict(),
        "epochs": epochs,
        "measures": measures,
        "scale": float(space.similarity.scale()),
        "seconds": {"training": training},
    }


def _taught(
    run: Run, items: Items, fabric: Fabric, context: dict[str, Any]
) -> tuple[MetricSpace, list[dict[str, float]]]:
    """The space after the last epoch, and the correlation of its proxies with the tree after each. The steps
    are those of `samekind.training.train`; there are no checkpoints, as a run takes seconds.
    """
    space = build_space(run, items)
    turn_prototypes(space, items)
    sampler = build_sampler(run, items.labels.cpu())
    learner = Learner(run, space, items, fabric, batches=len(sampler))
    number, epochs = 0, []
    for epoch in range(run.epochs):
        learner.begin_epoch(epoch)
        with learner.training():
            for indices in batches_on(fabric.device, sampler.batches(epoch)):
                learner.step(items.inputs[indices], items.labels[indices], number=number)
                number += 1
        proxies = space.prototypes.vectors[:, 0].detach()
        epochs.append(of_vectors(proxies, context["distances"], None, name="proxies"))
    return space.eval(), epochs


def _untrained(
    experiment: Experiment, sets: Sets, place: Place, context: dict[str, Any]
) -> dict[str, Any] | None:
    """Features of a network that learned nothing here, or the pixels; None for a system that is trained."""
    if experiment.system not in UNTRAINED:
        return None
    if experiment.system == "input":
        train, test = (_pixels(items.inputs) for items in (sets.train, sets.test))
        prototypes = prototypes_of(train, sets.train.labels, len(sets.train.classes), seed=experiment.seed)
        scores = normalize(test.float(), dim=1) @ prototypes.T
        measures = everything(scores, test, train, None, context) | _of_mean_pictures(train, context)
        return {"run": None, "measures": measures}
    run = run_of(experiment, sets.train, place)
    fabric = launch(place.device, run.precision)
    with current(fabric.device):
        torch.manual_seed(run.seed)
        space = build_space(run, sets.train).to(fabric.device).eval()
        return {"run": None, "measures": _measured(space, sets, fabric, context, proxies=False)}


def _of_mean_pictures(train: Tensor, context: dict[str, Any]) -> dict[str, float]:
    """The correlations of the mean picture of each class as it is, with no vector brought to length 1."""
    means, _ = class_means(train.cpu(), context["train labels"].cpu(), len(context["distances"]))
    distances, living = context["distances"], context["living"]
    return of_distances(torch.cdist(means, means), distances, living, name="mean pictures")


def _measured(
    space: MetricSpace, sets: Sets, fabric: Fabric, context: dict[str, Any], *, proxies: bool
) -> dict[str, float]:
    """All measures of a space; without proxies the class scores are those against the prototypes."""
    train, test = (_embedded(space, items, fabric) for items in (sets.train, sets.test))
    if not proxies:
        prototypes = prototypes_of(train, sets.train.labels, len(sets.train.classes), seed=context["seed"])
        return everything(normalize(test, dim=1) @ prototypes.T, test, train, None, context)
    with torch.no_grad():
        scores = space.score_classes(test)
    return everything(scores, test, train, space.prototypes.vectors[:, 0].detach(), context)


@torch.no_grad()
def _embedded(space: MetricSpace, items: Items, fabric: Fabric) -> Tensor:
    """The embeddings of all items (n, d), on the device."""
    parts = []
    for start in range(0, len(items), AT_ONCE):
        x = scaled(items.inputs[start : start + AT_ONCE].to(fabric.device))
        with fabric.autocast():
            parts.append(space.embed(x).float())
    return torch.cat(parts)


def _pixels(inputs: Tensor) -> Tensor:
    """Pictures as vectors, (n, channels x 32 x 32)."""
    parts = [scaled(part).float() for part in inputs.split(AT_ONCE)]
    small = [torch.nn.functional.interpolate(part, INPUT_PIXELS, mode="area") for part in parts]
    return torch.cat(small).flatten(1)
