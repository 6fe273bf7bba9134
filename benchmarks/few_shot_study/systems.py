"""The run of each system: the recipes of few-shot learning, two outside baselines, and the house recipe."""

from dataclasses import replace

from grid import OUTSIDE, Experiment, Setting
from grids.running import Place

from samekind.data import Items
from samekind.recipes import few_shot
from samekind.recipes.house import house
from samekind.training import Part, Parts, Run

#: Pictures that are augmented at once.
TOGETHER = 2000
#: Whether a GPU trains compiled networks: normalisation, pooling and ReLU become one pass over the data.
COMPILED = True


def run_of(experiment: Experiment, items: Items, place: Place) -> Run:
    """The run of a system. A trial has few and small tasks."""
    if experiment.system == "house":
        run = replace(house(items), seed=experiment.seed, channels_last=True, tf32=True)
        return replace(run, epochs=1) if place.quick else run
    setting = experiment.setting(place.quick)
    run = _with_head(experiment, items, setting)
    steps, size = setting.checkpoint, setting.way * (experiment.shot + setting.queries)
    crop = Part("RandomResizedCrop", {"size": setting.pixels})
    return replace(
        run,
        space=replace(run.space, standardise="channels"),
        batches=replace(run.batches, arguments={**run.batches.arguments, "steps": steps}),
        augment=(crop, Part("Flip"), Part("ColourJitter")) if experiment.birds else (),
        epochs=experiment.episodes(place.quick) // steps,
        seed=experiment.seed,
        precision="32-true" if experiment.exact else "auto",
        channels_last=not experiment.exact,
        tf32=not experiment.exact,
        compile=COMPILED and place.device != "cpu" and not experiment.exact,
        try_convolutions=True,
        capture=True,
        ahead=min(steps, max(1, TOGETHER // size)),
    )


def _with_head(experiment: Experiment, items: Items, setting: Setting) -> Run:
    """The recipe by tasks; the baselines are prototypical networks with other parts."""
    outside = experiment.recipe in OUTSIDE
    by, _, classifier = "proto-dr".partition("-") if outside else experiment.recipe.partition("-")
    run = few_shot(
        items,
        classifier=classifier,  # type: ignore[arg-type]
        by=by,  # type: ignore[arg-type]
        way=setting.way,
        shot=experiment.shot,
        queries=setting.queries,
        encoder=_encoder(experiment, setting),
    )
    return replace(run, recipe=experiment.recipe, space=_outside(run.space, experiment)) if outside else run


def _encoder(experiment: Experiment, setting: Setting) -> Part:
    if experiment.network == "resnet18":
        return Part("ResNet18", {"stem": "imagenet"})
    return Part("Conv4", {"size": setting.pixels} if experiment.birds else {})


def _outside(parts: Parts, experiment: Experiment) -> Parts:
    if experiment.recipe == "relation":
        # A network over the pair of class and query, on vectors. After Sung et al., 2018.
        return replace(parts, similarity=Part("PairsNetwork", {"hidden": 256, "depth": 2, "dropout": 0.0}))
    # Attention over the examples by their cosine, summed over a class. Vinyals et al., 2016.
    several = {"count": experiment.shot, "pooling": "sum", "temperature": 0.1} if experiment.shot > 1 else {}
    return replace(
        parts,
        similarity=Part("Cosine", {"scale": {"name": "FixedScale", "value": 10.0}}),
        prototypes=Part("SupportMeans", several),
    )
