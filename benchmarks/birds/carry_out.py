"""One run of the grid: trained, asked about the classes it never saw, written down as one JSON."""

import json
import shutil
import time

import torch
from grid import Experiment
from grids.birds import birds
from grids.running import Place, chosen_epoch, not_now
from torch import Tensor

from samekind.data import Items, Sets
from samekind.encoders import EfficientNetLite
from samekind.evaluation import Row, clustering, retrieval
from samekind.inference import as_compared, embed
from samekind.inference.cluster import assign_by_similarity, oracle_centres
from samekind.measures import normalised_mutual_information
from samekind.prototypes import SupportMeans
from samekind.recipes import fit
from samekind.similarities import Cosine
from samekind.space import MetricSpace
from samekind.storage import write_text

RANKS = (1, 2, 4, 8, 16)


def carry_out(experiment: Experiment, place: Place) -> str:
    """Train and measure, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    sets = birds(place, size=experiment.size, seed=experiment.seed)
    folder = place.work / experiment.name
    began = time.perf_counter()
    space = trained(experiment, sets, place)
    over = time.perf_counter()
    rows = about(space, sets, seed=experiment.seed)
    seconds = {"training": over - began, "evaluation": time.perf_counter() - over}
    content = {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "run": None if experiment.run is None else experiment.run.to_dict(),
        "items": {
            "train": len(sets.train),
            "validation": len(sets.validation),
            "test": len(sets.unseen or ()),
        },
        "rows": [row._asdict() for row in rows],
        "chosen": None if experiment.run is None else chosen_epoch(folder),
        "seconds": seconds,
        "torch": torch.__version__,
    }
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    shutil.rmtree(folder, ignore_errors=True)  # checkpoints that nobody needs any more
    found = ", ".join(f"{row.kind} {100 * row.value:.1f}" for row in rows if row.measure == "Recall@1")
    return f"Recall@1 {found}; {seconds['training']:.0f} s of training, {seconds['evaluation']:.0f} s after"


def trained(experiment: Experiment, sets: Sets, place: Place) -> MetricSpace:
    """The space of the chosen epoch, or the network as ImageNet left it, with the cosine."""
    if experiment.run is not None:
        return fit(experiment.run, sets, folder=place.work / experiment.name, device=place.device).to(
            place.device
        )
    network = EfficientNetLite(variant=0)
    return MetricSpace(network, Cosine(), SupportMeans(dimension=network.dimension)).eval().to(place.device)


def about(space: MetricSpace, sets: Sets, *, seed: int) -> list[Row]:
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
        Row("clustering", "test", "NMI from true means", kind, normalised_mutual_information(each, labels))
        for kind, each in assigned.items()
    ]
