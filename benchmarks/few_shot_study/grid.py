"""The runs of the study: which data, which system, which seed."""

from typing import Literal, NamedTuple

Data = Literal["birds", "omniglot", "omniglot-long", "birds-short", "omniglot-short"]
SEEDS = 3
SHOTS = (1, 5)

#: The systems that are trained by tasks: a network and a recipe.
NETWORKS = {"conv4": "Conv4", "resnet18": "ResNet18"}
RECIPES = ("proto-softmax", "proto-dr", "nearest-softmax", "nearest-dr")
BOTH = RECIPES[:2]
#: Outside baselines by tasks, with Conv4.
OUTSIDE = ("matching", "relation")


class Setting(NamedTuple):
    """What the runs on some data have in common.

    The network sees ``pixels`` a side. A task of training has ``way`` classes and ``queries`` of each. A
    checkpoint is so many episodes; it is validated by so many ``tasks`` of ``asked_way`` classes and as many
    queries. ``window`` checkpoints are averaged for the curves, which are read after ``read_at`` episodes.
    """

    pixels: int = 84
    way: int = 5
    queries: int = 16
    checkpoint: int = 100
    tasks: int = 100
    asked_way: int = 5
    window: int = 10
    read_at: tuple[int, ...] = (1000, 2000, 5000, 10_000, 20_000, 40_000, 60_000)


_SHORT = Setting(queries=5, checkpoint=25, tasks=40, window=8, read_at=(200, 300, 400, 600, 800, 1000))
#: The tasks of birds are the paper's, those of characters Snell et al.'s; the long and short ones fit a CPU.
SETTINGS: dict[Data, Setting] = {
    "birds": Setting(),
    "omniglot": Setting(pixels=28, way=60, queries=5, asked_way=20),
    "omniglot-long": Setting(pixels=28, queries=5, read_at=(500, 1000, 2000, 4000, 6000, 8000, 10_000)),
    "omniglot-short": _SHORT._replace(pixels=28),
    "birds-short": _SHORT._replace(pixels=42),
}
#: Episodes of a training: of the paper where it is conv4 on birds, at least 10,000 elsewhere.
EPISODES: dict[tuple[Data, str], dict[int, int]] = {
    ("birds", "conv4"): {1: 60_000, 5: 40_000},
    ("birds", "resnet18"): {1: 10_000, 5: 10_000},
    ("omniglot", "conv4"): {1: 20_000, 5: 20_000},
    ("omniglot-long", "conv4"): {1: 10_000, 5: 10_000},
    ("omniglot-short", "conv4"): {1: 1000, 5: 1000},
    ("birds-short", "conv4"): {1: 600, 5: 600},
}
#: Those of the outside baselines, of the nearest example, and of the control in float32, at full length.
OTHER_EPISODES, QUICK_EPISODES = 20_000, 20
#: The data of trainings that fit a CPU, by the time of a run.
ON_CPU: tuple[Data, ...] = ("omniglot-short", "birds-short", "omniglot-long")


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
    def birds(self) -> bool:
        return self.data.startswith("birds")

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

    def setting(self, quick: bool) -> Setting:
        setting = SETTINGS[self.data]
        if not quick:
            return setting
        pixels = min(32, setting.pixels)
        return setting._replace(pixels=pixels, way=5, queries=4, checkpoint=10, tasks=20, asked_way=5)

    def episodes(self, quick: bool) -> int:
        if quick:
            return QUICK_EPISODES
        if self.data not in ON_CPU and (self.exact or self.recipe not in BOTH):
            return OTHER_EPISODES
        return EPISODES[self.data, self.network][self.shot]


def grid(seeds: int = SEEDS, quick: bool = False) -> list[Experiment]:
    """Every run, what the page needs most first; of those for a CPU a seed at a time. A trial has one seed of
    each.
    """
    seeds = 1 if quick else seeds
    ordered: list[tuple[Data, str, int]] = [("birds", f"conv4-{name}", 1) for name in BOTH]
    ordered += [("birds", "house", 0)]
    ordered += [("birds", f"conv4-{name}", 5) for name in BOTH]
    ordered += [("omniglot", f"conv4-{name}", shot) for shot in SHOTS for name in BOTH]
    ordered += [("birds", f"resnet18-{name}", shot) for shot in SHOTS for name in BOTH]
    ordered += [("birds", f"conv4-{name}", 5) for name in (*RECIPES[2:], *OUTSIDE)]
    ordered += [("birds", f"conv4-{name}-exact", 1) for name in BOTH]
    on_cpu = [(data, f"conv4-{name}", shot) for data in ON_CPU for shot in SHOTS for name in BOTH]
    on_cpu += [(data, f"conv4-{name}", 5) for data in ON_CPU[:2] for name in (*RECIPES[2:], *OUTSIDE)]
    runs = [Experiment(*system, seed) for system in ordered for seed in range(seeds)]
    return runs + [Experiment(*system, seed) for seed in range(seeds) for system in on_cpu]
