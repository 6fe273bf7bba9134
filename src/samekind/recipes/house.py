"""The house recipe: rules from the data to a run. docs/house.md has them as a table.

A pretrained network is trained without a new layer behind it: a new layer would lose what the network has
learned. Small pictures and vectors get a small network from scratch. The loss is Proxy-Anchor (Kim et al.,
CVPR 2020); of many classes a network from scratch compares the items of a batch with each other.
`ladder.climb` measures whether that pays, and keeps it only if it does.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from samekind.data import Items
from samekind.recipes.encoder import (
    Subject,
    encoder_for,
    have_weights,
    pretrained_suits,
    shape_and_medium,
    standardise_for,
)
from samekind.recipes.many_classes import are_many, by_pairs
from samekind.training import Batches, Optimiser, Part, Parts, Run, Schedule, Term

#: The items of a batch: a tenth of all, within these bounds.
FEWEST, MOST = 32, 120
#: The steps in which the rate rises; at most a tenth of all, and nearly one epoch.
WARM_UP, LONGEST_WARM_UP = 50, 0.9
#: The side of a picture in use, divided by its side in training: 352 pixels for 224. Training sees crops, in
#: which objects are larger than in the whole picture.
LARGER = 11 / 7
#: With fewer classes a trained encoder only learns how these classes differ, and folds of two or three
#: classes cannot show what it has lost. It is kept beside the untrained features, never in their place, and
#: the folds hold out the most similar classes.
FEW_CLASSES = 20
#: Pictures from so many pixels on, and those that are not square, get the medium's own network.
SMALL, MEDIUM = 32, 128


class Pace(NamedTuple):
    """How fast and how long a network and its proxies learn: at least so many epochs, and more, up to
    ``most``, to reach ``steps``.
    """

    rate: float
    proxies: float
    epochs: int
    steps: int
    most: int


#: Pretrained weights move little, and lose with more epochs; a network from scratch needs more of them.
PRETRAINED, SCRATCH = Pace(3e-4, 3e-2, 10, 200, 30), Pace(2e-3, 1e-2, 20, 1200, 80)
#: The pretrained network, which samekind has as an extra.
PRETRAINED_ENCODER = "EfficientNetLite"
#: Its larger variants, which can stand beside it.
VARIANTS = (1, 2)
#: The one of sounds, which a run may name.
SPEAKER_ENCODER = "SpeakerNetwork"
#: The loss.
PROXIES = Term("proxy_anchor", against="prototypes", arguments={"margin": 0.1, "sharpness": 32.0})
#: How far grey pictures are turned and moved.
SLIGHTLY = {"degrees": 10.0, "translate": 0.07, "scale": [0.9, 1.1], "shear": 10.0}
#: The steps of a head on features, which takes a second or two; those of a network over pairs, and the pairs
#: of one class in its batches.
HEAD_STEPS, NETWORK_STEPS, TUPLES = 300, 1000, 60


def house(items: Subject) -> Run:
    """The run for training items, or for their shape, which then count as many."""
    pretrained = pretrained_suits(items)
    pace = PRETRAINED if pretrained else SCRATCH
    count = len(items) if isinstance(items, Items) else 50 * MOST
    size = max(FEWEST, min(MOST, count // 10))
    batches = max(1, count // size)
    epochs = max(pace.epochs, min(pace.most, math.ceil(pace.steps / batches)))
    warmup = min(WARM_UP / batches, epochs / 10, LONGEST_WARM_UP)
    run = Run(
        recipe="house",
        space=Parts(
            encoder=_encoder(items, pretrained=pretrained),
            similarity=Part("Cosine"),
            prototypes=Part("LearnedProxies"),
            standardise=standardise_for(items),
        ),
        terms={"proxies": PROXIES},
        batches=Batches("Shuffled", {"size": size}),
        optimiser=Optimiser("AdamW", rate=pace.rate, weight_decay=1e-4, rates={"prototypes": pace.proxies}),
        schedule=Schedule("cosine", warmup_epochs=round(warmup, 3)),
        epochs=epochs,
        watch="recall@1",
        keep="last",
        augment=_augmentations(items),
        channels_last=shape_and_medium(items)[1].colours,
        validate=("verification", "retrieval"),
    )
    return by_pairs(run) if are_many(items) and not pretrained else run


def is_pretrained(run: Run) -> bool:
    """Whether the encoder of a house run begins with pretrained weights; of sounds, those of a file."""
    encoder = run.space.encoder
    if encoder.name == SPEAKER_ENCODER:
        return encoder.arguments.get("weights") is not None
    return PRETRAINED_ENCODER in _names(encoder.name, encoder.arguments)


def _names(name: str, arguments: Mapping[str, Any]) -> list[str]:
    """The name of an encoder and of those inside."""
    inner = [arguments.get("encoder", {}), *arguments.get("encoders", ())]
    return [name, *(below for part in inner if part for below in _names(part["name"], part))]


def relatives(run: Run) -> list[Run]:
    """The same run with each of the larger variants of its pretrained network, if their packages are
    installed; none for a network that is not the smallest variant.
    """
    views = run.space.encoder
    network = views.arguments.get("encoder", {})
    if network.get("name") != PRETRAINED_ENCODER or network.get("variant") != 0 or not have_weights(VARIANTS):
        return []
    encoders = [{**views.arguments, "encoder": {**network, "variant": variant}} for variant in VARIANTS]
    return [
        replace(run, space=replace(run.space, encoder=replace(views, arguments=given))) for given in encoders
    ]


def untrained(run: Run, items: Items) -> Run:
    """The run whose space is the start of the ladder: the pretrained features, or the raw input of these
    items, and the cosine. It is built, never trained.
    """
    encoder = run.space.encoder if is_pretrained(run) else Part(*items.medium.plain(items.shape))
    space = Parts(encoder, Part("Cosine"), Part("SupportMeans"), standardise=run.space.standardise)
    return Run(recipe="house", space=space, terms=run.terms)


def head(run: Run, features: Items) -> Run:
    """The run of a head on features that stay as they are: it begins with no effect, and adds to them."""
    size = min(MOST, max(FEWEST, len(features) // 10))
    epochs = max(2, min(30, math.ceil(HEAD_STEPS * size / len(features))))
    return Run(
        recipe="house",
        space=Parts(Part("ResidualMLP"), Part("Cosine"), Part("LearnedProxies")),
        terms={"proxies": PROXIES},
        batches=Batches("Shuffled", {"size": size}),
        optimiser=Optimiser("AdamW", rate=1e-3, weight_decay=1e-2, rates={"prototypes": 1e-2}),
        schedule=Schedule("cosine", warmup_epochs=0.5),
        epochs=epochs,
        seed=run.seed,
        watch=run.watch,
        keep="last",
        validate=run.validate,
    )


def over_pairs(run: Run, embedded: Items) -> Run:
    """The run of a network over pairs of embeddings, which begins as the cosine and corrects it."""
    steps = max(1, len(embedded) // (TUPLES * 2))
    return Run(
        recipe="house",
        space=Parts(Part("Unchanged"), Part("CorrectedCosine"), Part("SupportMeans")),
        terms={"pairs": Term("pair_likelihood")},
        batches=Batches("Tuples", {"tuples": TUPLES, "size": 2}),
        optimiser=Optimiser("AdamW", rate=1e-3, weight_decay=1e-2),
        schedule=Schedule("cosine"),
        epochs=max(2, math.ceil(NETWORK_STEPS / steps)),
        seed=run.seed,
    )


def _encoder(items: Subject, *, pretrained: bool) -> Part:
    shape, medium = shape_and_medium(items)
    if pretrained:
        network = {"pooling": "average+maximum", "layer_norm": True, "batch_norm": "frozen"}
        network |= {"stochastic_depth": 0.2}
        size = round(LARGER * shape[2]) if shape[1] == shape[2] else None
        views = {"size": size, "mirror": shape[0] == 3}
        return Part("Views", {"encoder": {"name": PRETRAINED_ENCODER, "variant": 0, **network}, **views})
    if medium.colours and shape[1] == shape[2] and 8 <= shape[2] < MEDIUM:
        return Part("SmallConvnet" if shape[2] <= SMALL else "Conv4", {"dimension": 128})
    return encoder_for(items, dimension=128)


def _augmentations(items: Subject) -> tuple[Part, ...]:
    """Crops of a sixth of a colour picture or more, and mirrored ones; grey pictures, which may be writing,
    are turned and moved a little, and not mirrored.
    """
    shape, medium = shape_and_medium(items)
    if not medium.colours:
        return tuple(Part(*suited) for suited in medium.augmentations(shape))
    if shape[0] == 3:
        return Part("RandomResizedCrop", {"scale": [0.16, 1.0]}), Part("Flip")
    return (Part("Affine", SLIGHTLY),)
