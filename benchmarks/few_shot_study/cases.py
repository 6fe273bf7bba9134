"""The runs that tables and pictures compare: softmax and DR with the same data, network and shots."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from grid import BOTH, NETWORKS, SETTINGS, SHOTS, Data, Setting
from grids.results import Results
from grids.tables import with_interval

CALLED = {"conv4": "Conv4", "resnet18": "ResNet-18"}
#: The two classifiers and their difference; the heading of `Case.cells`.
COMPARED = ("softmax", "DR", "DR - softmax")
PAPER = ("paper: softmax", "paper: DR")

Content = dict[str, Any]


class Case(NamedTuple):
    """The runs of one network with so many shots: by recipe, and by seed."""

    data: Data
    network: str
    shot: int
    runs: dict[str, dict[int, Content]]

    @property
    def about(self) -> list[str]:
        """The network and the shots, as rows begin."""
        return [CALLED[self.network], str(self.shot)]

    @property
    def setting(self) -> Setting:
        return SETTINGS[self.data]

    @property
    def episodes(self) -> int:
        """Those of a training."""
        return next(int(content["episodes"]) for runs in self.runs.values() for content in runs.values())

    def pairs(self) -> list[tuple[Content, Content]]:
        """Softmax and DR, of each seed that both have."""
        softmax, ratios = (self.runs[recipe] for recipe in BOTH)
        return [(softmax[seed], ratios[seed]) for seed in softmax if seed in ratios]

    def cells(self, value: Callable[[Content], float], *, digits: int = 2) -> list[str]:
        """A value of softmax, of DR, and DR less softmax seed by seed: means over seeds with intervals."""
        columns = [[value(content) for content in self.runs[recipe].values()] for recipe in BOTH]
        columns += [[value(ratios) - value(softmax) for softmax, ratios in self.pairs()]]
        return [with_interval(column, digits=digits) for column in columns]

    def paper(self, of: Mapping[tuple[str, int, str], Any]) -> list[Any]:
        """What the paper has of both; nothing about characters."""
        birds = self.data.startswith("birds")
        return [of[self.network, self.shot, recipe] for recipe in BOTH] if birds else []


def cases_of(results: Results, data: Data) -> list[Case]:
    """The cases of some data of which anything was run."""
    cases = []
    for network in NETWORKS:
        for shot in SHOTS:
            runs = {recipe: by_seed(results, f"{data}-{network}-{recipe}-{shot}shot") for recipe in BOTH}
            cases += [Case(data, network, shot, runs)] if any(runs.values()) else []
    return cases


def by_seed(results: Results, variant: str) -> dict[int, Content]:
    return {seed: results.contents[variant, seed] for seed in results.seeds(variant)}


def smoothed(content: Content, name: str, *, window: int) -> list[float]:
    """A curve of a run: the mean of each checkpoint and those before it, so many in all; the first have
    fewer.
    """
    values = content["checkpoints"][name]
    parts = [values[max(0, place + 1 - window) : place + 1] for place in range(len(values))]
    return [sum(part) / len(part) for part in parts]
