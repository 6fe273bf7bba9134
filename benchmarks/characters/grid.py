"""The runs of the study: both systems, trained with more and more classes, all for as many steps.

Small pictures and small networks: a run takes a core some minutes.
"""

from dataclasses import replace
from typing import NamedTuple

from samekind.recipes import prototypical, verification
from samekind.training import Batches, Optimiser, Part, Run, Schedule

SIZE, TUPLES, OF_A_CLASS = 20, 24, 5
#: Characters to train with, of which each has twenty drawings.
CLASSES, DRAWINGS = (40, 80, 240, 940), 20
#: As many batches for every run: what differs is how many classes they are drawn from.
STEPS = 600
SYSTEMS = {"verification": verification, "prototypical": prototypical}
#: Hidden layers of the pairs network, as many as in the papers for the second, of 128 units.
DEPTHS = {"verification": 2, "prototypical": 1}


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


def experiment(system: str, classes: int, seed: int, *, steps: int = STEPS) -> Run:
    """The recipe with its own terms; the epoch with the best learned score is kept."""
    run = SYSTEMS[system]((1, SIZE, SIZE))
    similarity = Part("PairsNetwork", {"hidden": 128, "depth": DEPTHS[system], "dropout": 0.2})
    batches = classes * (DRAWINGS // OF_A_CLASS) // TUPLES  # of an epoch
    return replace(
        run,
        space=replace(run.space, encoder=Part("Conv4"), similarity=similarity, standardise="none"),
        batches=Batches("Tuples", {"tuples": TUPLES, "size": OF_A_CLASS}),
        optimiser=Optimiser("AdamW", rate=1e-3, weight_decay=1e-4),
        schedule=Schedule("cosine", warmup_epochs=1),
        epochs=max(2, round(steps / batches)),
        clip=10.0,
        validate=("retrieval",),
        watch="recall@1 similarity",
        better="higher",
        seed=seed,
    )
