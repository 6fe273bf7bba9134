"""The run of each system: the recipes of few-shot learning, two outside baselines, and the house recipe."""

import os
from dataclasses import replace

from grid import CHECKPOINT, QUICK_CHECKPOINT, Experiment
from grids.running import Place
from sets import seen_at

from samekind.data import Items
from samekind.recipes import few_shot
from samekind.recipes.house import house
from samekind.training import Part, Run

#: Tasks of training: of the paper for birds, of Snell et al. for Omniglot.
WAY, QUERIES = {"birds": 5, "omniglot": 60}, {"birds": 16, "omniglot": 5}
#: A variable of the environment: where it is set no step is recorded, to compare the two.
PLAIN = "FEW_SHOT_PLAIN"
#: Pictures that are augmented at once.
TOGETHER = 2000


def run_of(experiment: Experiment, items: Items, place: Place) -> Run:
    """The run of a system. A trial has few and small tasks."""
    if experiment.system == "house":
        run = replace(house(items), seed=experiment.seed, channels_last=True, tf32=True)
        return replace(run, epochs=1) if place.quick else run
    way, queries = (5, 4) if place.quick else (WAY[experiment.data], QUERIES[experiment.data])
    steps = QUICK_CHECKPOINT if place.quick else CHECKPOINT
    run = few_shot(items, way=way, shot=experiment.shot, queries=queries, encoder=_encoder(experiment, place))
    run = _with_head(run, experiment, items, way=way, queries=queries)
    batches = replace(run.batches, arguments={**run.batches.arguments, "steps": steps})
    augment = run.augment
    if experiment.data == "birds":
        crop = Part("RandomResizedCrop", {"size": seen_at(place)})
        augment = (crop, Part("ColourJitter"), Part("Flip"))
    return replace(
        run,
        space=replace(run.space, standardise="channels"),
        batches=batches,
        augment=augment,
        epochs=experiment.episodes(place.quick) // steps,
        seed=experiment.seed,
        precision="32-true" if experiment.exact else "auto",
        channels_last=not experiment.exact,
        tf32=not experiment.exact,
        try_convolutions=True,
        capture=PLAIN not in os.environ,
        ahead=min(steps, max(1, TOGETHER // (way * (experiment.shot + queries)))),
    )


def _encoder(experiment: Experiment, place: Place) -> Part:
    if experiment.network == "resnet18":
        return Part("ResNet18", {"stem": "imagenet"})
    return Part("Conv4", {"size": seen_at(place)} if experiment.data == "birds" else {})


def _with_head(run: Run, experiment: Experiment, items: Items, *, way: int, queries: int) -> Run:
    match experiment.recipe:
        case "matching":
            # Attention over the examples by their cosine, summed over a class. Vinyals et al., 2016.
            similarity = Part("Cosine", {"scale": {"name": "FixedScale", "value": 10.0}})
            prototypes = {"count": experiment.shot, "pooling": "sum", "temperature": 0.1}
            if experiment.shot == 1:
                prototypes = {}
            return replace(
                run,
                recipe="matching",
                space=replace(run.space, similarity=similarity, prototypes=Part("SupportMeans", prototypes)),
            )
        case "relation":
            # A network over the pair of class and query, on vectors. After Sung et al., 2018.
            similarity = Part("PairsNetwork", {"hidden": 256, "depth": 2, "dropout": 0.0})
            return replace(run, recipe="relation", space=replace(run.space, similarity=similarity))
    by, _, classifier = experiment.recipe.partition("-")
    return few_shot(
        items,
        classifier=classifier,  # type: ignore[arg-type]
        by=by,  # type: ignore[arg-type]
        way=way,
        shot=experiment.shot,
        queries=queries,
        encoder=run.space.encoder,
    )
