"""The runs of the study: each system trained with more and more classes, all for as many steps.

Small pictures and small networks: a run takes a core a few minutes.
"""

from dataclasses import replace
from typing import NamedTuple

from samekind.recipes import prototypical, verification
from samekind.training import Batches, Optimiser, Part, Run, Schedule

SIZE, TUPLES, OF_A_CLASS = 20, 24, 5
#: Characters to train with, of which each has twenty drawings.
CLASSES, DRAWINGS = (40, 240, 940), 20
#: About as many batches for every run: what differs is how many classes they are drawn from.
STEPS = 1500
#: A recipe, its similarity, and the hidden layers of that, of 128 units each.
SYSTEMS = {
    "verification": (verification, "PairsNetwork", 2),
    "corrected": (verification, "CorrectedCosine", 2),
    "prototypical": (prototypical, "PairsNetwork", 1),
    "verification-sum": (verification, "PairsNetwork", 2),
    "prototypical-first": (prototypical, "PairsNetwork", 1),
}
#: What is tried with one number of classes alone: the sum of the two means of pairs where the paper has one
#: mean, and running averages that begin with the first items seen of a class where the paper has noise.
CHOICES = {
    "verification-sum": ["terms.pair.total=sum"],
    "prototypical-first": ["space.prototypes.initial=first"],
}
CHOICES_WITH = 240


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
    """Every run, seed by seed, those of 240 characters first. A trial has one seed and two numbers."""
    return [
        Experiment(system, classes, experiment(system, classes, seed, steps=60 if quick else steps))
        for classes in sorted(CLASSES[:2] if quick else CLASSES, key=lambda count: count != CHOICES_WITH)
        for seed in ((0,) if quick else (0, 1, 2))
        for system in SYSTEMS
        if classes == CHOICES_WITH or system not in CHOICES
    ]


def batches_in(classes: int) -> int:
    """Those of an epoch: the fewer classes, the shorter it is, and the more often validation is asked."""
    return classes * (DRAWINGS // OF_A_CLASS) // TUPLES


def experiment(system: str, classes: int, seed: int, *, steps: int = STEPS) -> Run:
    """The recipe with its own terms; every score is judged at the epoch that is its best."""
    recipe, name, depth = SYSTEMS[system]
    run = recipe((1, SIZE, SIZE))
    similarity = Part(name, {"hidden": 128, "depth": depth, "dropout": 0.2})
    run = replace(
        run,
        space=replace(run.space, encoder=Part("Conv4"), similarity=similarity, standardise="none"),
        batches=Batches("Tuples", {"tuples": TUPLES, "size": OF_A_CLASS}),
        optimiser=Optimiser("AdamW", rate=1e-3, weight_decay=1e-4),
        schedule=Schedule("cosine", warmup_epochs=1),
        epochs=max(2, round(steps / batches_in(classes))),
        clip=10.0,
        validate=("retrieval",),
        watch="map@r best",
        seed=seed,
    )
    return run.override(CHOICES.get(system, []))
