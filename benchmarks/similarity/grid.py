"""The runs of the experiment, the most important first.

Everything but what a variant is about is the same for all: encoder, batches, augmentation, optimiser, rate
and schedule. The parts and terms are those of the recipes, with the papers' sizes for CIFAR-10.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from grids.ablations import (
    by_cosine,
    by_triplets,
    corrected,
    learned_prototypes,
    normalised,
    with_memory,
    with_temperature,
    without_auxiliary,
)
from grids.commands import command, written

from samekind.recipes import prototypical, triplet, verification
from samekind.training import Batches, Optimiser, Part, Run, Schedule, Term

SHAPE = (3, 32, 32)
EPOCHS, BATCH = 30, 256
#: A usual rate for this network, and one near the 2020 paper's (0.01 for batches of 64, here four times as
#: large), which is tried once for each system.
RATE, OTHER_RATE = 0.1, 0.03
DEPTHS = (1, 2, 4, 5)  # 3 is the system itself
#: Of the 50,000 training images 5,000 choose the epoch and fit the thresholds; the 10,000 test images are as
#: published.
FRACTIONS = {"train": 0.9, "validation": 0.1}
#: A run towards the papers' figures is so many times as long, and has more of the images to train on.
LONGER, MORE = 4, {"train": 0.98, "validation": 0.02}
#: What the 2021 paper's images go through beside, but for its noise, which is there for robustness.
AS_IN_THE_PAPER = (Part("RandAugment", {"operations": 1, "magnitude": 15}),)
SYSTEMS = ("verification", "triplet", "prototypical")
LONG = ("prototypical-long",)


class Experiment(NamedTuple):
    """One run of the grid; its JSON has its name."""

    variant: str
    run: Run

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.run.seed}"


def grid(*, epochs: int = EPOCHS, quick: bool = False) -> list[Experiment]:
    """Every run: the three systems, what is run once, then the studies, seed by seed. A trial has one seed of
    everything.
    """
    seeds = (0,) if quick else (0, 1, 2)
    studies = [name for name in VARIANTS if name not in (*SYSTEMS, *ONCE)]
    order = [*_of(SYSTEMS, seeds), *_of(ONCE, (0,)), *_of(studies, seeds)]
    return [Experiment(name, experiment(name, seed, epochs=epochs, quick=quick)) for name, seed in order]


def experiment(variant: str, seed: int, *, epochs: int = EPOCHS, quick: bool = False) -> Run:
    """The run of a variant. ``quick`` is for trying it out: a small encoder, two epochs of small batches."""
    run = VARIANTS[variant]()
    long = variant in LONG
    encoder = Part("SmallConvnet", {"dimension": 16, "width": 8}) if quick else Part("PreActResNet18")
    rate = run.optimiser.rate if variant.endswith("-rate") else RATE
    return replace(
        run,
        space=replace(run.space, encoder=encoder, standardise="channels"),
        batches=Batches("Shuffled", {"size": 64 if quick else BATCH}),
        augment=(*AS_IN_THE_PAPER * long, Part("Flip"), Part("PadAndCrop", {"padding": 4})),
        optimiser=Optimiser("SGD", rate=rate, momentum=0.9, nesterov=True, weight_decay=5e-4),
        # Warmed up, because the pairs network sees embeddings of any length from the first step on.
        schedule=Schedule("cosine", warmup_epochs=0.5 if quick else 2),
        epochs=2 if quick else epochs * (LONGER if long else 1),
        clip=10.0,
        watch="eer best",
        channels_last=not quick,
        seed=seed,
    )


def fractions_of(variant: str) -> dict[str, float]:
    """How the training images are shared out."""
    return MORE if variant in LONG else FRACTIONS


def command_of(variant: str) -> str:
    """What runs a variant from the command line, but for the data and the seed."""
    system = variant.partition("-")[0]
    file = Path("benchmarks/similarity/runs", f"{system}.toml")
    beside = [f"split.fractions={written(fractions_of(variant))}"] if variant in LONG else []
    return command(file, experiment(system, 0), experiment(variant, 0), beside=beside)


def _of(variants: Iterable[str], seeds: Iterable[int]) -> list[tuple[str, int]]:
    variants = list(variants)
    return [(variant, seed) for seed in seeds for variant in variants]


def _verification(depth: int = 3) -> Run:
    """The learned score: three layers of 350 over the pair, and an additive-margin softmax beside it."""
    run = verification(SHAPE)
    similarity = Part("PairsNetwork", {"hidden": 350, "depth": depth, "dropout": 0.2})
    margin = Term("additive_margin", against="auxiliary", arguments={"margin": 0.4, "smoothing": 0.2})
    return replace(
        run,
        space=replace(run.space, similarity=similarity),
        terms={**run.terms, "auxiliary": margin},
    )


def _prototypical() -> Run:
    """One similarity for classes and pairs, prototypes as running averages, a dense output layer beside."""
    run = prototypical(SHAPE)
    similarity = Part("PairsNetwork", {"hidden": 512, "depth": 1, "dropout": 0.25})
    return replace(run, space=replace(run.space, similarity=similarity))


def _triplet() -> Run:
    return triplet(SHAPE)


def _at_other_rate(run: Run) -> Run:
    return replace(run, optimiser=Optimiser("SGD", rate=OTHER_RATE))


#: What there is to run, by name; more important studies come first.
VARIANTS: dict[str, Callable[[], Run]] = {
    "verification": _verification,
    "triplet": _triplet,
    "prototypical": _prototypical,
    "verification-selected-on-test": lambda: replace(_verification(), select_on="test"),
    "verification-rate": lambda: _at_other_rate(_verification()),
    "triplet-rate": lambda: _at_other_rate(_triplet()),
    "prototypical-rate": lambda: _at_other_rate(_prototypical()),
    "verification-depth-1": lambda: _verification(1),
    "verification-alone": lambda: without_auxiliary(_verification()),
    "prototypical-cosine": lambda: by_cosine(_prototypical()),
    "prototypical-learned-prototypes": lambda: learned_prototypes(_prototypical()),
    "prototypical-alone": lambda: without_auxiliary(_prototypical()),
    **{f"verification-depth-{depth}": lambda depth=depth: _verification(depth) for depth in DEPTHS[1:]},
    "verification-normalised": lambda: normalised(_verification()),
    "verification-by-triplets": lambda: by_triplets(_verification()),
    "verification-temperature": lambda: with_temperature(_verification()),
    "verification-memory": lambda: with_memory(_verification()),
    "verification-corrected": lambda: corrected(_verification()),
    "prototypical-normalised": lambda: normalised(_prototypical()),
    "prototypical-temperature": lambda: with_temperature(_prototypical()),
    "prototypical-long": _prototypical,
}

#: What might make the learned similarity pay, beside its depth: normalised embeddings, other weights of the
#: pairs, a learned temperature, more negatives, a network that is added to the cosine.
TRIED = (
    "verification-normalised",
    "verification-by-triplets",
    "verification-temperature",
    "verification-memory",
    "verification-corrected",
    "prototypical-normalised",
    "prototypical-temperature",
)
#: What is run with one seed: the paper's selection, whether the rate was a bad one for some system, what was
#: tried, and the long run.
ONCE = (
    "verification-selected-on-test",
    "verification-rate",
    "triplet-rate",
    "prototypical-rate",
    *TRIED,
    *LONG,
)
