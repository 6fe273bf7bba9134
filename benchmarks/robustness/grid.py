"""The runs of the study: two sets of pictures, three seeds."""

from dataclasses import replace
from typing import NamedTuple

from samekind.data import Items
from samekind.recipes import prototypical
from samekind.training import Batches, Optimiser, Part, Run, Schedule

SEEDS = 3
#: Epsilon, the steps of the published PGD, and epochs.
EPSILONS = {"cifar10": 8 / 255, "mnist": 0.3, "digits": 0.3}
PUBLISHED_STEPS = {"cifar10": (7, 20), "mnist": (40, 100), "digits": (40, 100)}
EPOCHS = {"cifar10": 15, "mnist": 5, "digits": 3}


class Experiment(NamedTuple):
    """One run; its JSON has its name."""

    data: str
    seed: int

    @property
    def variant(self) -> str:
        return self.data

    @property
    def name(self) -> str:
        return f"{self.data}-{self.seed}"


def grid(seeds: int = SEEDS, quick: bool = False) -> list[Experiment]:
    """Every run, the slowest first; a trial has one of each kind, and the digits."""
    if quick:
        return [Experiment(data, 0) for data in ("digits", "cifar10", "mnist")]
    return [Experiment(data, seed) for data in ("cifar10", "mnist") for seed in range(seeds)]


def run_of(experiment: Experiment, items: Items, quick: bool = False) -> Run:
    """The recipe with a dense output layer beside the similarity, and no defence."""
    run = replace(prototypical(items), epochs=EPOCHS[experiment.data], seed=experiment.seed)
    run = replace(run, schedule=Schedule("cosine"))
    if experiment.data != "cifar10":
        return replace(run, epochs=EPOCHS["digits"]) if quick else run
    if quick:
        small = replace(run.space, encoder=Part("Conv4", {"dimension": 64}), standardise="channels")
        return replace(run, epochs=1, space=small)
    return replace(
        run,
        space=replace(run.space, encoder=Part("PreActResNet18"), standardise="channels"),
        batches=Batches("Shuffled", {"size": 256}),
        augment=(Part("Flip"), Part("PadAndCrop", {"padding": 4})),
        optimiser=Optimiser("SGD", rate=0.1, momentum=0.9, nesterov=True, weight_decay=5e-4),
        schedule=Schedule("cosine", warmup_epochs=1),
        channels_last=True,
    )
