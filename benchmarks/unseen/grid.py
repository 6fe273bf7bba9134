"""The runs of the experiment, the most important first.

The three losses with their extensions are the recipes as they are; what all runs have in common is below. A
reference differs in its loss, dimension, network or size of the pictures, and its name says in which.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple, get_args

from samekind.recipes import unseen
from samekind.recipes.unseen import EXTENSIONS, Extension, Loss
from samekind.training import Adversary, Batches, Optimiser, Part, Parts, Run, Schedule, Term

EPOCHS, SIZE, QUICK_SIZE = 10, 224, 64
#: The size of picture that each variant of the network was made for.
SIZES = {0: 224, 1: 240, 2: 260}
LOSSES: tuple[Loss, ...] = get_args(Loss)
#: What the coefficient of the adaptive adversary is tried at; 0.5 is the recipe itself.
WEIGHTS = (0.0, 0.1, 0.3, 0.7, 1.0)
SWEPT = "proxy-nca"  # the loss the sweep is made with: the best one of the paper


class Experiment(NamedTuple):
    """One run of the grid; its JSON has its name. ``run`` is None for a network that is not trained; ``full``
    trains with the validation classes as well, and keeps the last epoch.
    """

    variant: str
    seed: int
    run: Run | None
    size: int = SIZE
    full: bool = False
    network: int = 0

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.seed}"


class Variant(NamedTuple):
    """How the run of a variant is made, for pictures of a shape."""

    make: Callable[[tuple[int, int, int]], Run | None]
    network: int = 0
    size: int = SIZE
    full: bool = False


def grid(epochs: int = EPOCHS, quick: bool = False) -> list[Experiment]:
    """Every run: the table of losses and extensions and what it is seen beside with two seeds, then the sweep
    of the coefficient, and last a third seed of the table. A trial has one seed of everything.
    """
    table = [called(loss, extension) for extension in EXTENSIONS for loss in LOSSES]
    untrained = [name for name in VARIANTS if name.startswith("untrained")]
    sweep = [name for name in VARIANTS if "-weight-" in name]
    rest = [name for name in VARIANTS if name not in {*table, *untrained, *sweep}]
    order = [
        *_of(untrained, (0,)),
        *_of([*table, *rest], (0,) if quick else (0, 1)),
        *_of(sweep, (0,) if quick else (0, 1)),
        *([] if quick else _of(table, (2,))),
    ]
    return [experiment(name, seed, epochs=epochs, quick=quick) for name, seed in order]


def experiment(name: str, seed: int, *, epochs: int = EPOCHS, quick: bool = False) -> Experiment:
    """The run of a variant. ``quick`` is for trying it out: small pictures, two epochs."""
    variant = VARIANTS[name]
    size = QUICK_SIZE if quick else variant.size
    run = variant.make((3, size, size))
    if run is not None:
        run = replace(
            run,
            epochs=2 if quick else epochs,
            seed=seed,
            validate=("retrieval", "clustering"),
            watch="recall@1",
            better="higher",
            channels_last=not quick,
        )
    return Experiment(name, seed, run, size, variant.full, variant.network)


def called(loss: Loss, extension: Extension) -> str:
    """The name of a variant of the table.

    >>> called("proxy-nca", "soft-adv")
    'proxy-nca-soft-adv'
    """
    return f"{loss}-{extension}"


def _of(variants: Iterable[str], seeds: Iterable[int]) -> list[tuple[str, int]]:
    variants = list(variants)
    return [(variant, seed) for seed in seeds for variant in variants]


def _network(variant: int, dimension: int) -> Part:
    return Part("EfficientNetLite", {"variant": variant, "batch_norm": "frozen", "dimension": dimension})


def _method(
    loss: Loss, extension: Extension, *, attention: bool | None = None, dimension: int = 64, network: int = 0
) -> Callable[[tuple[int, int, int]], Run]:
    def make(shape: tuple[int, int, int]) -> Run:
        encoder = _network(network, dimension)
        return unseen(
            shape, loss=loss, extension=extension, attention=attention, dimension=dimension, encoder=encoder
        )

    return make


def _with_last(loss: Loss, extension: Extension) -> Callable[[tuple[int, int, int]], Run]:
    """With attention, and the last feature, which asks it, beside what it finds."""

    def make(shape: tuple[int, int, int]) -> Run:
        backbone = {"name": "EfficientNetLite", "variant": 0, "batch_norm": "frozen"}
        encoder = Part("Attended", {"backbone": backbone, "with_last": True, "dimension": 64})
        return unseen(shape, loss=loss, extension=extension, encoder=encoder)

    return make


def _by_steps(loss: Loss) -> Callable[[tuple[int, int, int]], Run]:
    """The full method, its coefficient following step by step instead of epoch by epoch."""

    def make(shape: tuple[int, int, int]) -> Run:
        return replace(_method(loss, "adapt-adv")(shape), adversary=Adversary("adaptive", updated="step"))

    return make


def _weighted(weight: float) -> Callable[[tuple[int, int, int]], Run]:
    """The adaptive adversary at another weight; at 0 it looks on."""

    def make(shape: tuple[int, int, int]) -> Run:
        return replace(_method(SWEPT, "adapt-adv")(shape), adversary=Adversary("adaptive", weight=weight))

    return make


def _reference(term: str, *, dimension: int, network: int = 0) -> Callable[[tuple[int, int, int]], Run]:
    """A loss that the paper does not have, trained as its own authors do: by cosines, AdamW, and a rate that
    comes down; with proxies, which learn a hundred times as fast, or pairs of balanced batches.
    """

    def make(shape: tuple[int, int, int]) -> Run:
        base = _method("proxy-nca", "base", dimension=dimension, network=network)(shape)
        proxies = term == "proxy_anchor"
        prototypes = Part("LearnedProxies" if proxies else "SupportMeans")
        if proxies:
            loss, batches = Term(term, against="prototypes"), Batches("Shuffled", {"size": 128})
        else:
            loss, batches = Term(term, miner="informative"), Batches("Tuples", {"tuples": 32, "size": 4})
        return replace(
            base,
            recipe=f"unseen, {term.replace('_', ' ')}",
            space=Parts(_network(network, dimension), Part("Cosine"), prototypes),
            terms={"proxies" if proxies else "pairs": loss},
            batches=batches,
            optimiser=Optimiser(
                "AdamW",
                rate=1e-4,
                weight_decay=1e-4,
                rates={"encoder.embedding": 1e-3} | ({"prototypes": 1e-2} if proxies else {}),
            ),
            schedule=Schedule("cosine"),
        )

    return make


def _coming_down(make: Callable[[tuple[int, int, int]], Run]) -> Callable[[tuple[int, int, int]], Run]:
    """With a rate that comes down, so that the last epoch is a good one."""
    return lambda shape: replace(make(shape), schedule=Schedule("cosine"))


def _large(make: Callable[[tuple[int, int, int]], Run], *, full: bool = False) -> Variant:
    return Variant(make, network=2, size=SIZES[2], full=full)


_ANCHOR = _reference("proxy_anchor", dimension=512, network=2)
_SOFT = _coming_down(_method("proxy-nca", "soft-adv", dimension=512, network=2))

#: What there is to run, by name.
VARIANTS: dict[str, Variant] = {
    **{f"untrained-lite{size}": Variant(lambda _: None, size, SIZES[size]) for size in SIZES},
    **{
        called(loss, extension): Variant(_method(loss, extension))
        for extension in EXTENSIONS
        for loss in LOSSES
    },
    "triplet-attention": Variant(_method("triplet", "base", attention=True)),
    "triplet-adversary": Variant(_method("triplet", "adapt-adv", attention=False)),
    "triplet-attention-last": Variant(_with_last("triplet", "base")),
    "triplet-adapt-adv-last": Variant(_with_last("triplet", "adapt-adv")),
    "proxy-nca-soft-adv-last": Variant(_with_last("proxy-nca", "soft-adv")),
    "proxy-nca-adapt-adv-last": Variant(_with_last("proxy-nca", "adapt-adv")),
    **{f"{loss}-adapt-adv-steps": Variant(_by_steps(loss)) for loss in LOSSES},
    "proxy-anchor-64": Variant(_reference("proxy_anchor", dimension=64)),
    "proxy-anchor-512": Variant(_reference("proxy_anchor", dimension=512)),
    "proxy-anchor-512-lite2": _large(_ANCHOR),
    "proxy-nca-soft-adv-512-lite2": _large(_SOFT),
    "multi-similarity-512-lite2": _large(_reference("multi_similarity", dimension=512, network=2)),
    "proxy-anchor-512-lite2-full": _large(_ANCHOR, full=True),
    "proxy-nca-soft-adv-512-lite2-full": _large(_SOFT, full=True),
    **{f"{SWEPT}-adapt-adv-weight-{weight:g}": Variant(_weighted(weight)) for weight in WEIGHTS},
}
