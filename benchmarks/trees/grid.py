"""The runs of the study: which data, which system, which seed."""

from typing import Literal, get_args

from grids.experiment import SystemOnData

from samekind.recipes.proxies import BY_TREE, PROXIES

Data = Literal["plankton", "birds"]
DATA: tuple[Data, ...] = get_args(Data)
SEEDS = 3

#: Nothing is trained: a network with fresh weights, the one with ImageNet's, and the pixels themselves.
UNTRAINED = ("random", "pretrained", "input")
#: The grid of the paper: softmax and 13 systems; and its main rows, for birds.
PAPER = tuple(PROXIES)
MAIN = ("softmax", "norm-face", "norm-face-dynamic", "norm-face-mds", "proxy-dr", "proxy-dr-dynamic")
MAIN += ("proxy-dr-ema", "proxy-dr-mds", "corr")
#: Proxies laid out by the tree and turned towards the classes; ours.
TURNED = tuple(BY_TREE)
#: What else goes by a tree, and other spaces; run last. "proxy-dr-published" has the dynamic scale of the
#: authors' code.
OTHERS = ("hxe", "soft-labels", "conditional", "distortion", "corr-exact", "hyperspherical", "euclidean")
OTHERS += ("poincare", "proxy-dr-published")
#: A trial has a few systems.
QUICK: dict[Data, tuple[str, ...]] = {
    "plankton": ("input", "softmax", "proxy-dr-dynamic", "corr", "hxe"),
    "birds": ("norm-face-ema",),
}

Experiment = SystemOnData[Data, str]


def grid(seeds: int = SEEDS, quick: bool = False) -> list[Experiment]:
    """Every run, what the page needs most first. A trial has one seed."""
    if quick:
        return [Experiment(data, system, 0) for data in DATA for system in QUICK[data]]
    systems: list[tuple[Data, tuple[str, ...]]] = [("birds", MAIN), ("plankton", PAPER)]
    systems += [(data, TURNED) for data in DATA]
    systems += [(data, UNTRAINED) for data in DATA] + [("plankton", OTHERS)]
    return [
        Experiment(data, system, seed) for data, names in systems for system in names for seed in range(seeds)
    ]
