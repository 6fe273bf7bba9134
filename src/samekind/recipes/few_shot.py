"""Few-shot learning by tasks: each class is made of a few examples, and the loss is that of its task.

Prototypical networks of Snell et al., "Prototypical Networks for Few-shot Learning", NeurIPS 2017, and the
distance-ratio classifier of Kim, "On the Significance of Distance in Machine Learning", 2023, paper II, with
the nearest example in place of the mean (its appendix D).
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import torch

from samekind.data import Items
from samekind.errors import SettingError, nearest
from samekind.recipes.encoder import Recipes, Subject, encoder_for, shape_and_medium, standardise_for
from samekind.training import Batches, Optimiser, Part, Parts, Run, Term

Classifier = Literal["softmax", "dr"]
By = Literal["proto", "nearest"]

#: The similarity of each classifier: softmax(-d²), and d to the power of -exp(2), a learned exponent.
CLASSIFIERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "softmax": ("SquaredEuclidean", {}),
    "dr": ("LogDistance", {"scale": {"name": "LearnedScale", "initial": math.exp(2.0)}}),
}
#: Pixels a side from which on the encoder is the Conv4 of few-shot learning.
SMALLEST = 16
#: How colour pictures are changed. The first two are one resampling.
CHANGES = (Part("RandomResizedCrop"), Part("Flip"), Part("ColourJitter"))


def few_shot(
    items: Subject,
    *,
    classifier: Classifier = "dr",
    by: By = "proto",
    way: int = 5,
    shot: int = 1,
    queries: int = 16,
    tasks: int = 1,
    encoder: Part | None = None,
) -> Run:
    """The run for items, or for their shape: tasks of ``way`` classes with ``shot`` examples and ``queries``
    queries of each, ``tasks`` of them in a step.

    - "softmax": softmax of the negative squared distances;
    - "dr": distances to the power of -ρ, over their sum; ρ is learned, from e² on.

    ``by`` says what stands for a class: "proto" the mean of its examples, "nearest" the one that is nearest
    to the query. Square pictures of 16 pixels or more get a Conv4 whose flattened map is the embedding;
    other items that of the other recipes, with 64 numbers. ``encoder`` replaces either.

    An epoch is 100 steps, as a checkpoint of the paper, and there are 600 of them. Every class needs
    ``shot + queries`` items: for items with smaller classes, or fewer of them, tasks are as large as they
    can be. A class of the trained space is the mean of its items, whichever way it was trained. With five
    examples of a class the paper trains for 400 epochs.

    Differs from the paper:

    - ``watch``: Recall@1 of validation items, for any number of classes and items; the paper names the
      queries of 100 validation tasks.
    - ``space.standardise``: pictures are in [0, 1]; the paper's have the mean and deviation of ImageNet's.
      The first convolution is followed by batch normalisation.
    """
    if classifier not in CLASSIFIERS:
        raise SettingError(f'there is no classifier "{classifier}" here; {nearest(classifier, CLASSIFIERS)}')
    if by not in ("proto", "nearest"):
        raise SettingError(f'a class is made by "proto" or "nearest"; got "{by}"')
    name, arguments = CLASSIFIERS[classifier]
    way, queries = _possible(items, way=way, shot=shot, queries=queries)
    shape, medium = shape_and_medium(items)
    prototypes = {"count": 1, "pooling": "max"} if by == "nearest" else {}
    return Run(
        recipe=f"{by}-{classifier}",
        space=Parts(
            encoder=encoder or _encoder(items),
            similarity=Part(name, dict(arguments)),
            prototypes=Part("SupportMeans", dict(prototypes)),
            standardise=standardise_for(items),
        ),
        terms={"task": Term("softmax", against="support")},
        batches=Batches(
            "Episodes", {"way": way, "shot": shot, "queries": queries, "tasks": tasks, "steps": 100}
        ),
        optimiser=Optimiser("Adam", rate=1e-3),
        epochs=600,
        watch="recall@1",
        augment=CHANGES if medium.augmentations(shape) and shape[0] == 3 else (),
        validate=("retrieval",),
        capture=True,
    )


def _possible(items: Subject, *, way: int, shot: int, queries: int) -> tuple[int, int]:
    """At most so many classes of a task, and queries of a class, as items have; shapes have any number."""
    if not isinstance(items, Items) or not len(items):
        return way, queries
    sizes = torch.bincount(items.labels.cpu())
    return min(way, int((sizes > 0).sum())), max(1, min(queries, int(sizes[sizes > 0].min()) - shot))


def _encoder(items: Subject) -> Part:
    shape, medium = shape_and_medium(items)
    pictures = medium.units(shape) == "channels" and shape[-1] == shape[-2] >= SMALLEST
    return Part("Conv4") if pictures else encoder_for(items, dimension=64)


def _named() -> dict[str, Callable[[Subject], Run]]:
    ways: tuple[By, ...] = ("proto", "nearest")
    classifiers: tuple[Classifier, ...] = ("softmax", "dr")
    return {
        f"{by}-{classifier}": partial(few_shot, classifier=classifier, by=by)
        for by in ways
        for classifier in classifiers
    }


#: Both classifiers with either way to make a class, by the name of the recipe.
FEW_SHOT: Recipes = _named()
