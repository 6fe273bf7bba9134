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
from grids.running import Place, not_now
from grids.selection import rows_of_each, told, train_for_each
from torch import Tensor

from samekind.data import Items, Sets
from samekind.encoders import EfficientNetLite
from samekind.evaluation import Row, clustering, retrieval
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
    sets = birds(place, size=experiment.size, seed=experiment.seed)
    folder = place.work / experiment.name
    content = {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "run": None if experiment.run is None else experiment.run.to_dict(),
        "items": {
            "train": len(sets.train),
            "validation": len(sets.validation),
            "test": len(sets.unseen or ()),
        },
        "torch": torch.__version__,
    }
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was stopped, which begins anew
    content |= measured(experiment, sets, folder, place.device)
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    shutil.rmtree(folder, ignore_errors=True)  # checkpoints that nobody needs any more
    recalls = {row["kind"]: row["value"] for row in content["rows"] if row["measure"] == "Recall@1"}
    summary = ", ".join(f"{kind} {100 * value:.1f}" for kind, value in recalls.items())
    seconds = content["seconds"]
    return f"Recall@1 {summary}; {seconds['training']:.0f} s of training, {seconds['evaluation']:.0f} s after"


def measured(experiment: Experiment, sets: Sets, folder: Path, device: str) -> dict[str, Any]:
    """What a run says of the unseen classes: each score at the epoch that is its best by the validation
    classes; or the network as ImageNet left it, with the cosine.
    """
    began = time.perf_counter()
    run, ask = experiment.run, partial(about, sets=sets, seed=experiment.seed)
    if run is None:
        network = EfficientNetLite(variant=0)
        space = MetricSpace(network, Cosine(), SupportMeans(dimension=network.dimension)).eval().to(device)
        over, rows, chosen = began, ask(space), None
    else:
        space, best = train_for_each(run, sets, folder=folder, device=device)
        over, chosen = time.perf_counter(), told(best)
        rows = rows_of_each(space, best, ask)
    return {
        "rows": [row._asdict() for row in rows],
        "chosen": chosen,
        "seconds": {"training": over - began, "evaluation": time.perf_counter() - over},
    }


def about(space: MetricSpace, *, sets: Sets, seed: int) -> list[Row]:
    """What is most like this, and what groups are here, of the unseen classes with every kind of score."""
    items = sets.unseen
    assert items is not None
    # On the device of the space, where k-means is quick.
    z = embed(space, items.inputs).to(next(space.encoder.parameters()).device)
    return [
        *retrieval(space, items, z, name="test", ks=RANKS, measures="all", seed=seed),
        *clustering(space, items, z, name="test", seed=seed),
        *from_oracle(space, items, z),
    ]


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
