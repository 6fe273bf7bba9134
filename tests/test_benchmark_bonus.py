"""The study of the bonus looks at training items alone."""

import sys
from dataclasses import replace
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import bonus

from samekind.data import SplitSettings, prepare


def test_other_items_change_nothing(monkeypatch):
    items = bonus.opened("wine")
    sets = prepare(items, SplitSettings(unseen=(), seed=0))
    expected = bonus.by_share(sets.train)
    assert list(expected) == [str(share) for share in bonus.SHARES]
    trained = {tuple(row) for row in sets.train.inputs.tolist()}
    others = torch.tensor([tuple(row) not in trained for row in items.inputs.tolist()])
    assert int(others.sum()) == len(items) - len(sets.train)
    changed = items.inputs.clone()
    changed[others] += 1000
    monkeypatch.setattr(bonus, "opened", lambda _: replace(items, inputs=changed))
    assert bonus.by_share(bonus.training_items("wine")) == expected
