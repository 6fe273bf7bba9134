"""The runs of the experiment, the most important first.

Everything but what a variant is about is the same for all: the pretrained network, batches, augmentation,
optimiser, rates and schedule. The parts and terms are those of the recipes, with the papers' sizes.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from grids.ablations import (
    by_cosine,
    by_triplets,
    corrected,
    learned_prototypes,
    normalised,
    with_memory,
    with_temperature,
    without_auxiliary,
)
from grids.commands import command
from grids.results import LEARNED

from samekind.recipes import prototypical, verification
from samekind.training import Batches, Optimiser, Part, Run, Schedule, Term

EPOCHS, SIZE, QUICK_SIZE = 15, 224, 64
#: Slow for what ImageNet taught, faster for what is new.
RATE, NEW_RATE = 1e-4, 1e-3
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
    """Every run: the untrained network, the systems and their ablations with two seeds, what else was tried,
    and a third seed for the systems and the ablations. A trial has one seed of everything.
    """
    main = [name for name in VARIANTS if name not in TRIED]
    order = [
        ("untrained", 0),
        *_of(main, (0,) if quick else (0, 1)),
        *_of(TRIED, (0,)),
        *([] if quick else _of(main, (2,))),
    ]
    return [experiment(name, seed, epochs=epochs, quick=quick) for name, seed in order]


def experiment(variant: str, seed: int, *, epochs: int = EPOCHS, quick: bool = False) -> Experiment:
    """The run of a variant. ``quick`` is for trying it out: small pictures, two epochs of small batches."""
    size = QUICK_SIZE if quick else SIZE
    if variant == "untrained":
        return Experiment(variant, seed, None, size)
    run = VARIANTS[variant]((3, size, size))
    parts = {
        "similarity": run.space.similarity.name in LEARNED,
        "prototypes": run.space.prototypes.name == "LearnedProxies",
        "auxiliary": run.space.auxiliary is not None,
        "encoder.embedding": run.space.encoder.arguments.get("dimension") is not None,
    }
    run = replace(
        run,
        batches=Batches("Tuples", {"tuples": 4 if quick else 24, "size": 5}),
        augment=(Part("RandomResizedCrop"), Part("Flip")),
        optimiser=Optimiser(
            "AdamW", rate=RATE, weight_decay=1e-4, rates={name: NEW_RATE for name in parts if parts[name]}
        ),
        # Warmed up, because the pairs network sees embeddings of any length from the first step on.
        schedule=Schedule("cosine", warmup_epochs=0.5 if quick else 1),
        epochs=2 if quick else epochs,
        clip=10.0,
        channels_last=not quick,
        validate=("retrieval",),
        watch="recall@1",
        better="higher",
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


def _of(variants: Iterable[str], seeds: Iterable[int]) -> list[tuple[str, int]]:
    variants = list(variants)
    return [(variant, seed) for seed in seeds for variant in variants]


Shape = tuple[int, int, int]
Make = Callable[[Shape], Run]


def _on_birds(run: Run, similarity: Part, dimension: int | None) -> Run:
    """The recipe with the pretrained network, whose features are the embeddings unless told otherwise."""
    arguments = {"variant": 0, "batch_norm": "frozen"}
    network = Part(
        "EfficientNetLite", arguments if dimension is None else {**arguments, "dimension": dimension}
    )
    return replace(run, space=replace(run.space, encoder=network, similarity=similarity))


def _verification(dimension: int | None = None, *, depth: int = 3) -> Make:
    """The learned score: layers of 350 over the pair, and an additive-margin softmax beside it."""

    def make(shape: Shape) -> Run:
        similarity = Part("PairsNetwork", {"hidden": 350, "depth": depth, "dropout": 0.2})
        run = _on_birds(verification(shape), similarity, dimension)
        margin = Term("additive_margin", against="auxiliary", arguments={"margin": 0.4, "smoothing": 0.2})
        return replace(run, terms={**run.terms, "auxiliary": margin})

    return make


def _prototypical(dimension: int | None = None) -> Make:
    """One similarity for classes and pairs, prototypes as running averages, a dense output layer beside."""

    def make(shape: Shape) -> Run:
        similarity = Part("PairsNetwork", {"hidden": 512, "depth": 1, "dropout": 0.25})
        return _on_birds(prototypical(shape), similarity, dimension)

    return make


def _changed(make: Make, change: Callable[[Run], Run]) -> Make:
    return lambda shape: change(make(shape))


#: What there is to run, by name; more important studies come first.
VARIANTS: dict[str, Make] = {
    "verification": _verification(),
    "prototypical": _prototypical(),
    "prototypical-cosine": _changed(_prototypical(), by_cosine),
    "prototypical-learned-prototypes": _changed(_prototypical(), learned_prototypes),
    "prototypical-alone": _changed(_prototypical(), without_auxiliary),
    "verification-alone": _changed(_verification(), without_auxiliary),
    "verification-128": _verification(128),
    "prototypical-128": _prototypical(128),
    "verification-memory": _changed(_verification(), with_memory),
    "verification-normalised": _changed(_verification(), normalised),
    "prototypical-normalised": _changed(_prototypical(), normalised),
    "verification-depth-1": _verification(depth=1),
    "verification-by-triplets": _changed(_verification(), by_triplets),
    "verification-corrected": _changed(_verification(), corrected),
    "prototypical-corrected": _changed(_prototypical(), corrected),
    "prototypical-temperature": _changed(_prototypical(), with_temperature),
}

#: What might make the learned similarity pay: fewer dimensions, as the papers have it, more negatives,
#: normalised embeddings, a shallow network, other weights of the pairs, a network that is added to the
#: cosine, a learned temperature.
TRIED = (
    "verification-128",
    "prototypical-128",
    "verification-memory",
    "verification-normalised",
    "prototypical-normalised",
    "verification-depth-1",
    "verification-by-triplets",
    "verification-corrected",
    "prototypical-corrected",
    "prototypical-temperature",
)
