"""The recipes with one proxy for each class: the grid of the paper, and one step of each classifier."""

import math
from dataclasses import replace

import pytest
import torch

from samekind.data import Items
from samekind.errors import SettingError
from samekind.evaluation import evaluate
from samekind.inference import embed, search
from samekind.recipes import RECIPES, fit, proxies
from samekind.recipes.proxies import BY_TREE, OTHER_SPACES, PROXIES
from samekind.taxonomy import Tree
from samekind.training import RunFolder, build_space
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


@pytest.mark.parametrize("name", BY_TREE)
def test_proxies_by_the_tree_differ_from_the_papers_in_their_orientation_alone(name):
    classifier = name.removesuffix("-tree")
    ours = RECIPES[name](SHAPE)
    paper = RECIPES["corr" if classifier == "corr" else f"{classifier}-mds"](SHAPE)
    assert ours.space.prototypes.arguments == {"layout": "mds", "orientation": "means"}
    same = replace(ours.space, prototypes=paper.space.prototypes)
    assert replace(ours, recipe=paper.recipe, space=same) == paper


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


@pytest.mark.parametrize(
    ("name", "distance"),
    [
        ("euclidean", lambda a, b: math.dist(a, b) ** 2),
        ("poincare", lambda a, b: _hyperbolic(a, b)),
    ],
)
def test_other_spaces_have_the_softmax_of_their_negative_distances(name, distance):
    run = OTHER_SPACES[name](SHAPE)
    assert (RECIPES[name], run.recipe) == (OTHER_SPACES[name], name)
    assert run.space.prototypes.name == "LearnedProxies"
    torch.manual_seed(0)
    space = build_space(run, ITEMS)
    z = torch.randn(5, 128) / 10
    value = objective(space, z, LABELS, Context(build_terms(run, space))).total
    expected = 0.0
    for vector, label in zip(z.tolist(), LABELS.tolist(), strict=True):
        scores = [-distance(vector, proxy) for proxy in space.prototypes.vectors[:, 0].tolist()]
        expected += math.log(sum(math.exp(score - scores[label]) for score in scores)) / 5
    assert value.item() == pytest.approx(expected, rel=1e-4)


def _hyperbolic(a, b):
    """The distance of the ball, of tangent vectors at its centre, by its inner products (curvature 1)."""
    first, second = ([math.tanh(math.hypot(*v)) / math.hypot(*v) * x for x in v] for v in (a, b))
    within = (1 - math.hypot(*first) ** 2) * (1 - math.hypot(*second) ** 2)
    return math.acosh(1 + 2 * math.dist(first, second) ** 2 / within)


@pytest.mark.parametrize("name", ["norm-face", *OTHER_SPACES])
def test_a_space_of_each_geometry_is_trained_evaluated_searched_and_opened_again(name, sets, tmp_path):
    run = RECIPES[name](sets.train).override(["epochs=8", "batches.size=8", "optimiser.rate=0.003"])
    fit(run, sets, folder=tmp_path)
    space = RunFolder(tmp_path).space()
    assert type(space.similarity).__name__ == run.space.similarity.name
    rows = evaluate(space, {"seen": sets.tests()["seen"]}, tasks=10)
    accuracy = next(row.value for row in rows if (row.measure, row.kind) == ("accuracy", "similarity"))
    assert accuracy > 0.7
    z = embed(space, sets.test.inputs)
    nearest = search(space, z, z, k=3, kind="similarity", same_items=True)
    scores = space.score_all(z, z).fill_diagonal_(-torch.inf)
    torch.testing.assert_close(nearest.scores, scores.topk(3).values)


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
        ({"classifier": "poincare", "placing": "mds"}, 'poincare has "learned" proxies'),
    ],
)
def test_refuses_options_that_a_classifier_does_not_have(arguments, says):
    with pytest.raises(SettingError, match=says):
        proxies(SHAPE, **arguments)
