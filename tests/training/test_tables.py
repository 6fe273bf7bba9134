"""The tables of a run refuse impossible values, however they are made."""

import pytest

from samekind.errors import SettingError
from samekind.training import Adversary, Optimiser, Penalty, Schedule, Term


@pytest.mark.parametrize(
    ("table", "settings", "message"),
    [
        (Term, {"loss": "softmax", "weight": -1.0}, r"run\.terms\.weight: .*0 or more"),
        (Term, {"loss": "softmax", "against": "all"}, r'run\.terms\.against: "all" is not a choice'),
        (Term, {"loss": "n_pair", "against": "prototypes", "by": "inner product"}, "leave by out"),
        (Penalty, {"penalty": "spread", "weight": float("nan")}, r"run\.penalties\.weight: .*got nan"),
        (Adversary, {"hidden": 0}, r"run\.adversary\.hidden: .*1 or more"),
        (Adversary, {"dropout": 1.0}, r"run\.adversary\.dropout: expected a number below 1"),
        (Optimiser, {"rates": {"encoder": -1.0}}, r"run\.optimiser\.rates\.encoder: .*0 or more"),
        (Optimiser, {"nesterov": True, "momentum": 0.0}, r"run\.optimiser\.nesterov"),
        (Schedule, {"name": "plateau", "factor": 1.0}, r"run\.schedule\.factor: expected a number below 1"),
        (Schedule, {"warmup_epochs": 1.0}, r'run\.schedule\.warmup_epochs: only the schedule "cosine"'),
    ],
)
def test_refuses_an_impossible_value(table, settings, message):
    with pytest.raises(SettingError, match=message):
        table(**settings)


def test_whole_numbers_and_lists_become_what_the_table_says():
    assert Optimiser(rate=1).rate == 1.0
    assert Schedule("multi-step", milestones=[2, 4]).milestones == (2, 4)
