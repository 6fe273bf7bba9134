"""The runs of the study: which data, which system, which seed."""

import os
from typing import Literal, NamedTuple

Data = Literal["birds", "omniglot"]
SEEDS = 3
SHOTS = (1, 5)

#: The systems that are trained by tasks: a network and a recipe.
NETWORKS = {"conv4": "Conv4", "resnet18": "ResNet18"}
RECIPES = ("proto-softmax", "proto-dr", "nearest-softmax", "nearest-dr")
#: Outside baselines by tasks, with Conv4.
OUTSIDE = ("matching", "relation")

#: Episodes of a training: of the paper where it is conv4 on birds, at least 10,000 elsewhere.
EPISODES: dict[tuple[str, str, int], int] = {
    ("birds", "conv4", 1): 60_000,
    ("birds", "conv4", 5): 40_000,
    ("birds", "resnet18", 1): 10_000,
    ("birds", "resnet18", 5): 10_000,
    ("omniglot", "conv4", 1): 20_000,
    ("omniglot", "conv4", 5): 20_000,
}
#: Shorter runs: the outside baselines, and the control in float32.
SHORT = 20_000
QUICK_EPISODES = 20
#: A variable of the environment: so many episodes for every run, to measure the speed.
FEWER = "FEW_SHOT_EPISODES"
#: Episodes of a checkpoint.
CHECKPOINT, QUICK_CHECKPOINT = 100, 10


class Experiment(NamedTuple):
    """One run; its JSON has its name. ``shot`` is 0 where no training is by tasks."""

    data: Data
    system: str
    shot: int
    seed: int

    @property
    def variant(self) -> str:
        shots = f"-{self.shot}shot" if self.shot else ""
        return f"{self.data}-{self.system}{shots}"

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.seed}"

    @property
    def network(self) -> str:
        return self.system.partition("-")[0]

    @property
    def recipe(self) -> str:
        """The recipe, or the baseline, without what is said about the precision."""
        return self.system.partition("-")[2].removesuffix("-exact")

    @property
    def exact(self) -> bool:
        """Whether it is trained in float32, to see whether 16 bits change anything."""
        return self.system.endswith("-exact")

    def episodes(self, quick: bool) -> int:
        if quick:
            return QUICK_EPISODES
        if FEWER in os.environ:
            return int(os.environ[FEWER])
        if self.exact or self.recipe in OUTSIDE or self.recipe.startswith("nearest"):
            return SHORT
        return EPISODES[self.data, self.network, self.shot]


def grid(seeds: int = SEEDS, quick: bool = False) -> list[Experiment]:
    """Every run, what the page needs most first. A trial has one seed."""
    if quick:
        systems = [("birds", "conv4-proto-dr", 5), ("birds", "conv4-matching", 5), ("birds", "house", 0)]
        systems += [("omniglot", "conv4-proto-dr", 1), ("birds", "conv4-relation", 5)]
        return [Experiment(*system, 0) for system in systems]  # type: ignore[arg-type]
    both = ("proto-softmax", "proto-dr")
    ordered: list[tuple[Data, str, int]] = [("birds", f"conv4-{name}", 1) for name in both]
    ordered += [("birds", "house", 0)]
    ordered += [("birds", f"conv4-{name}", 5) for name in both]
    ordered += [("omniglot", f"conv4-{name}", shot) for shot in SHOTS for name in both]
    ordered += [("birds", f"resnet18-{name}", shot) for shot in SHOTS for name in both]
    ordered += [("birds", f"conv4-{name}", 5) for name in ("nearest-softmax", "nearest-dr", *OUTSIDE)]
    ordered += [("birds", f"conv4-{name}-exact", 1) for name in both]
    return [Experiment(*system, seed) for system in ordered for seed in range(seeds)]
