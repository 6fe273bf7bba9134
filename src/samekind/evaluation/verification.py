"""Are these two the same kind? All pairs of a set, with each kind of score."""

from torch import Tensor

from samekind.data import Items
from samekind.data.groups import groups_apart
from samekind.evaluation.rows import Measures, Row, noted
from samekind.evaluation.streamed import MOST_STORED, streamed_rows
from samekind.evaluation.trial_measures import About, trial_rows
from samekind.inference import all_trials
from samekind.inference.choosing import used_first
from samekind.space import MetricSpace


def verification(
    space: MetricSpace,
    items: Items,
    z: Tensor,
    *,
    name: str,
    measures: Measures = "main",
    seed: int = 0,
    most_stored: int = MOST_STORED,
) -> list[Row]:
    """EER, AUC and the least detection cost, and accuracy at the threshold if the space has a decision for
    that kind of score, the space's choice for pairs first; see `trial_rows` for ``measures="all"``.

    More than ``most_stored`` pairs are not stored, see `streamed_rows`. If items have groups, the pairs are
    from different groups, and a note says so.
    """
    rows, apart = [], groups_apart(items)
    for kind in used_first(space, "pairs"):
        about, decision = About("verification", name, kind), space.decisions.get(kind)
        if len(items) * (len(items) - 1) // 2 > most_stored:
            rows += streamed_rows(
                space,
                z,
                items.labels,
                about,
                groups=apart.groups,
                kind=kind,
                decision=decision,
                measures=measures,
                seed=seed,
            )
        else:
            trials = all_trials(space, z, items.labels, groups=apart.groups, kind=kind)
            rows += trial_rows(trials, about, decision=decision, measures=measures, seed=seed)
    return [noted(row, apart.note) for row in rows]
