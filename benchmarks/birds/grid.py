"""The runs of the experiment, the most important first.

The systems are the recipes for retrieval, which have the papers' settings; a variant differs in what its name
says. The learned score of the 2020 paper begins with new weights, because its authors published none.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from grids.ablations import by_cosine, corrected, from_first, learned_prototypes, summed, without_auxiliary
from grids.commands import command
from grids.experiment import seed_by_seed

from samekind.recipes import retrieval
from samekind.training import Batches, Run

#: Pictures are read with so many pixels, and seven eighths of them are looked at: 224.
EPOCHS, SIZE, QUICK_SIZE = 150, 256, 72
SYSTEMS = ("verification", "prototypical")


class Experiment(NamedTuple):
    """One run of the grid; its JSON has its name. ``run`` is None for the network as ImageNet left it."""

    variant: str
    seed: int
    run: Run | None
    size: int = SIZE

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.seed}"


def grid(epochs: int = EPOCHS, quick: bool = False) -> list[Experiment]:
    """Every run, seed by seed: the untrained network, the systems, their ablations and what else was tried. A
    trial has one seed of everything.
    """
    seeds = (0,) if quick else (0, 1, 2)
    studies = [name for name in VARIANTS if name not in SYSTEMS]
    order = [("untrained", 0), *seed_by_seed(SYSTEMS, seeds), *seed_by_seed(studies, seeds)]
    return [experiment(name, seed, epochs=epochs, quick=quick) for name, seed in order]


def experiment(variant: str, seed: int, *, epochs: int = EPOCHS, quick: bool = False) -> Experiment:
    """The run of a variant. ``quick`` is for trying it out: small pictures, two epochs of small batches."""
    size = QUICK_SIZE if quick else SIZE
    if variant == "untrained":
        return Experiment(variant, seed, None, size)
    run = VARIANTS[variant]((3, size, size))
    if quick:
        run = replace(run, batches=Batches("Tuples", {"tuples": 4, "size": 5}))
    run = replace(
        run,
        epochs=2 if quick else epochs,
        channels_last=not quick,
        watch="map@r best",
        seed=seed,
    )
    return Experiment(variant, seed, run, size)


def command_of(variant: str) -> str:
    """What runs a variant from the command line, but for the data and the seed."""
    system = variant.partition("-")[0]
    base, run = (experiment(name, 0).run for name in (system, variant))
    assert base is not None
    assert run is not None
    return command(Path("benchmarks/birds/runs", f"{system}.toml"), base, run)


Shape = tuple[int, int, int]
Make = Callable[[Shape], Run]


def _verification(shape: Shape) -> Run:
    return retrieval(shape, system="verification-retrieval")


def _prototypical(shape: Shape) -> Run:
    return retrieval(shape, system="prototypical-retrieval")


def _changed(make: Make, change: Callable[[Run], Run]) -> Make:
    return lambda shape: change(make(shape))


#: What there is to run, by name; more important studies come first.
VARIANTS: dict[str, Make] = {
    "verification": _verification,
    "prototypical": _prototypical,
    "prototypical-cosine": _changed(_prototypical, by_cosine),
    "prototypical-first": _changed(_prototypical, from_first),
    "verification-sum": _changed(_verification, summed),
    "verification-alone": _changed(_verification, without_auxiliary),
    "prototypical-alone": _changed(_prototypical, without_auxiliary),
    "prototypical-learned-prototypes": _changed(_prototypical, learned_prototypes),
    "prototypical-corrected": _changed(_prototypical, corrected),
}
