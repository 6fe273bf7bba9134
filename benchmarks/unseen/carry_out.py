"""One run of the grid: trained, asked about the classes it never saw, written down as one JSON."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from grid import Experiment
from grids.birds import birds
from grids.running import Place, chosen_epoch, epochs_in, not_now, run_on
from torch import Tensor

from samekind.data import Items, Sets
from samekind.encoders import EfficientNetLite, Views
from samekind.evaluation import Row, clustering, query_gallery, retrieval, validation, verification
from samekind.inference import embed, search
from samekind.inference.compress import directions
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import Run, RunFolder, build_space, train
from samekind.training.checkpoints import load_checkpoint

RANKS = (1, 2, 4, 8)


def carry_out(experiment: Experiment, place: Place) -> str:
    """Train and measure, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    sets, full = (
        birds(place, size=experiment.size, seed=experiment.seed, full=full) for full in (False, True)
    )
    run = None if experiment.run is None else run_on(experiment.run, place)
    content = {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "size": experiment.size,
        "run": None if run is None else run.to_dict(),
        "items": {"train": len(full.train), "validation": len(sets.validation), "test": len(_test(sets))},
        "torch": torch.__version__,
    }
    if run is None:
        content |= untrained(experiment, full, place)
    else:
        content |= trained(experiment, run, sets, full, place)
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    # Only now: checkpoints of a hundred megabytes, which nobody needs any more.
    shutil.rmtree(place.work / experiment.name, ignore_errors=True)
    recall = next(row["value"] for row in content["rows"] if row["measure"] == "Recall@1")
    seconds = [f"{spent:.0f} s of {name}" for name, spent in content["seconds"].items()]
    return ", ".join([f"Recall@1 {100 * recall:.1f}", *seconds])


def trained(experiment: Experiment, run: Run, sets: Sets, full: Sets, place: Place) -> dict[str, Any]:
    """What a space says of the test classes: a first training without some families chooses the number of
    epochs by their MAP@R, a second one with all classes is that long. The last epoch of the first stands
    beside it. Either training goes on from its checkpoint where it was stopped.
    """
    folder, began = place.work / experiment.name, time.perf_counter()
    validate = validation(sets.validation, run.validate, watch=run.watch)
    space = _trained(experiment, run, sets.train, validate, folder / "choice", place.device)
    chosen = chosen_epoch(folder / "choice")
    final = neighbours(of_last_epoch(space, folder / "choice"), _test(sets), seed=run.seed)
    whole = replace(run, epochs=chosen["epoch"], keep="last")
    # Its validation classes are among the training items: nothing is asked about them.
    space = _trained(experiment, whole, full.train, lambda _: {run.watch: 0.0}, folder / "all", place.device)
    over = time.perf_counter()
    return {
        **about(space, _test(sets), seed=run.seed),
        "final": [row._asdict() for row in final],
        "chosen": chosen,
        "epochs": [kept(entry) for entry in epochs_in(folder / "choice")],
        "seconds": {"training": over - began, "evaluation": time.perf_counter() - over},
    }


def _trained(
    experiment: Experiment,
    run: Run,
    items: Items,
    validate: Callable[[MetricSpace], dict[str, float]],
    folder: Path,
    device: str,
) -> MetricSpace:
    """A space trained from the start that the experiment names."""
    start = from_directions(run, items, device) if experiment.directions else None
    space = train(run, items, folder=folder, validate=validate, device=device, start=start)
    return space.to(device)


def of_last_epoch(space: MetricSpace, folder: Path) -> MetricSpace:
    """The space as it is at the last epoch of a run, in place of the one that was chosen."""
    space.load_state_dict(load_checkpoint(RunFolder(folder).last)["states"]["space"])
    return space


def from_directions(run: Run, items: Items, device: str) -> MetricSpace:
    """The space of a run whose embedding layer begins with the principal directions of the features that the
    pretrained network gives these items, in place of random numbers: before its first step it is the
    untrained reference.
    """
    space = build_space(run, items).to(device).eval()
    layer = space.encoder.embedding
    with torch.no_grad():
        layer.weight.copy_(_directions(space.encoder, items, device, dimension=layer.out_features))
        layer.bias.zero_()
    return space


