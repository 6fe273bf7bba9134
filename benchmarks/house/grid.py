"""The runs of the study: each set of data, by the house recipe and by what a user would do instead."""

from typing import Literal, get_args

from grids.experiment import SystemOnData

Data = Literal["birds", "plankton", "characters", "fashion", "fashion-cut", "digits", "wine", "cancer"]
DATA: tuple[Data, ...] = get_args(Data)
#: The house recipe; scikit-learn on the first rung's embeddings; pytorch-metric-learning's own trainer, with
#: the settings of its example, and with those of the paper of its loss.
System = Literal["house", "instead", "peer", "paper"]
SYSTEMS: tuple[System, ...] = get_args(System)
SEEDS = 3
#: The data whose network is pretrained.
LARGE_PICTURES = ("birds", "plankton")
#: The system that needs it.
OF_LARGE_PICTURES = ("paper",)

Experiment = SystemOnData[Data, System]


def grid(seeds: int = SEEDS, quick: bool = False) -> list[Experiment]:
    """Every run, the slowest first: several run at once. A trial has one seed."""
    return [
        Experiment(data, system, seed)
        for data in DATA
        for system in SYSTEMS
        if system not in OF_LARGE_PICTURES or data in LARGE_PICTURES
        for seed in range(1 if quick else seeds)
    ]
