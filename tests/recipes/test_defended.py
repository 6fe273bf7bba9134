"""Recipes with a defence: those of the papers, and trained for a step."""

import pytest

from samekind.data import SplitSettings, digits, prepare
from samekind.recipes import RECIPES, fit
from samekind.recipes.defended import DEFENDED
from samekind.training import Defence, RunFolder


def test_grey_pictures_are_attacked_as_mnist_and_others_as_cifar():
    grey, colour = (RECIPES["prototypical-defended"](shape) for shape in ((1, 28, 28), (3, 32, 32)))
    assert grey.defence == Defence("mix", epsilon=0.3, steps=40, step=0.01, through="auxiliary")
    assert colour.defence == Defence("mix", epsilon=8 / 255, steps=10, step=2 / 255, through="auxiliary")
    assert RECIPES["norm-face-defended"]((3, 32, 32)).defence.method == "negative-margin"


@pytest.mark.parametrize("name", DEFENDED)
def test_it_trains(name, tmp_path):
    sets = prepare(digits().take(range(200)), SplitSettings(seed=0))
    run = RECIPES[name](sets.train).override(["epochs=1", "schedule.name=constant", "defence.steps=1"])
    fit(run, sets, folder=tmp_path, device="cpu")
    assert RunFolder(tmp_path).record.lines()[0]["defence"]["loss"] > 0
