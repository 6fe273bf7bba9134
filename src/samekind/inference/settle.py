"""A trained space made ready for use: prototypes for its classes, thresholds for its scores."""

from samekind.data import Items
from samekind.inference.embed import embed
from samekind.inference.verify import all_trials, fit_decision
from samekind.prototypes import class_means
from samekind.space import MetricSpace


def settle(space: MetricSpace, known: Items, trials: Items, *, point: str = "eer") -> None:
    """Fill support means from known items, and fit a decision for each kind of score on all pairs of
    ``trials``.

    A class without known items gets no prototype; prototypes that were trained stay as they are. ``trials``
    must be items the space was not trained on.
    """
    if not space.prototypes.trained:
        means, present = class_means(embed(space, known.inputs), known.labels, len(known.classes))
        names = [known.classes[index] for index in present.nonzero().flatten().tolist()]
        space.prototypes.assign(names, means[present, None].to(space.prototypes.vectors.device))
    z = embed(space, trials.inputs)
    for kind in space.kinds:
        pairs = all_trials(space, z, trials.labels, kind=kind)
        space.decisions[kind] = fit_decision(pairs, kind=kind, point=point, description=trials.name)
