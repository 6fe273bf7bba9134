"""The runs of the study: each system trained with more and more classes, all for as many steps.

Small pictures and small networks: a run takes a core a quarter of an hour.
"""

from dataclasses import replace
from typing import NamedTuple

from samekind.recipes import prototypical, verification
from samekind.training import Batches, Optimiser, Part, Run, Schedule

SIZE, TUPLES, OF_A_CLASS = 20, 24, 5
#: Characters to train with, of which each has twenty drawings.
CLASSES, DRAWINGS = (40, 240, 940), 20
#: About as many batches for every run: what differs is how many classes they are drawn from.
STEPS = 3000
#: A recipe, its similarity, and the hidden layers of that, of 128 units each.
SYSTEMS = {
    "verification": (verification, "PairsNetwork", 2),
    "corrected": (verification, "CorrectedCosine", 2),
    "prototypical": (prototypical, "PairsNetwork", 1),
}


class Experiment(NamedTuple):
    """One run of the grid; its JSON has its name."""

    system: str
    classes: int
    run: Run

    @property
    def variant(self) -> str:
        return f"{self.system}-of-{self.classes}"

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.run.seed}"


def grid(steps: int = STEPS, quick: bool = False) -> list[Experiment]:
    """Every run, seed by seed. A trial has one seed and two numbers of classes."""
    return [
        Experiment(system, classes, experiment(system, classes, seed, steps=60 if quick else steps))
        for seed in ((0,) if quick else (0, 1, 2))
        for classes in (CLASSES[:2] if quick else CLASSES)
        for system in SYSTEMS
    ]


def batches_in(classes: int) -> int:
    """Those of an epoch: the fewer classes, the shorter it is, and the more often validation is asked."""
    return classes * (DRAWINGS // OF_A_CLASS) // TUPLES


def experiment(system: str, classes: int, seed: int, *, steps: int = STEPS) -> Run:
    """The recipe with its own terms; the epoch with the best learned score is kept."""
    recipe, name, depth = SYSTEMS[system]
    run = recipe((1, SIZE, SIZE))
    similarity = Part(name, {"hidden": 128, "depth": depth, "dropout": 0.2})
    return replace(
        run,
        space=replace(run.space, encoder=Part("Conv4"), similarity=similarity, standardise="none"),
        batches=Batches("Tuples", {"tuples": TUPLES, "size": OF_A_CLASS}),
        optimiser=Optimiser("AdamW", rate=1e-3, weight_decay=1e-4),
        schedule=Schedule("cosine", warmup_epochs=1),
        epochs=max(2, round(steps / batches_in(classes))),
        clip=10.0,
        validate=("retrieval",),
        watch="recall@1 similarity",
        better="higher",
        seed=seed,
    )
