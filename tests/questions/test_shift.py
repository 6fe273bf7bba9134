"""The question of shifts: corruptions where nothing else is given, and the given sets otherwise."""

import torch

from samekind.data import digits
from samekind.questions import shift
from samekind.questions.shift import ShiftSettings
from samekind.recipes import prototypical
from samekind.training import build_space


def test_own_items_are_corrupted_and_others_compared():
    items = digits().take(torch.arange(60))
    torch.manual_seed(0)
    space = build_space(prototypical(items), items).eval()
    settings = ShiftSettings(corruptions=("blur",), severities=(1, 2), limit=40)
    answer = shift(space, items, settings=settings)
    assert [one.name for one in answer.sets] == ["blur 1", "blur 2"]
    assert {one.items for one in answer.sets} == {40}
    given = shift(space, items, {"others": digits().take(torch.arange(60, 120))}, settings)
    assert [one.name for one in given.sets] == ["others"]
    assert given.to_json()["sets"][0]["cause"] in ("none", "shift", "new classes", "shift or new classes")
