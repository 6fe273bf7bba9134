"""The recipes with one proxy for each class: the grid of the paper, and one step of each classifier."""

import math

import pytest
import torch

from samekind.data import Items
from samekind.errors import SettingError
from samekind.recipes import RECIPES, proxies
from samekind.recipes.proxies import PROXIES
from samekind.taxonomy import Tree
from samekind.training import build_space
from samekind.training.context import Context
from samekind.training.objective import objective
from samekind.training.terms import build_terms

SHAPE = (6,)
LABELS = torch.tensor([0, 1, 2, 3, 0])
TREE = Tree(("all", "pair", "a", "b", "c", "d"), (-1, 0, 1, 1, 0, 0))
ITEMS = Items(torch.randn(5, 6), LABELS, ("a", "b", "c", "d"), "items", tree=TREE)


def test_the_grid_of_the_paper_has_thirteen_systems_and_softmax():
    assert set(PROXIES) == {
        "softmax",
        *(f"norm-face{option}" for option in OPTIONS),
        *(f"proxy-dr{option}" for option in OPTIONS),
        "corr",
    }
    assert all(RECIPES[name] is recipe for name, recipe in PROXIES.items())


OPTIONS = ("", "-dynamic", "-ema", "-ema-dynamic", "-mds", "-mds-dynamic")


@pytest.mark.parametrize("classifier", ["norm-face", "proxy-dr"])
def test_what_an_option_changes(classifier):
    runs = [RECIPES[f"{classifier}{option}"](SHAPE) for option in OPTIONS]
    kinds = ["LearnedProxies"] * 2 + ["EMAProxies"] * 2 + ["FixedProxies"] * 2
    assert [run.space.prototypes.name for run in runs] == kinds
    scales = [run.space.similarity.arguments["scale"]["name"] for run in runs]
    assert scales == ["FixedScale", "DynamicScale"] * 3
    assert runs[4].space.prototypes.arguments == {"layout": "mds"}
    for run in runs:
        assert run.terms == runs[0].terms
        assert (run.optimiser.rate, run.batches.arguments["size"], run.epochs) == (1e-4, 32, 50)


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("softmax", lambda cosine, lengths: lengths * cosine),
        ("norm-face", lambda cosine, _: 10 * cosine),
        ("proxy-dr", lambda cosine, _: -5 * math.log(2 - 2 * cosine)),
    ],
)
def test_a_step_of_a_classifier_is_the_cross_entropy_of_its_scores(name, score):
    run = RECIPES[name](SHAPE)
    torch.manual_seed(0)
    space = build_space(run, ITEMS)
    z = torch.randn(5, 128)
    value = objective(space, z, LABELS, Context(build_terms(run, space))).total
    expected = 0.0
    proxies_ = space.prototypes.vectors[:, 0].detach()
    for vector, label in zip(z, LABELS.tolist(), strict=True):
        scores = []
        for proxy in proxies_:
            lengths = float(vector.norm() * proxy.norm())
            scores.append(score(float(vector @ proxy) / lengths, lengths))
        expected += math.log(sum(math.exp(value - scores[label]) for value in scores)) / 5
    assert value.item() == pytest.approx(expected, rel=1e-4)


def test_corr_turns_items_towards_the_proxies_of_the_tree():
    run = RECIPES["corr"](SHAPE)
    torch.manual_seed(0)
    space = build_space(run, ITEMS)
    placed = space.prototypes.vectors[:, 0]
    value = objective(space, placed[LABELS] * 3, LABELS, Context(build_terms(run, space))).total
    assert value.item() == pytest.approx(0, abs=1e-5)
    cosines = placed @ placed.T
    assert cosines[0, 1] > cosines[0, 2]
    bare = Items(ITEMS.inputs, LABELS, ITEMS.classes, "items")
    with pytest.raises(SettingError, match='the layout "mds" places the classes by their tree'):
        build_space(run, bare)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"classifier": "norm-fase"}, 'did you mean "norm-face"'),
        ({"placing": "nds"}, 'there is no placing "nds"'),
        ({"classifier": "corr", "dynamic": True}, "choose norm-face or proxy-dr"),
        ({"classifier": "softmax", "placing": "ema"}, 'softmax has "learned" proxies'),
    ],
)
def test_refuses_options_that_a_classifier_does_not_have(arguments, says):
    with pytest.raises(SettingError, match=says):
        proxies(SHAPE, **arguments)