@torch.no_grad()
def _features(encoder: Any, items: Items, device: str) -> Tensor:
    batches = torch.arange(len(items)).split(64)
    return torch.cat([encoder.features(items.inputs[batch].to(device) / 255) for batch in batches])


def untrained(experiment: Experiment, sets: Sets, place: Place) -> dict[str, Any]:
    """What the features of ImageNet say, each picture asked about all the others, and every other picture
    about those between them: as they are, or in few numbers by a random layer or by principal directions of
    the training pictures.
    """
    began = time.perf_counter()
    network = EfficientNetLite(variant=experiment.network)
    around = Views(encoder=network, mirror=False, middle=experiment.size * 7 // 8).to(place.device).eval()
    items = _test(sets)
    z = _features(around, items, place.device)
    if experiment.dimension is not None:
        z = z @ _layer(experiment, around, sets, place).T.to(z)
    z = F.normalize(z, dim=1)
    space = MetricSpace(torch.nn.Identity(), Cosine(), SupportMeans(dimension=z.shape[1])).to(place.device)
    measures = about(space, items, seed=experiment.seed, z=z)
    places = torch.arange(len(items))
    halves = [(items.take(half), z[half.to(z.device)]) for half in (places[::2], places[1::2])]
    between = query_gallery(space, *halves[0], *halves[1], name="test, every other", ks=RANKS)
    return measures | {
        "every other": [row._asdict() for row in between],
        "final": [],
        "chosen": None,
        "seconds": {"training": 0.0, "evaluation": time.perf_counter() - began},
    }


def _layer(experiment: Experiment, network: Any, sets: Sets, place: Place) -> Tensor:
    """The matrix (dimension, features) to fewer numbers: random, or principal directions."""
    assert experiment.dimension is not None
    if not experiment.directions:
        generator = torch.Generator().manual_seed(experiment.seed)
        return torch.randn(experiment.dimension, network.feature_dimension, generator=generator)
    return _directions(network, sets.train, place.device, dimension=experiment.dimension)


def _directions(network: Any, items: Items, device: str, *, dimension: int) -> Tensor:
    """The principal directions of the features of items, on the sphere: those of large ones count no more."""
    return directions(F.normalize(_features(network, items, device).cpu(), dim=1), dimension=dimension)


def about(space: MetricSpace, items: Items, *, seed: int, z: Tensor | None = None) -> dict[str, Any]:
    """The rows about items of unseen classes, and how many of each class find one of theirs at once."""
    z = _embedded(space, items) if z is None else z
    rows: list[Row] = [
        *neighbours(space, items, seed=seed, z=z),
        *verification(space, items, z, name="test", seed=seed),
        *clustering(space, items, z, name="test", seed=seed),
    ]
    nearest = search(space, z, z, k=1, same_items=True).indices[:, 0].cpu()
    labels = items.labels.cpu()
    hits = labels[nearest] == labels
    by_class = [[int(hits[labels == label].sum()), int((labels == label).sum())] for label in labels.unique()]
    return {"rows": [row._asdict() for row in rows], "by class": by_class}


def neighbours(space: MetricSpace, items: Items, *, seed: int, z: Tensor | None = None) -> list[Row]:
    """The rows about the nearest neighbours of items of unseen classes: all that is told of a last epoch."""
    z = _embedded(space, items) if z is None else z
    return retrieval(space, items, z, name="test", ks=RANKS, measures="all", seed=seed)


def _embedded(space: MetricSpace, items: Items) -> Tensor:
    """On the sphere, where every score of this grid is taken and k-means must look too; and on the device of
    the space, where that is quick.
    """
    z = embed(space, items.inputs).to(next(space.encoder.parameters()).device)
    return F.normalize(z, dim=1)


def _test(sets: Sets) -> Items:
    assert sets.unseen is not None
    return sets.unseen


def kept(entry: dict[str, Any]) -> dict[str, Any]:
    """What is kept of an epoch: enough to draw it."""
    names = ("epoch", "loss", "terms", "validation", "adversary")
    return {name: entry[name] for name in names if name in entry}
