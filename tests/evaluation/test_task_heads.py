"""Heads of few-shot tasks against a loop over queries that anyone can check."""

import math

import pytest
import torch
from torch import nn

from samekind.data import clusters
from samekind.errors import SettingError
from samekind.evaluation.task_heads import TaskHead, head_scores, task_accuracies
from samekind.prototypes import SupportMeans
from samekind.samplers import Episode, episodes_at_once
from samekind.similarities import FixedScale, LogDistance, PairsNetwork, SquaredEuclidean
from samekind.space import MetricSpace

ITEMS = clusters(classes=6, items=9, dimension=3, spread=0.9)
TASKS = episodes_at_once(
    ITEMS.labels, way=3, shot=4, queries=5, tasks=4, generator=torch.Generator().manual_seed(0)
)


def a_space(similarity=None):
    torch.manual_seed(0)
    own = similarity or PairsNetwork(dimension=3, hidden=8, scale=FixedScale(2.0))
    return MetricSpace(nn.Identity(), own, SupportMeans(dimension=3)).eval()


def answered(space, head, examples, query, middle):
    """The class of one query: examples (way, shot, d)."""
    scale = float(space.scorer(head.kind).scale())

    def score(vector):
        return scale * float(space.score((vector - middle)[None], (query - middle)[None], kind=head.kind))

    scores = [[score(example) for example in members] for members in examples]
    match head.by:
        case "mean":
            values = [score(members.mean(0)) for members in examples]
        case "nearest":
            values = [max(row) for row in scores]
        case "sum":
            values = [sum(map(math.exp, row)) for row in scores]
        case "votes":
            ranked = sorted(((value, own) for own, row in enumerate(scores) for value in row), reverse=True)
            voters = [own for _, own in ranked[: len(scores[0]) // 2 + 1]]
            values = [voters.count(own) + (0.5 if own == voters[0] else 0) for own in range(len(scores))]
    return values.index(max(values))


@torch.no_grad()
@pytest.mark.parametrize("by", ["mean", "nearest", "sum", "votes"])
@pytest.mark.parametrize("kind", ["similarity", "cosine"])
@pytest.mark.parametrize("centre", [0, 4])
def test_heads_agree_with_a_loop(by, kind, centre):
    space, head, z = a_space(), TaskHead(kind, by, centre), ITEMS.inputs
    for task, accuracy in enumerate(task_accuracies(space, z, TASKS, head).tolist()):
        examples, queries = z[TASKS.support[task]], z[TASKS.query[task]].flatten(0, 1)
        turns = [5 * own + number for number in range(5) for own in range(3)]
        right = 0
        for place, query in enumerate(queries):
            batch = [other for other in turns if turns.index(other) // 4 == turns.index(place) // 4]
            middle = queries[batch].mean(0) if centre else torch.zeros(3)
            right += answered(space, head, examples, query, middle) == place // 5
        assert accuracy == pytest.approx(right / len(queries))


@torch.no_grad()
def test_the_fused_kind_averages_the_probabilities():
    space = a_space()
    own, cosine, fused = (
        head_scores(space, ITEMS.inputs, TASKS, TaskHead(kind)) for kind in ("similarity", "cosine", "fused")
    )
    torch.testing.assert_close(fused, (own.softmax(-1) + cosine.softmax(-1)) / 2)


@torch.no_grad()
def test_softmax_and_distance_ratio_answer_alike_on_one_embedding():
    """Both fall with the distance; they differ in what they train."""
    one, other = (
        head_scores(a_space(similarity), ITEMS.inputs, TASKS)
        for similarity in (SquaredEuclidean(), LogDistance(scale=FixedScale(7.389)))
    )
    assert torch.equal(one.argmax(-1), other.argmax(-1))
    assert not torch.allclose(one.softmax(-1), other.softmax(-1))


@torch.no_grad()
def test_of_equal_votes_the_nearest_decides_though_a_third_class_is_nearer():
    """Eight shots have five voters: one of class 0, the nearest of all, two of class 1 and two of class 2."""
    near = {0: [0.1], 1: [0.4, 0.5], 2: [0.2, 0.6]}
    rows = [near[own] + [9.0 + own] * (8 - len(near[own])) for own in range(3)]
    z = torch.tensor([*[value for row in rows for value in row], 0.0, 0.0, 0.0])[:, None]
    task = Episode(
        torch.arange(3)[None], torch.arange(24).reshape(1, 3, 8), torch.tensor([[[24], [25], [26]]])
    )
    space = MetricSpace(nn.Identity(), SquaredEuclidean(), SupportMeans(dimension=1)).eval()
    assert head_scores(space, z, task, TaskHead(by="votes")).argmax(-1).tolist() == [[2, 2, 2]]


def test_an_unknown_way_is_refused():
    with pytest.raises(SettingError, match='"mean", "nearest", "sum" or "votes"; got "median"'):
        head_scores(a_space(), ITEMS.inputs, TASKS, TaskHead(by="median"))
