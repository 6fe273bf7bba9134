"""The runs of the experiment, the most important first.

The three losses with their extensions are the recipes as they are, with the document's settings; what all
runs have in common is below. A reference differs in its loss, dimension, network or start, and its name says
in which.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, get_args

from grids.experiment import seed_by_seed

from samekind.recipes import unseen
from samekind.recipes.cropped import looking_at_the_middle
from samekind.recipes.unseen import EXTENSIONS, Extension, Loss
from samekind.training import Adversary, Batches, Optimiser, Part, Parts, Run, Schedule, Term

#: Pictures are read with so many pixels, and seven eighths of them are looked at: 224.
EPOCHS, SIZE, QUICK_SIZE = 25, 256, 72
#: The size of picture that each variant of the network is shown, before the crop.
SIZES = {0: 256, 2: 296}
LOSSES: tuple[Loss, ...] = get_args(Loss)
#: What the coefficient of the adaptive adversary is tried at; 0.5 is the recipe itself.
WEIGHTS = (0.0, 0.1, 0.3, 0.7, 1.0)
SWEPT = "proxy-nca"  # the loss the sweep is made with: the best one of the paper
#: The numbers of an embedding.
NUMBERS = 64


class Experiment(NamedTuple):
    """One run of the grid; its JSON has its name. ``run`` is None for a network that is not trained, with
    ``dimension`` numbers; ``directions`` has these, or the embedding layer that is trained, begin with the
    principal directions of the features, not at random.
    """

    variant: str
    seed: int
    run: Run | None
    size: int = SIZE
    network: int = 0
    dimension: int | None = None
    directions: bool = False

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.seed}"


class Variant(NamedTuple):
    """How the run of a variant is made, for pictures of a shape."""

    make: Callable[[tuple[int, int, int]], Run | None]
    network: int = 0
    dimension: int | None = None
    directions: bool = False


def grid(epochs: int = EPOCHS, quick: bool = False) -> list[Experiment]:
    """Every run: the starting points, the table of losses and extensions, the losses from principal
    directions and what else stands beside it, with three seeds; then the sweep of the coefficient with one. A
    trial has one seed of everything.
    """
    sweep = [name for name in VARIANTS if "-weight-" in name]
    once = [name for name in VARIANTS if name.startswith("untrained") and "random" not in name]
    table = [called(loss, extension) for extension in EXTENSIONS for loss in LOSSES]
    starts = [name for name in VARIANTS if name.endswith(("-random-64", "-from-pca"))]
    rest = [name for name in VARIANTS if name not in {*table, *once, *starts, *sweep}]
    seeds = (0,) if quick else (0, 1, 2)
    order = [
        *seed_by_seed(once, (0,)),
        *seed_by_seed(table, seeds),
        *seed_by_seed(starts, seeds),
        *seed_by_seed(rest, seeds),
        *seed_by_seed(sweep, (0,)),
    ]
    return [experiment(name, seed, epochs=epochs, quick=quick) for name, seed in order]


def experiment(name: str, seed: int, *, epochs: int = EPOCHS, quick: bool = False) -> Experiment:
    """The run of a variant. ``quick`` is for trying it out: small pictures, two epochs."""
    variant = VARIANTS[name]
    size = QUICK_SIZE if quick else SIZES[variant.network]
    run = variant.make((3, size, size))
    if run is not None:
        run = replace(
            run,
            epochs=2 if quick else epochs,
            seed=seed,
            validate=("retrieval",),
            watch="map@r",
            channels_last=not quick,
        )
    return Experiment(name, seed, run, size, variant.network, variant.dimension, variant.directions)


def called(loss: Loss, extension: Extension) -> str:
    """The name of a variant of the table.

    >>> called("proxy-nca", "soft-adv")
    'proxy-nca-soft-adv'
    """
    return f"{loss}-{extension}"


def _network(variant: int, dimension: int) -> Part:
    return Part("EfficientNetLite", {"variant": variant, "batch_norm": "frozen", "dimension": dimension})


Make = Callable[[tuple[int, int, int]], Run]


def _method(
    loss: Loss,
    extension: Extension,
    *,
    attention: bool | None = None,
    dimension: int = NUMBERS,
    network: int = 0,
    n_pair: bool = False,
) -> Make:
    def make(shape: tuple[int, int, int]) -> Run:
        encoder = _network(network, dimension)
        return unseen(
            shape,
            loss=loss,
            extension=extension,
            attention=attention,
            n_pair=n_pair,
            dimension=dimension,
            encoder=encoder,
        )

    return make


def _slow_layer(make: Make) -> Make:
    """With the new layer as slow as the network below it: it begins with principal directions, which a high
    rate would throw away.
    """
    return lambda shape: make(shape).override(["optimiser.rates.encoder.embedding=0.0001"])


def _as_in_code(make: Make) -> Make:
    """With the settings of other code of the same authors: Adam's epsilon 1, the rate down to 0.94 of itself
    after each epoch.
    """
    changes = ["optimiser.epsilon=1.0", "schedule.name=exponential", "schedule.factor=0.94"]
    return lambda shape: make(shape).override(changes)


def _by_steps(loss: Loss) -> Make:
    """The full method, its coefficient following step by step instead of epoch by epoch."""

    def make(shape: tuple[int, int, int]) -> Run:
        return replace(_method(loss, "adapt-adv")(shape), adversary=Adversary("adaptive", updated="step"))

    return make


def _weighted(weight: float) -> Make:
    """The adaptive adversary at another weight; at 0 it looks on."""

    def make(shape: tuple[int, int, int]) -> Run:
        return replace(_method(SWEPT, "adapt-adv")(shape), adversary=Adversary("adaptive", weight=weight))

    return make


def _reference(term: str, *, dimension: int, network: int = 0) -> Make:
    """Proxy-Anchor, which the paper does not have, trained as its own authors do: by cosines, AdamW, a rate
    that comes down, and proxies that learn a hundred times as fast.
    """

    def make(shape: tuple[int, int, int]) -> Run:
        base = _method("proxy-nca", "base", dimension=dimension, network=network)(shape)
        encoder = looking_at_the_middle(_network(network, dimension), shape[1] * 7 // 8)
        return replace(
            base,
            recipe=f"unseen, {term.replace('_', ' ')}",
            space=Parts(encoder, Part("Cosine"), Part("LearnedProxies")),
            terms={"proxies": Term(term, against="prototypes")},
            batches=Batches("Shuffled", {"size": 128}),
            optimiser=Optimiser(
                "AdamW",
                rate=1e-4,
                weight_decay=1e-4,
                rates={"encoder.embedding": 1e-3, "prototypes": 1e-2},
            ),
            schedule=Schedule("cosine"),
        )

    return make


def _none(_: tuple[int, int, int]) -> None:
    return None


#: What there is to run, by name.
VARIANTS: dict[str, Variant] = {
    **{f"untrained-lite{size}": Variant(_none, size) for size in SIZES},
    "untrained-lite0-pca-64": Variant(_none, dimension=NUMBERS, directions=True),
    "untrained-lite0-random-64": Variant(_none, dimension=NUMBERS),
    **{
        called(loss, extension): Variant(_method(loss, extension))
        for extension in EXTENSIONS
        for loss in LOSSES
    },
    **{
        f"{called(loss, 'base')}-from-pca": Variant(_slow_layer(_method(loss, "base")), directions=True)
        for loss in LOSSES
    },
    "triplet-attention": Variant(_method("triplet", "base", attention=True)),
    "triplet-adversary": Variant(_method("triplet", "adapt-adv", attention=False)),
    "angular-n-pair": Variant(_method("angular", "base", n_pair=True)),
    "proxy-nca-as-in-code": Variant(_as_in_code(_method("proxy-nca", "base"))),
    **{f"{loss}-adapt-adv-steps": Variant(_by_steps(loss)) for loss in LOSSES},
    "proxy-anchor-64": Variant(_reference("proxy_anchor", dimension=NUMBERS)),
    "proxy-anchor-512": Variant(_reference("proxy_anchor", dimension=512)),
    "proxy-anchor-512-lite2": Variant(_reference("proxy_anchor", dimension=512, network=2), network=2),
    **{f"{SWEPT}-adapt-adv-weight-{weight:g}": Variant(_weighted(weight)) for weight in WEIGHTS},
}
