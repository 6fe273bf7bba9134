"""One run of the grid: trained, asked about the classes it never saw, written down as one JSON."""

import json
import shutil
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from grid import Experiment
from grids.birds import birds
from grids.running import Place, not_now, run_on
from grids.selection import BestEpoch, epochs_for_each, refitted, rows_of_each
from torch import Tensor

from samekind.data import Items, Sets
from samekind.encoders import EfficientNetLite, Views
from samekind.evaluation import Row, clustering, cosine_references, retrieval, verification
from samekind.inference import embed
from samekind.inference.cluster import as_compared, assign_by_similarity, oracle_centres
from samekind.measures import normalised_mutual_information
from samekind.measures.catalogue import NMI
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace
from samekind.storage import write_text

RANKS = (1, 2, 4, 8, 16)
ORACLE = NMI.variant("from true means")


def carry_out(experiment: Experiment, place: Place) -> str:
    """Train and measure, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    sets, full = (
        birds(place, size=experiment.size, seed=experiment.seed, full=full) for full in (False, True)
    )
    if experiment.run is not None:
        experiment = experiment._replace(run=run_on(experiment.run, place))
    folder = place.work / experiment.name
    content = {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "run": None if experiment.run is None else experiment.run.to_dict(),
        "items": {
            "train": len(full.train),
            "validation": len(sets.validation),
            "test": len(sets.unseen or ()),
        },
        "torch": torch.__version__,
    }
    content |= measured(experiment, sets, full, folder, place.device)
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    shutil.rmtree(folder, ignore_errors=True)  # checkpoints that nobody needs any more
    recalls = {row["kind"]: row["value"] for row in content["rows"] if row["measure"] == "Recall@1"}
    summary = ", ".join(f"{kind} {100 * value:.1f}" for kind, value in recalls.items())
    seconds = content["seconds"]
    return f"Recall@1 {summary}; {seconds['training']:.0f} s of training, {seconds['evaluation']:.0f} s after"


def measured(experiment: Experiment, sets: Sets, full: Sets, folder: Path, device: str) -> dict[str, Any]:
    """What a run says of the unseen classes: each score at the epoch that is its best by the families that a
    first training leaves out, of a second one with all classes; or the network as ImageNet left it.
    """
    began = time.perf_counter()
    run, seed = experiment.run, experiment.seed
    ask, beside = (partial(asked, sets=full, seed=seed) for asked in (about, references))
    if run is None:
        network = Views(encoder=EfficientNetLite(variant=0), mirror=False, middle=experiment.size * 7 // 8)
        space = MetricSpace(network, Cosine(), SupportMeans(dimension=network.dimension)).eval().to(device)
        over, rows, chosen = began, [*ask(space), *beside(space)], None
    else:
        chosen = epochs_for_each(run, sets, folder=fresh(folder / "choice"), device=device, measure="map@r")
        epochs = {kind: int(choice["epoch"]) for kind, choice in chosen.items()}
        again = fresh(folder / "all")
        space, weights = refitted(run, full, set(epochs.values()), folder=again, device=device)
        over = time.perf_counter()
        best = {kind: BestEpoch(epoch, 0.0, weights[epoch]) for kind, epoch in epochs.items()}
        rows = rows_of_each(space, best, ask, beside)
    return {
        "rows": [row._asdict() for row in rows],
        "chosen": chosen,
        "seconds": {"training": over - began, "evaluation": time.perf_counter() - over},
    }


def fresh(folder: Path) -> Path:
    """A folder for a training that must not go on from what was stopped."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return folder


def about(space: MetricSpace, *, sets: Sets, seed: int) -> list[Row]:
    """What is most like this, are these two the same, and what groups are here, of the unseen classes with
    every kind of score.
    """
    items = sets.unseen
    assert items is not None
    z = embed(space, items.inputs).to(next(space.encoder.parameters()).device)  # where k-means is quick
    return [
        *retrieval(space, items, z, name="test", ks=RANKS, measures="all", seed=seed),
        *verification(space, items, z, name="test", seed=seed),
        *clustering(space, items, z, name="test", seed=seed),
        *from_oracle(space, items, z),
    ]


def references(space: MetricSpace, *, sets: Sets, seed: int) -> list[Row]:
    """The first two by two better cosines."""
    items = sets.unseen
    assert items is not None
    device = next(space.encoder.parameters()).device
    z, known = (embed(space, inputs).to(device) for inputs in (items.inputs, sets.train.inputs))
    return cosine_references(items, z, known, name="test", ks=RANKS, seed=seed)


def from_oracle(space: MetricSpace, items: Items, z: Tensor) -> list[Row]:
    """NMI of items given to the means of their TRUE classes, as the authors' code has it: by the nearest mean
    ("embedding"), on the sphere where k-means is too, and by the mean that the space's own score finds most
    alike.
    """
    labels = items.labels.cpu()
    z = as_compared(space, z)
    centres = oracle_centres(z.cpu(), labels).to(z.device)
    assigned = {
        "embedding": torch.cdist(z, centres).argmin(1).cpu(),
        "similarity": assign_by_similarity(space, centres, z),
    }
    return [
        Row("clustering", "test", ORACLE, kind, normalised_mutual_information(groups, labels))
        for kind, groups in assigned.items()
    ]
