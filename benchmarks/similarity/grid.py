"""The runs of the experiment, the most important first.

The systems are the recipes with the papers' settings for CIFAR-10: batches of 64, and each paper's own
optimiser, rate, schedule and augmentation. What differs is the length: 120 epochs of 45,000 images, 84,480
steps, where the papers have 600 and 500 epochs of 50,000.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from grids.ablations import (
    by_cosine,
    by_triplets,
    corrected,
    from_first,
    learned_prototypes,
    summed,
    with_temperature,
    without_auxiliary,
)
from grids.commands import command
from grids.experiment import seed_by_seed

from samekind.recipes import prototypical, triplet, verification
from samekind.training import Optimiser, Part, Run, Schedule

SHAPE = (3, 32, 32)
EPOCHS = 120
#: The epochs of the 2021 paper, at which its rate falls, of 500.
MILESTONES, OF = (10, 150, 250, 350), 500
DEPTHS = (1,)  # 3 is the system itself
#: Of the 50,000 training images 5,000 choose the epoch and fit the thresholds; the 10,000 test images are as
#: published.
FRACTIONS = {"train": 0.9, "validation": 0.1}
#: What the images of both papers go through, and those of the 2021 paper before and after.
CHANGES = (Part("PadAndCrop", {"padding": 4}), Part("Flip"))
BEFORE = (Part("RandAugment", {"operations": 1, "magnitude": 15}),)
AFTER = (Part("AdditiveNoise"),)
SYSTEMS = ("verification", "triplet", "prototypical")


class Experiment(NamedTuple):
    """One run of the grid; its JSON has its name."""

    variant: str
    run: Run

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.run.seed}"


def grid(*, epochs: int = EPOCHS, quick: bool = False) -> list[Experiment]:
    """Every run: the three systems with three seeds, then the studies, seed by seed, and what is run once. A
    trial has one seed of everything.
    """
    seeds = (0,) if quick else (0, 1, 2)
    studies = [name for name in VARIANTS if name not in (*SYSTEMS, *ONCE)]
    order = [*seed_by_seed(SYSTEMS, seeds), *seed_by_seed(studies, seeds), *seed_by_seed(ONCE, (0,))]
    return [Experiment(name, experiment(name, seed, epochs=epochs, quick=quick)) for name, seed in order]


def experiment(variant: str, seed: int, *, epochs: int = EPOCHS, quick: bool = False) -> Run:
    """The run of a variant. ``quick`` is for trying it out: a small encoder, two epochs."""
    epochs = 2 if quick else epochs
    run = VARIANTS[variant]()
    encoder = Part("SmallConvnet", {"dimension": 16, "width": 8}) if quick else Part("PreActResNet18")
    changes = (*BEFORE, *CHANGES, *AFTER) if variant.startswith("prototypical") else CHANGES
    run = replace(
        run,
        space=replace(run.space, encoder=encoder, standardise="channels"),
        augment=changes,
        epochs=epochs,
        watch="eer best",
        channels_last=not quick,
        seed=seed,
    )
    return _as_in_2021(run, quick) if variant.startswith("prototypical") else run


def _as_in_2021(run: Run, quick: bool) -> Run:
    """The 2021 paper's rate, without a bound on the gradient, and its falls at the same parts of the run. The
    small encoder of a trial would not bear it.
    """
    if quick:
        return run
    milestones = tuple(max(1, round(epoch * run.epochs / OF)) for epoch in MILESTONES)
    return replace(
        run,
        optimiser=Optimiser("SGD", rate=0.1, momentum=0.9, weight_decay=5e-4),
        schedule=Schedule("multi-step", factor=0.1, milestones=milestones),
        clip=None,
    )


def command_of(variant: str) -> str:
    """What runs a variant from the command line, but for the data and the seed."""
    system = variant.partition("-")[0]
    file = Path("benchmarks/similarity/runs", f"{system}.toml")
    return command(file, experiment(system, 0), experiment(variant, 0))


def _verification(depth: int = 3) -> Run:
    """The learned score: layers of 350 over the pair, and an additive-margin softmax beside it."""
    return verification(SHAPE).override([f"space.similarity.depth={depth}"])


def _prototypical() -> Run:
    """One similarity for classes and pairs, prototypes as running averages, a dense output layer beside."""
    return prototypical(SHAPE)


#: What there is to run, by name; more important studies come first.
VARIANTS: dict[str, Callable[[], Run]] = {
    "verification": _verification,
    "triplet": lambda: triplet(SHAPE),
    "prototypical": _prototypical,
    "verification-alone": lambda: without_auxiliary(_verification()),
    "prototypical-cosine": lambda: by_cosine(_prototypical()),
    "verification-sum": lambda: summed(_verification()),
    "prototypical-first": lambda: from_first(_prototypical()),
    "verification-selected-on-test": lambda: replace(_verification(), select_on="test"),
    "verification-by-triplets": lambda: by_triplets(_verification()),
    "verification-temperature": lambda: with_temperature(_verification()),
    "verification-corrected": lambda: corrected(_verification()),
    "verification-depth-1": lambda: _verification(1),
    "prototypical-learned-prototypes": lambda: learned_prototypes(_prototypical()),
    "prototypical-alone": lambda: without_auxiliary(_prototypical()),
}

#: What is run with one seed: the paper's selection, and what was tried.
ONCE = (
    "verification-selected-on-test",
    "verification-by-triplets",
    "verification-temperature",
    "verification-corrected",
    "verification-depth-1",
    "prototypical-learned-prototypes",
    "prototypical-alone",
)
