"""Is it the one we know from a few items? Sets of items of one class against the other items.

The trials of the first type in Monteiro et al., "An end-to-end approach for the verification problem:
learning the right distance", ICML 2020, with several items to an enrolment.
"""

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.groups import Apart, groups_apart
from samekind.errors import SettingError
from samekind.evaluation.rows import Measures, Row, noted
from samekind.evaluation.trial_measures import About, trial_rows
from samekind.inference.choosing import used_first
from samekind.inference.enrolment import Combination, enrolment_scores
from samekind.inference.trials import Trials
from samekind.space import MetricSpace


def enrolled(
    space: MetricSpace,
    items: Items,
    z: Tensor,
    *,
    name: str,
    shots: int = 5,
    combination: Combination = "embedding",
    measures: Measures = "main",
    seed: int = 0,
) -> list[Row]:
    """Enrol each class from ``shots`` of its items, drawn at random, and compare it with every item left.

    ``combination`` is how a set becomes one score, see `enrolment_scores`. A class with too few items is
    enrolled with all but one; a class of one item is tested and not enrolled. If items have groups, a class
    is not compared with items of the groups it was enrolled from. No row if fewer than two classes can be
    enrolled, or no pair of one class is left.
    """
    if shots < 1:
        raise SettingError(f"expected at least one shot to enrol a class from; got shots {shots}")
    members = _draw(items.labels, shots, seed)
    if len(members) < 2:
        return []
    tests = torch.ones(len(items), dtype=torch.bool)
    tests[torch.cat(list(members.values()))] = False
    of_set, of_test = torch.tensor(list(members)), items.labels.cpu()[tests]
    apart = groups_apart(items)
    valid = _of_other_groups(apart, list(members.values()), tests)
    first = of_set.repeat_interleave(len(of_test)).int()[valid]
    second = of_test.repeat(len(of_set)).int()[valid]
    same = first == second
    if not same.any():
        return []
    rows, sets = [], [z[indices] for indices in members.values()]
    for kind in used_first(space, "pairs"):
        scores = enrolment_scores(space, sets, z[tests], combination=combination, kind=kind)
        trials = Trials(scores.flatten()[valid], same, first, second)
        about = About(f"enrolment of {shots}", name, kind)
        rows += trial_rows(trials, about, decision=None, measures=measures, seed=seed)
    return [noted(row, apart.note) for row in rows]


def _of_other_groups(apart: Apart, members: list[Tensor], tests: Tensor) -> Tensor:
    """Which trials, set by set, are of an item whose group is not in the set: (sets x tests,)."""
    groups = apart.groups
    if groups is None:
        return torch.ones(len(members) * int(tests.sum()), dtype=torch.bool)
    return torch.cat([~torch.isin(groups[tests], groups[indices]) for indices in members])


def _draw(labels: Tensor, shots: int, seed: int) -> dict[int, Tensor]:
    """The items each class is enrolled from, by label; every class keeps at least one item for the test."""
    generator = torch.Generator().manual_seed(seed)
    examples = {}
    for label in torch.unique(labels.cpu()).tolist():
        members = (labels.cpu() == label).nonzero().flatten()
        if len(members) > 1:
            order = torch.randperm(len(members), generator=generator)
            examples[label] = members[order[: min(shots, len(members) - 1)]]
    return examples
