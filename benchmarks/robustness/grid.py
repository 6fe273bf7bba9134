"""The runs of the study: sets of pictures, defences and seeds."""

from dataclasses import replace
from typing import NamedTuple

import torch
from grids.networks import as_for_pictures

from samekind.data import Items
from samekind.recipes import prototypical
from samekind.training import Batches, Defence, Optimiser, Part, Run, Schedule

SEEDS = 3
#: Steps, restarts and queries of a sound attack where a CPU must do it for many models.
BRIEF = (40, 1, 100)


class Pictures(NamedTuple):
    """A set of pictures: where it is, how far its items may be moved, and how long is trained.

    ``published`` are the steps of the published PGD, ``step`` the size of a sound one. A training has
    ``epochs``, with a defence ``defended_epochs`` where that is another number. Of the pictures every
    ``every``-th is taken, ``most`` test pictures are attacked, ``sigma`` is the noise of a smoothed space.
    ``sound`` are the steps, restarts and queries of the sound attack, ``brief`` those of a defended space if
    they are others; such a space is not attacked in all the ways of the table of the undefended ones.
    ``on_cpu``: it is cut down to what a CPU can do.
    """

    folder: str
    epsilon: float
    step: float
    published: tuple[int, int]
    epochs: int
    defence_steps: int
    sigma: float
    every: int = 1
    most: int = 1000
    sound: tuple[int, int, int] = (50, 5, 500)
    brief: tuple[int, int, int] | None = None
    defended_epochs: int | None = None
    on_cpu: bool = False

    @property
    def is_small(self) -> bool:
        """A part of the pictures, or scikit-learn's digits, which come with it."""
        return self.every > 1 or not self.folder


DATA = {
    "cifar10": Pictures(
        "cifar10", 8 / 255, 2 / 255, (7, 20), 15, 7, 0.25, most=500, sound=(50, 2, 500), brief=(40, 1, 300),
        defended_epochs=8,
    ),
    "mnist": Pictures("mnist", 0.3, 0.01, (40, 100), 5, 10, 0.25),
    "cifar10-narrow": Pictures(
        "cifar10", 8 / 255, 2 / 255, (7, 20), 15, 7, 0.25, most=400, sound=(50, 2, 200), on_cpu=True
    ),
    "mnist-whole": Pictures(
        "mnist", 0.3, 0.01, (40, 100), 5, 10, 0.25, most=200, sound=BRIEF, brief=BRIEF, on_cpu=True
    ),
    "mnist-cut": Pictures(
        "mnist", 0.1, 0.01, (40, 100), 8, 5, 0.25, 30, 100, BRIEF, brief=BRIEF, on_cpu=True
    ),
    "digits": Pictures("", 0.2, 0.02, (40, 100), 8, 5, 0.25, 1, 100, BRIEF, brief=BRIEF, on_cpu=True),
}  # fmt: skip

AT = Defence("all")
#: Each defence; its epsilon and steps are those of the pictures, unless it has its own norm.
DEFENCES: dict[str, Defence | None] = {
    "none": None,
    "all": AT,
    "mix": Defence("mix"),
    "trades": Defence("trades"),
    "logit-pairing": Defence("logit-pairing"),
    "triplet": Defence("triplet"),
    "l2-0.25": Defence("all", norm="l2", epsilon=0.25),
    "l2-0.5": Defence("all", norm="l2", epsilon=0.5),
    "l2-1": Defence("all", norm="l2", epsilon=1.0),
    "noise": None,  # Gaussian noise in training, for a smoothed space
}
#: What is run of each set of pictures.
WANTED = {
    "cifar10": ("none", "all", "trades", "l2-0.25", "l2-0.5", "l2-1", "noise"),
    "cifar10-narrow": ("none",),
    "mnist": ("none", "all", "trades", "noise"),
    "mnist-whole": ("none", "all", "noise"),
    "mnist-cut": ("none", "all", "trades", "l2-0.25", "l2-0.5", "l2-1"),
    "digits": ("none", "all", "trades", "logit-pairing", "triplet", "l2-0.5", "l2-1", "noise"),
}
#: Sets of which a CPU cannot do the runs.
ON_GPU = tuple(data for data, pictures in DATA.items() if not pictures.on_cpu)


class Experiment(NamedTuple):
    """One run; its JSON has its name."""

    data: str
    seed: int
    defence: str = "none"

    @property
    def variant(self) -> str:
        return self.data if self.defence == "none" else f"{self.data}-{self.defence}"

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.seed}"


def grid(seeds: int = SEEDS, quick: bool = False) -> list[Experiment]:
    """Every run, the slowest first; a trial has three of digits, and each that needs a GPU once."""
    if quick:
        tried = {"digits": ("none", "trades", "noise"), **{data: WANTED[data] for data in ON_GPU}}
        return [Experiment(data, 0, defence) for data, defences in tried.items() for defence in defences]
    return [
        Experiment(data, seed, defence)
        for data, defences in WANTED.items()
        for defence in defences
        for seed in range(seeds)
    ]


def chosen(experiment: Experiment, items: Items) -> Items:
    """Every so many-th of the pictures."""
    every = DATA[experiment.data].every
    return items if every == 1 else items.take(torch.arange(0, len(items), every))


def run_of(experiment: Experiment, items: Items, quick: bool = False) -> Run:
    """The recipe with a dense output layer beside the similarity, and the defence."""
    pictures = DATA[experiment.data]
    defended = DEFENCES[experiment.defence] is not None
    epochs = (pictures.defended_epochs if defended else None) or pictures.epochs
    run = replace(prototypical(items), epochs=epochs, seed=experiment.seed, schedule=Schedule("cosine"))
    if pictures.folder == "cifar10":
        network = Part("WideResNet", {"depth": 16, "width": 1}) if pictures.on_cpu else Part("PreActResNet18")
        encoder = Part("Conv4", {"dimension": 64}) if quick else network
        run = as_for_pictures(run, encoder, size=256, rate=0.1)
    elif experiment.data in ("mnist-cut", "digits"):  # few items: few steps
        run = replace(run, optimiser=Optimiser("Adam", rate=2e-3), batches=Batches("Shuffled", {"size": 32}))
    if experiment.defence == "noise":
        run = replace(run, augment=(*run.augment, Part("PixelNoise", {"deviation": pictures.sigma})))
    defence = DEFENCES[experiment.defence]
    if defence is not None:
        epsilon = pictures.epsilon if defence.norm == "linf" else defence.epsilon
        run = replace(run, defence=replace(defence, epsilon=epsilon, steps=pictures.defence_steps))
    return replace(run, epochs=1, schedule=Schedule("constant")) if quick else run
