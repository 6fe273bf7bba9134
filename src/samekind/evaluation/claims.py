"""Is it of the class it claims to be? Every item against every known class.

The trials of the second type in Monteiro et al., "An end-to-end approach for the verification problem:
learning the right distance", ICML 2020: a claimed class, known by its prototype, against one item.
"""

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.drawing import at_most
from samekind.decisions import Kind
from samekind.evaluation.rows import Measures, Row
from samekind.evaluation.trial_measures import About, trial_rows
from samekind.inference import asking
from samekind.inference.choosing import used_first
from samekind.inference.embed import device_of
from samekind.inference.known_classes import knows, labels_in
from samekind.inference.trials import Trials
from samekind.space import MetricSpace

#: Beyond this many trials a random part of the items makes the claims.
MOST_TRIALS = 5_000_000


def claims(
    space: MetricSpace,
    items: Items,
    z: Tensor,
    *,
    name: str,
    measures: Measures = "main",
    seed: int = 0,
    most_trials: int = MOST_TRIALS,
) -> list[Row]:
    """Measures of (items x classes) trials for each kind of score; no row if a class is unknown.

    Decisions have no part in it, as their thresholds are for pairs of items. Beyond ``most_trials`` trials, a
    random part of the items is used.
    """
    if not knows(space, items) or len(space.classes) < 2:
        return []
    if len(items) * len(space.classes) > most_trials:
        places = at_most(len(items), max(1, most_trials // len(space.classes)), seed=seed)
        items, z = items.take(places), z[places]
    claimed = torch.arange(len(space.classes))
    first = claimed.expand(len(items), -1).flatten().int()
    second = labels_in(space, items).repeat_interleave(len(claimed)).int()
    rows = []
    for kind in used_first(space, "classes"):
        trials = Trials(_class_scores(space, z, kind).flatten(), first == second, first, second)
        about = About("claimed class", name, kind)
        rows += trial_rows(trials, about, decision=None, measures=measures, seed=seed)
    return rows


def _class_scores(space: MetricSpace, z: Tensor, kind: Kind) -> Tensor:
    """How alike each item and each class are by one kind of score: (n, classes), on the CPU."""
    with asking(space):
        return space.score_classes(z.to(device_of(space)), kind=kind).float().cpu()
