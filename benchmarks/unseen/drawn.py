"""The same losses and extensions on drawn characters, on a processor: one JSON a run, and their tables.

    python benchmarks/unseen/drawn.py --data characters [--only NAME …] [--budget 600]
    python benchmarks/unseen/drawn.py --table [--page docs/results/unseen.md]

The characters come with samekind: a hundred to train with, others to choose the epoch by, a hundred others to
test with, and no alphabet in two of these sets. The network is small and begins with random numbers. A run
whose JSON is there is not run again.
"""

import json
import shutil
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from carry_out import about, kept, neighbours, of_last_epoch
from claims import CLAIMS, RECALL
from grid import LOSSES, NUMBERS, called
from grids.alphabets import alphabets_apart
from grids.command import Grid, command
from grids.experiment import seed_by_seed
from grids.results import Results
from grids.running import Place, chosen_epoch, epochs_in, not_now
from grids.tables import claims_table, cost, runs_done
from tables import ablation_table, losses_table

from samekind.data import Items, Sets
from samekind.recipes import fit, unseen
from samekind.recipes.unseen import EXTENSIONS, Extension, Loss
from samekind.storage import write_text
from samekind.training import Part, Run

#: Characters to train with, to choose by and to test with; the drawings of each, and their side in pixels.
COUNTS, DRAWINGS, SIZE = (100, 25, 100), 10, 20
EPOCHS, SEEDS = 25, 3
QUICK_COUNTS = (8, 4, 6)
#: A loss, its extension, and whether there is attention; None leaves that to the extension.
MAIN: dict[str, tuple[Loss, Extension, bool | None]] = {
    called(loss, extension): (loss, extension, None) for extension in EXTENSIONS for loss in LOSSES
}
PARTS: dict[str, tuple[Loss, Extension, bool | None]] = {
    "triplet-attention": ("triplet", "base", True),
    "triplet-adversary": ("triplet", "adapt-adv", False),
}


class Experiment(NamedTuple):
    """One run; its JSON has its name."""

    variant: str
    seed: int
    run: Run

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.seed}"


def grid(epochs: int = EPOCHS, quick: bool = False) -> list[Experiment]:
    """Every run, seed by seed; attention and adversary alone come last."""
    length = 2 if quick else epochs
    wanted = [*seed_by_seed(MAIN, range(SEEDS)), *seed_by_seed(PARTS, range(SEEDS))]
    return [Experiment(name, seed, run_of(name, seed, length)) for name, seed in wanted]


def run_of(variant: str, seed: int, epochs: int) -> Run:
    """The recipe as it is, around four convolutions: the smallest network with maps to attend to."""
    loss, extension, attention = (MAIN | PARTS)[variant]
    encoder = Part("Conv4", {"channels": 1, "size": SIZE, "dimension": NUMBERS})
    shape = (1, SIZE, SIZE)
    run = unseen(
        shape, loss=loss, extension=extension, attention=attention, dimension=NUMBERS, encoder=encoder
    )
    return replace(run, epochs=epochs, seed=seed, validate=("retrieval",), watch="map@r", channels_last=True)


@cache
def sets_of(seed: int, quick: bool) -> Sets:
    """The drawings of a seed, which draws the alphabets as well."""
    return alphabets_apart(QUICK_COUNTS if quick else COUNTS, seed=seed, drawings=DRAWINGS, size=SIZE)


def carry_out(experiment: Experiment, place: Place) -> str:
    """Train and measure, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    sets, folder = sets_of(experiment.seed, place.quick), place.work / experiment.name
    began = time.perf_counter()
    space = fit(experiment.run, sets, folder=folder, device=place.device).to(place.device)
    over = time.perf_counter()
    asked = about(space, _test(sets), seed=experiment.seed)  # before its weights are those of the last epoch
    last = neighbours(of_last_epoch(space, folder), _test(sets), seed=experiment.seed)
    content = {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "size": SIZE,
        "run": experiment.run.to_dict(),
        "items": {"train": len(sets.train), "validation": len(sets.validation), "test": len(_test(sets))},
        **asked,
        "final": [row._asdict() for row in last],
        "chosen": chosen_epoch(folder),
        "epochs": [kept(entry) for entry in epochs_in(folder)],
        "seconds": {"training": over - began, "evaluation": time.perf_counter() - over},
        "torch": torch.__version__,
    }
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    recall = next(row["value"] for row in content["rows"] if row["measure"] == RECALL)
    return f"Recall@1 {100 * recall:.1f}, {over - began:.0f} s of training"


def _test(sets: Sets) -> Items:
    assert sets.unseen is not None
    return sets.unseen


def tables(results: Results) -> str:
    """All tables and claims as Markdown; what was not run is left out."""
    if not results.contents:
        return "No run is done yet."
    parts = [
        runs_done(results),
        losses_table(results, published=False),
        ablation_table(results, published=False),
        claims_table(results, CLAIMS),
        cost(results),
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    study = Grid("unseen/characters", grid, carry_out, tables, EPOCHS, mark="characters")
    command(study, __doc__ or "")
