"""One run of the grid: trained, asked about all pairs of the test items, written down as one JSON."""

import json
import shutil
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from grid import FRACTIONS, Experiment
from grids.running import Place, chosen_epoch, epochs_in, not_now, run_on

from samekind.data import Items, Sets, SplitSettings, open_data, prepare
from samekind.evaluation import classification, cosine_references, retrieval, validation, verification
from samekind.evaluation.rows import SELECTED_ON_TEST, noted
from samekind.inference import embed, metric_axioms, settle
from samekind.measures import MetricAxioms
from samekind.recipes import fit
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import Run, train

QUICK = {"train": 600, "test": 200}


def carry_out(experiment: Experiment, place: Place) -> str:
    """Train and measure, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    experiment = experiment._replace(run=run_on(experiment.run, place))
    items = images(place.data, quick=place.quick)
    sets = prepare(items, SplitSettings(by="part", fractions=FRACTIONS, seed=experiment.run.seed))
    folder = place.work / experiment.name
    began = time.perf_counter()
    on_both = experiment.run.select_on == "test"
    space = (fit_on_both if on_both else fit)(experiment.run, sets, folder=folder, device=place.device)
    trained = time.perf_counter()
    content = measured(space.to(place.device), sets, experiment)
    seconds = {"training": trained - began, "evaluation": time.perf_counter() - trained}
    content |= {"chosen": chosen_epoch(folder), "seconds": seconds, "torch": torch.__version__}
    if on_both:
        content["epochs"] = epochs_in(folder)
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    shutil.rmtree(folder)  # checkpoints of a hundred megabytes, which nobody needs any more
    return f"{seconds['training']:.0f} s of training, {seconds['evaluation']:.0f} s of evaluation"


def fit_on_both(run: Run, sets: Sets, *, folder: Path, device: str) -> MetricSpace:
    """As `fit` does it for a run that the test items choose the epoch of, but every epoch is measured on the
    validation items too: what either choice would have been is told by one training.
    """
    on_test = validation(sets.test, run.validate, watch=run.watch)
    on_validation = validation(sets.validation, run.validate)

    def validate(space: MetricSpace) -> dict[str, float]:
        beside = {f"validation {name}": value for name, value in on_validation(space).items()}
        return {**on_test(space), **beside}

    space = train(run, sets.train, folder=folder, validate=validate, device=device).to(device)
    settle(space, sets.train, sets.validation)
    return space


def measured(space: MetricSpace, sets: Sets, experiment: Experiment) -> dict[str, Any]:
    """What the JSON says of a trained space: the run, and every row about the test items."""
    run, items = experiment.run, sets.test
    z, known = embed(space, items.inputs), embed(space, sets.train.inputs)
    rows = [
        *classification(space, items, z, name="test", measures="all", seed=run.seed),
        *verification(space, items, z, name="test", measures="all", seed=run.seed),
        *retrieval(space, items, z, name="test", ks=(1,), seed=run.seed),
        *cosine_references(items, z, known, name="test", ks=(1,), seed=run.seed),
    ]
    if run.select_on == "test":
        rows = [noted(row, SELECTED_ON_TEST) for row in rows]
    return {
        "variant": experiment.variant,
        "seed": run.seed,
        "run": run.to_dict(),
        "items": {"train": len(sets.train), "validation": len(sets.validation), "test": len(items)},
        "rows": [row._asdict() for row in rows],
        "axioms": plain(metric_axioms(space, z)) if space.similarity.quantity == "logit" else None,
    }


def plain(axioms: MetricAxioms) -> dict[str, Any]:
    """The breaches as JSON has them, histograms included."""
    return {
        promise: {
            name: value.tolist() if isinstance(value, torch.Tensor) else value
            for name, value in breaches._asdict().items()
        }
        for promise, breaches in axioms._asdict().items()
    }


@cache
def images(path: Path, *, quick: bool) -> Items:
    """CIFAR-10 from a folder of its files, or of sprites, or a .npz file; read once in every process."""
    inside = path / "cifar10.npz"
    items = open_data(inside if inside.exists() else path)
    return _few(items) if quick else items


def _few(items: Items) -> Items:
    """As many of each part as are enough to try everything out, every class among them."""
    assert items.parts is not None
    places = [
        torch.tensor([place for place, name in enumerate(items.parts) if name == part][:count])
        for part, count in QUICK.items()
    ]
    return replace(items.take(torch.cat(places)), name=f"{items.name}, a few")
