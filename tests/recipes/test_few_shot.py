"""The recipes by tasks: their loss against a loop, and a run that learns."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F

from samekind import recipes
from samekind.data import clusters
from samekind.errors import SettingError
from samekind.recipes import few_shot
from samekind.recipes.few_shot import FEW_SHOT
from samekind.training import build_space, launch
from samekind.training.build import build_sampler
from samekind.training.learner import Learner

ITEMS = clusters(classes=7, items=9, dimension=6, spread=0.7)


def learner_for(run, items):
    torch.manual_seed(run.seed)
    return Learner(run, build_space(run, items), items, launch("cpu", run.precision), batches=100)


def by_hand(z, exponent, *, by, tasks, way, shot, queries):
    """The mean loss over all queries, one after the other."""
    losses, rows = [], iter(z.double())
    for _ in range(tasks):
        classes = [[next(rows) for _ in range(shot + queries)] for _ in range(way)]
        for own, members in enumerate(classes):
            for query in members[shot:]:
                squares = []
                for others in classes:
                    if by == "proto":
                        mean = sum(others[:shot]) / shot
                        squares.append(float((query - mean).square().sum()))
                    else:
                        squares.append(min(float((query - one).square().sum()) for one in others[:shot]))
                if exponent is None:
                    logits = [-square for square in squares]
                else:
                    logits = [-exponent / 2 * math.log(square + 1e-10) for square in squares]
                most = max(logits)
                losses.append(most + math.log(sum(math.exp(one - most) for one in logits)) - logits[own])
    return sum(losses) / len(losses)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("name", FEW_SHOT)
def test_the_loss_is_that_of_a_loop_over_queries(name, later):
    """Be the size of a task said to the recipe, or set in the run afterwards, as ``--set`` does."""
    by, classifier = name.split("-")
    sizes = {"way": 3, "shot": 2, "queries": 4, "tasks": 2}
    run = few_shot(ITEMS, by=by, classifier=classifier, **({} if later else sizes))
    run = run.override([f"batches.{size}={number}" for size, number in sizes.items()])
    assert run.recipe == name
    learner = learner_for(run, ITEMS)
    batch = build_sampler(run, ITEMS.labels).batches(0)[0]
    with learner.training():
        [cost] = learner.step(ITEMS.inputs[batch], ITEMS.labels[batch], number=0)
    exponent = math.exp(2) if classifier == "dr" else None
    expected = by_hand(learner.embedded, exponent, by=by, **sizes)
    assert float(cost) == pytest.approx(expected, rel=1e-4)


MATCHING = (
    'space.similarity={name = "Cosine", scale = {name = "FixedScale", value = 10.0}}',
    'space.prototypes={name = "SupportMeans", count = 2, pooling = "sum", temperature = 0.1}',
)
RELATION = ('space.similarity={name = "PairsNetwork", dropout = 0.0}',)


def attention(space, queries, examples):
    """Matching networks: softmax over all examples of ten times the cosine, summed over those of a class."""
    cosines = F.cosine_similarity(queries[:, None, None], examples, dim=-1)
    return (10 * cosines).exp().sum(-1) / (10 * cosines).exp().sum((1, 2))[:, None]


def relation(space, queries, examples):
    """A network over class mean and query, the class first; a softmax over the classes."""
    scores = [
        [space.similarity.score_all(one.mean(0)[None], query[None]) for one in examples] for query in queries
    ]
    return torch.tensor(scores).softmax(1)


@pytest.mark.parametrize(("changes", "answers"), [(MATCHING, attention), (RELATION, relation)])
def test_other_networks_of_the_field_are_settings_of_the_recipe(changes, answers):
    """As docs/few-shot.md writes them."""
    run = few_shot(ITEMS, way=3, shot=2, queries=4, tasks=1).override(changes)
    learner = learner_for(run, ITEMS)
    batch = build_sampler(run, ITEMS.labels).batches(0)[0]
    before = copy.deepcopy(learner.space)
    with learner.training():
        [cost] = learner.step(ITEMS.inputs[batch], ITEMS.labels[batch], number=0)
    z = learner.embedded.reshape(3, 6, -1)
    with torch.no_grad():
        shares = answers(before, z[:, 2:].flatten(0, 1), z[:, :2])
    truth = torch.arange(3).repeat_interleave(4)
    assert float(cost) == pytest.approx(float(-shares[torch.arange(12), truth].log().mean()), rel=1e-4)


def test_the_exponent_of_dr_is_learned():
    learner = learner_for(few_shot(ITEMS, classifier="dr", queries=4), ITEMS)
    scale = learner.space.similarity.scale
    assert float(scale().detach()) == pytest.approx(math.exp(2))
    batch = build_sampler(learner.run, ITEMS.labels).batches(0)[0]
    with learner.training():
        learner.step(ITEMS.inputs[batch], ITEMS.labels[batch], number=0)
    assert float(scale().detach()) != pytest.approx(math.exp(2), rel=1e-5)


def test_pictures_get_conv4_and_others_what_suits_them():
    assert few_shot((3, 84, 84)).space.encoder.name == "Conv4"
    assert few_shot((5,)).space.encoder.name == "MLP"
    assert set(FEW_SHOT) <= set(recipes.RECIPES)


def test_tasks_are_as_large_as_the_items_allow():
    few = ITEMS.take((ITEMS.labels < 3).nonzero().flatten())
    assert {name: few_shot(few, shot=2).batches.arguments[name] for name in ("way", "queries")} == {
        "way": 3,
        "queries": 7,
    }


@pytest.mark.parametrize("wrong", [{"classifier": "cosine"}, {"by": "mean"}])
def test_refuses_unknown_names(wrong):
    with pytest.raises(SettingError, match=r"there is no|proto"):
        few_shot((5,), **wrong)
