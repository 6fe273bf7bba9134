"""Are these two the same kind? All pairs of a set, with each kind of score."""

from torch import Tensor

from samekind.data import Items
from samekind.evaluation.rows import Row
from samekind.inference import all_trials
from samekind.measures import accuracy_at, area_under_curve, equal_error_rate
from samekind.space import MetricSpace


def verification(space: MetricSpace, items: Items, z: Tensor, *, name: str) -> list[Row]:
    """EER and AUC, and where the space has a decision for that kind of score, accuracy at its threshold."""
    rows = []
    for kind in space.kinds:
        scores, same = all_trials(space, z, items.labels, kind=kind)
        rows.append(Row("verification", name, "EER", kind, equal_error_rate(scores, same).rate))
        rows.append(Row("verification", name, "AUC", kind, area_under_curve(scores, same)))
        if kind in space.decisions:
            at_threshold = accuracy_at(scores, same, space.decisions[kind].threshold)
            rows.append(Row("verification", name, "accuracy at threshold", kind, at_threshold))
    return rows
