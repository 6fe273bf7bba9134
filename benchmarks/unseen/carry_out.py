"""One run of the grid: trained, asked about the classes it never saw, written down as one JSON."""

import json
import shutil
import time
from typing import Any

import torch
import torch.nn.functional as F
from grid import Experiment
from grids.birds import birds
from grids.running import Place, chosen_epoch, epochs_in, not_now
from torch import Tensor

from samekind.data import Items, Sets
from samekind.encoders import EfficientNetLite
from samekind.evaluation import Row, clustering, query_gallery, retrieval
from samekind.inference import embed, search
from samekind.prototypes import SupportMeans
from samekind.recipes import fit
from samekind.similarities import Cosine
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import Run, RunFolder
from samekind.training.checkpoints import load_checkpoint

RANKS = (1, 2, 4, 8)


def carry_out(experiment: Experiment, place: Place) -> str:
    """Train and measure, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    sets = birds(place, size=experiment.size, seed=experiment.seed, full=experiment.full)
    content = {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "size": experiment.size,
        "full": experiment.full,
        "run": None if experiment.run is None else experiment.run.to_dict(),
        "items": {"train": len(sets.train), "validation": len(sets.validation), "test": len(_test(sets))},
        "torch": torch.__version__,
    }
    if experiment.run is None:
        content |= untrained(experiment, sets, place)
    else:
        content |= trained(experiment, experiment.run, sets, place)
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    # Only now: checkpoints of a hundred megabytes, which nobody needs any more.
    shutil.rmtree(place.work / experiment.name, ignore_errors=True)
    recall = next(row["value"] for row in content["rows"] if row["measure"] == "Recall@1")
    seconds = [f"{spent:.0f} s of {name}" for name, spent in content["seconds"].items()]
    return ", ".join([f"Recall@1 {100 * recall:.1f}", *seconds])


def trained(experiment: Experiment, run: Run, sets: Sets, place: Place) -> dict[str, Any]:
    """What a trained space says of the test classes, as it was at the chosen epoch and at the last one, which
    counts where the validation classes were trained with, and so could not choose.
    """
    folder = place.work / experiment.name
    began = time.perf_counter()
    space = fit(run, sets, folder=folder, device=place.device).to(place.device)
    over = time.perf_counter()
    chosen = about(space, _test(sets), seed=run.seed) if not experiment.full else None
    space.load_state_dict(load_checkpoint(RunFolder(folder).last)["states"]["space"])
    final = about(space, _test(sets), seed=run.seed)
    return {
        **(chosen or final),
        "final": final["rows"],
        "chosen": None if experiment.full else chosen_epoch(folder),
        "epochs": [_kept(entry) for entry in epochs_in(folder)],
        "seconds": {"training": over - began, "evaluation": time.perf_counter() - over},
    }


def untrained(experiment: Experiment, sets: Sets, place: Place) -> dict[str, Any]:
    """What the features of ImageNet say, each picture asked about all the others, and every other picture
    about those between them.
    """
    began = time.perf_counter()
    network = EfficientNetLite(variant=experiment.network)
    space = MetricSpace(network, Cosine(), SupportMeans(dimension=network.dimension)).eval()
    items, space = _test(sets), space.to(place.device)
    z = _embedded(space, items)
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


def about(space: MetricSpace, items: Items, *, seed: int, z: Tensor | None = None) -> dict[str, Any]:
    """The rows about items of unseen classes, and how many of each class find one of theirs at once."""
    z = _embedded(space, items) if z is None else z
    rows: list[Row] = [
        *retrieval(space, items, z, name="test", ks=RANKS, measures="all", seed=seed),
        *clustering(space, items, z, name="test", seed=seed),
    ]
    nearest = search(space, z, z, k=1, same_items=True).indices[:, 0].cpu()
    labels = items.labels.cpu()
    hits = labels[nearest] == labels
    by_class = [[int(hits[labels == label].sum()), int((labels == label).sum())] for label in labels.unique()]
    return {"rows": [row._asdict() for row in rows], "by class": by_class}


def _embedded(space: MetricSpace, items: Items) -> Tensor:
    """On the sphere, where every score of this grid is taken and k-means must look too; and on the device of
    the space, where that is quick.
    """
    z = embed(space, items.inputs).to(next(space.encoder.parameters()).device)
    return F.normalize(z, dim=1)


def _test(sets: Sets) -> Items:
    assert sets.unseen is not None
    return sets.unseen


def _kept(entry: dict[str, Any]) -> dict[str, Any]:
    """What is kept of an epoch: enough to draw it."""
    names = ("epoch", "loss", "terms", "validation", "adversary")
    return {name: entry[name] for name in names if name in entry}
