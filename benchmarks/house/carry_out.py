"""One run of the study, written down as one JSON."""

import json
import shutil
import time
from typing import Any

import torch
from about import about
from grid import Experiment
from grids.running import Place, not_now
from instead import EXAMPLE, PAPER, classical, proxy_anchor
from seen import embedded_sets
from sets import sets_of

from samekind.data import Sets
from samekind.decisions import Rung
from samekind.inference import compress, settle
from samekind.inference.features import without_encoder
from samekind.recipes.house import house
from samekind.recipes.ladder import climb
from samekind.settings import write
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import RunFolder
from samekind.training.compatible import is_network

#: The time for a ladder, which bounds the folds that the encoder is trained for; on a CPU it has to be enough
#: for one of them, on a GPU that four ladders share for two.
MINUTES, CPU_MINUTES = 7.0, 40.0
#: The kept space is compressed to so many numbers as well.
NUMBERS = 64


def carry_out(experiment: Experiment, place: Place) -> str:
    """Carry out the run, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    sets = sets_of(experiment, place)
    began = time.perf_counter()
    match experiment.system:
        case "house":
            content = by_house(experiment, sets, place)
        case "instead":
            content = {"systems": classical(experiment, sets, device=place.device)}
        case "peer" | "paper":
            settings = EXAMPLE if experiment.system == "peer" else PAPER
            systems = proxy_anchor(experiment, sets, settings, device=place.device, quick=place.quick)
            content = {"systems": systems}
    content |= {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "items": {
            "train": len(sets.train),
            "test": len(sets.test),
            "classes": len(sets.train.classes),
            "unseen": 0 if sets.unseen is None else len(sets.unseen),
            "unseen classes": 0 if sets.unseen is None else len(sets.unseen.classes),
        },
        "seconds": time.perf_counter() - began,
        "torch": torch.__version__,
    }
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    figures = content["systems"]
    return "; ".join(
        f"{name}: "
        + ", ".join(f"{key} {100 * value:.1f}" for key, value in measures.items() if isinstance(value, float))
        for name, measures in figures.items()
    )


def by_house(experiment: Experiment, sets: Sets, place: Place) -> dict[str, Any]:
    """The ladder: what each rung gave on validation classes, and what its space says about the test items."""
    folder = place.work / experiment.name
    cache = RunFolder(folder).features  # where the ladder keeps those of untrained networks
    run = house(sets.train).override(["epochs=2"] if place.quick else [])
    systems: dict[str, Any] = {}

    def after_rung(rung: Rung, space: MetricSpace) -> None:
        figures = about(space, sets, device=place.device, cache=cache)
        systems[rung.name] = {**figures, "rung": write(rung)}
        # A ladder that is stopped leaves what it has measured.
        partial = place.out / "partial" / f"{experiment.name}.json"
        write_text(partial, json.dumps({"systems": systems, "seed": experiment.seed}, indent=1) + "\n")

    space = climb(
        sets,
        folder=folder,
        run=run,
        seed=experiment.seed,
        device=place.device,
        minutes=CPU_MINUTES if place.device == "cpu" else MINUTES,
        tell=lambda line: print(f"{experiment.name}: {line}", flush=True),
        after_rung=after_rung,
    )
    assert space.ladder is not None
    # A network over pairs has weights for the numbers it was trained with: that space cannot be compressed.
    if space.prototypes.dimension > NUMBERS and not is_network(space.similarity):
        vectors = embedded_sets(space.to(place.device), sets, cache)
        short = _compressed(space, vectors)
        systems[f"kept, compressed to {NUMBERS} numbers"] = about(short, vectors, device=place.device)
    # Only now: checkpoints take a hundred megabytes.
    shutil.rmtree(folder, ignore_errors=True)
    return {"systems": systems, "kept": space.ladder.kept, "measured on": space.ladder.measured_on}


def _compressed(space: MetricSpace, sets: Sets) -> MetricSpace:
    """The space of its own embeddings, the inputs of the sets, with fewer numbers, ready for use."""
    short = compress(without_encoder(space), sets.train, dimension=NUMBERS)
    settle(short, sets.train, sets.validation)
    return short
