"""A trained space made ready for use: prototypes, thresholds, temperatures, and which score does best."""

from samekind.data import Items, draw
from samekind.data.groups import groups_apart
from samekind.inference.embed import embed
from samekind.inference.open_set import divided, fit_open_set
from samekind.inference.standings import standings
from samekind.inference.temperatures import fit_temperatures
from samekind.inference.trials import all_trials
from samekind.inference.verify import fit_decision
from samekind.prototypes import class_means
from samekind.space import MetricSpace

#: Of more items than these, as many are drawn to fit thresholds on: four and a half million trials.
FITTED_ITEMS = 3000


def settle(
    space: MetricSpace, known: Items, trials: Items, *, point: str = "eer", most_items: int = FITTED_ITEMS
) -> None:
    """Fill support means from known items, and fit a decision for each kind of score on all pairs of
    ``trials``, or of ``most_items`` drawn from them, which the decision then says. Where items have groups
    the pairs are of two groups each.

    A class without known items gets no prototype; prototypes that were trained stay as they are. ``trials``
    must be items the space was not trained on. Where some of them are of its classes and some of others, a
    threshold for "none of these" is fitted as well; else there is none. So is a temperature for each head on
    those of its classes, where there are enough (see `fit_temperatures`). How each kind of score did there
    beside the space's own is kept with it (see `standings`).
    """
    if not space.prototypes.trained:
        means, present = class_means(embed(space, known.inputs), known.labels, len(known.classes))
        names = [known.classes[index] for index in present.nonzero().flatten().tolist()]
        space.prototypes.assign(names, means[present, None].to(space.prototypes.vectors.device))
    space.standings = standings(space, trials)
    name = trials.name if len(trials) <= most_items else f"{most_items:,} items drawn from {trials.name}"
    trials = draw(trials, most=most_items)
    z, apart = embed(space, trials.inputs), groups_apart(trials)
    for kind in space.kinds:
        pairs = all_trials(space, z, trials.labels, groups=apart.groups, kind=kind)
        space.decisions[kind] = fit_decision(pairs, kind=kind, point=point, description=apart.named(name))
    space.temperatures = fit_temperatures(space, trials, z, description=name)
    inside, outside = divided(space, trials)
    space.open_set = (
        fit_open_set(space, inside, outside, point=point) if len(inside) and len(outside) else None
    )
