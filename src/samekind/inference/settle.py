"""Completes a trained space before use: prototypes, thresholds, temperatures, the best kinds of score."""

from dataclasses import replace

import torch
from torch import Tensor

from samekind.data import Items, draw
from samekind.data.groups import groups_apart
from samekind.decisions import Choices, Decision
from samekind.inference.balancing import Labelled
from samekind.inference.choosing import choices_of
from samekind.inference.discriminant import add_discriminant
from samekind.inference.embed import embed
from samekind.inference.half_enrolled import half_enrolled
from samekind.inference.inner_nodes import fit_levels
from samekind.inference.known_classes import divided
from samekind.inference.open_set import decide_if_told_apart, fit_open_set
from samekind.inference.standings import measure_kinds
from samekind.inference.temperatures import fit_temperatures
from samekind.inference.trials import all_trials
from samekind.inference.verify import fit_decision
from samekind.prototypes import class_means
from samekind.space import MetricSpace

#: At most so many items are drawn to fit thresholds on: four and a half million trials.
FITTED_ITEMS = 3000


def settle(
    space: MetricSpace,
    known: Items,
    trials: Items,
    *,
    point: str = "eer",
    choices: Choices | None = None,
    discriminant: bool = False,
    most_items: int = FITTED_ITEMS,
) -> None:
    """Fill support means from ``known`` items, and fit on ``trials``, or on ``most_items`` drawn from them,
    what the space keeps about its scores.

    ``trials`` are items the space was not trained on. A decision for each kind of score is fitted on all
    their pairs, without pairs of one group; a threshold for "none of these" if some of them are not of the
    space's classes (if all are not, half of their classes are enrolled, see `half_enrolled`); a temperature
    for each head on those of its classes, if there are enough (see `fit_temperatures`), and with a tree the
    thresholds for answers at inner nodes (see `fit_levels`). The kinds of score are compared (see
    `measure_kinds`), and the best for each question is chosen (see `choices_of`), unless ``choices`` from
    elsewhere are given; with the bonus of classes that are enrolled later. With ``discriminant`` a linear one
    is fitted to the known items, see `add_discriminant`. A class without known items gets no prototype;
    trained prototypes stay as they are.
    """
    if not space.prototypes.trained:
        fill_means(space, _embedded(space, known))
    space.enrolled = []
    space.standings, space.balances = measure_kinds(space, trials, trained=known)
    space.choices = choices or choices_of(space.standings)
    name = trials.name if len(trials) <= most_items else f"{most_items:,} items drawn from {trials.name}"
    trials = draw(trials, most=most_items)
    z, apart = embed(space, trials.inputs), groups_apart(trials)
    for kind in space.kinds:
        pairs = all_trials(space, z, trials.labels, groups=apart.groups, kind=kind)
        space.decisions[kind] = fit_decision(pairs, kind=kind, point=point, description=apart.named(name))
    space.discriminant = None
    if discriminant:
        add_discriminant(space, _embedded(space, known), replace(trials, inputs=z, reader=None))
    space.temperatures = fit_temperatures(space, trials, z, description=name)
    space.levels = fit_levels(space, trials, z, description=name)
    space.open_set = _open_set(space, trials, z, point)


def _embedded(space: MetricSpace, items: Items) -> Items:
    """The items with their embeddings as inputs."""
    return replace(items, inputs=embed(space, items.inputs), reader=None)


def _open_set(space: MetricSpace, trials: Items, z: Tensor, point: str) -> Decision | None:
    """The threshold for none of these; None for items of known classes alone, or of too few others."""
    inside, outside = divided(space, trials)
    if len(inside) and len(outside):
        return fit_open_set(space, inside, outside, point=point)
    if not len(outside):
        return None
    familiarity = half_enrolled(space, Labelled(z, trials.labels.cpu(), groups_apart(trials).groups))
    name = f"{trials.name}, half of the classes enrolled"
    return None if familiarity is None else decide_if_told_apart(familiarity, name=name, point=point)


def fill_means(space: MetricSpace, known: Items) -> None:
    """Make the means of classes of embeddings the prototypes of a space, for classes that have items."""
    assert isinstance(known.inputs, Tensor)
    means, present = class_means(known.inputs, known.labels.to(known.inputs.device), len(known.classes))
    names = [known.classes[index] for index in present.nonzero().flatten().tolist()]
    counts = torch.bincount(known.labels.cpu(), minlength=len(known.classes))[present.cpu()].tolist()
    space.prototypes.assign(names, means[present, None].to(space.prototypes.vectors.device), counts)
