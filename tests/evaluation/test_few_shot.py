"""Few-shot tasks against a loop over the same tasks."""

import inspect
import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind import similarities
from samekind.data import Items, clusters
from samekind.errors import SettingError
from samekind.evaluation import few_shot
from samekind.evaluation.few_shot import few_shot_rows
from samekind.evaluation.samples import Sample
from samekind.prototypes import SupportMeans
from samekind.samplers import episodes
from samekind.similarities import Cosine, FixedScale, PairsNetwork
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

ITEMS = clusters(classes=6, items=8, dimension=3, spread=0.9)


def a_space(similarity):
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=3)).eval()


def a_similarity(name):
    torch.manual_seed(0)
    kind = getattr(similarities, name)
    takes = inspect.signature(kind).parameters
    needed = {"dimension": 3} if "dimension" in takes else {}
    return kind(**needed, scale=FixedScale(3.0))


def softmax(values):
    powers = [math.exp(value) for value in values]
    return [power / sum(powers) for power in powers]


def logits_by_hand(space, kind, prototypes, query):
    """Scores of one query against each prototype, the prototype first."""
    if kind == "fused":
        one, other = (
            softmax(logits_by_hand(space, value, prototypes, query)) for value in ("similarity", "cosine")
        )
        return [0.5 * a + 0.5 * b for a, b in zip(one, other, strict=True)]
    scale = float(space.scorer(kind).scale())
    return [scale * float(space.score(prototype[None], query[None], kind=kind)) for prototype in prototypes]


@torch.no_grad()
def by_hand(space, kind, *, way, shot, queries, tasks, seed):
    """The mean accuracy over tasks and half the width of its interval."""
    generator = torch.Generator().manual_seed(seed)
    accuracies = []
    for task in episodes(ITEMS.labels, way=way, shot=shot, queries=queries, tasks=tasks, generator=generator):
        prototypes = [sum(ITEMS.inputs[index] for index in row) / shot for row in task.support]
        right = 0
        for truth, row in enumerate(task.query.tolist()):
            for index in row:
                logits = logits_by_hand(space, kind, prototypes, ITEMS.inputs[index])
                right += logits.index(max(logits)) == truth
        accuracies.append(right / (way * queries))
    mean = sum(accuracies) / tasks
    variance = sum((accuracy - mean) ** 2 for accuracy in accuracies) / tasks
    return mean, 1.96 * math.sqrt(variance / tasks)


@pytest.mark.parametrize("name", similarities.SIMILARITIES)
def test_agrees_with_a_loop_for_each_kind_of_score(name):
    space = a_space(a_similarity(name))
    rows = few_shot(
        space, ITEMS, ITEMS.inputs, name="unseen", way=3, shots=(1, 4), queries=2, tasks=6, seed=5
    )
    assert [(row.measure, row.kind) for row in rows] == [
        (f"3-way {shot}-shot", kind) for shot in (1, 4) for kind in space.kinds
    ]
    for row in rows:
        shot = int(row.measure.split()[1][0])
        mean, half = by_hand(space, row.kind, way=3, shot=shot, queries=2, tasks=6, seed=5)
        assert row[:2] == ("few-shot", "unseen")
        assert row.value == pytest.approx(mean)
        if half == 0:  # an interval without width would be a false one
            assert (row.low, row.high, row.unit) == (None, None, "")
            continue
        assert row.low == pytest.approx(max(mean - half, 0))
        assert row.high == pytest.approx(min(mean + half, 1))
        assert row.unit == "episodes"


def test_the_kinds_of_score_differ_on_the_same_tasks():
    """Else the test above could not tell them apart."""
    space = a_space(a_similarity("PairsNetwork"))
    rows = few_shot(space, ITEMS, ITEMS.inputs, name="unseen", shots=(1,), queries=4, tasks=10)
    assert len({row.value for row in rows}) > 1


def test_there_are_at_most_as_many_ways_as_classes_with_items():
    some = ITEMS.take((ITEMS.labels < 2).nonzero().flatten())
    rows = few_shot(a_space(Cosine()), some, some.inputs, name="seen", way=5, shots=(1,), queries=2, tasks=2)
    assert [row.measure for row in rows] == ["2-way 1-shot"]


def test_clear_classes_are_never_mistaken():
    items = clusters(classes=3, items=6, dimension=3, spread=0)
    rows = few_shot(a_space(Cosine()), items, items.inputs, name="seen", queries=1, tasks=3)
    assert [row[4:] for row in rows] == [(1.0, None, None, "", "")] * 2


def test_the_seed_decides_the_tasks():
    space, options = a_space(Cosine()), {"name": "seen", "shots": (1,), "queries": 3, "tasks": 4}
    one, same, other = (few_shot(space, ITEMS, ITEMS.inputs, seed=seed, **options) for seed in (0, 0, 1))
    assert one == same
    assert one != other


def test_dropout_plays_no_part_and_the_mode_is_kept():
    torch.manual_seed(0)
    space = a_space(PairsNetwork(dimension=3, hidden=8, dropout=0.9))
    options = {"name": "seen", "shots": (1,), "queries": 3, "tasks": 4}
    at_rest = few_shot(space, ITEMS, ITEMS.inputs, **options)
    assert few_shot(space.train(), ITEMS, ITEMS.inputs, **options) == at_rest
    assert space.training


def test_a_small_class_leaves_fewer_queries_but_never_fewer_shots():
    def measured(shots):
        rows = few_shot(a_space(Cosine()), ITEMS, ITEMS.inputs, name="seen", shots=shots, queries=99, tasks=2)
        return {row.measure for row in rows}

    smallest = int(ITEMS.labels.bincount().min())
    assert measured((smallest - 1,)) == {f"5-way {smallest - 1}-shot"}
    assert measured((smallest,)) == set()


def test_near_copies_of_the_examples_do_not_count():
    """Groups of four near-copies that have nothing to do with their class: a task is a guess among three."""
    generator = torch.Generator().manual_seed(0)
    groups = torch.arange(360) // 4
    x = torch.randn(90, 3, generator=generator)[groups]
    items = Items(x, groups % 3, ("a", "b", "c"), "copies", groups=groups)
    space = a_space(similarities.Euclidean())
    rows = few_shot(space, items, x, name="x", way=3, shots=(1, 20), tasks=300)
    plain = few_shot(space, replace(items, groups=None), x, name="x", way=3, shots=(1, 20), tasks=300)
    for row, other in zip(rows, plain, strict=True):
        assert row.value == pytest.approx(1 / 3, abs=0.04)
        assert (row.note, other.note) == ("own group left out", "")
        assert other.value > row.value + 0.005
    alone = replace(
        items.take(torch.arange(24)), groups=torch.arange(24) // 4 % 3 + 3 * (torch.arange(24) % 2)
    )
    assert few_shot(space, alone, x[:24], name="x", way=3, shots=(7,), tasks=5) == []


def test_two_large_groups_of_a_class_are_one_for_examples_and_one_for_queries():
    groups = torch.arange(80) // 8
    x = torch.randn(80, 3, generator=torch.Generator().manual_seed(0))
    items = Items(x, groups // 2, tuple("abcde"), "pairs", groups=groups)
    rows = few_shot(a_space(similarities.Euclidean()), items, x, name="x", shots=(5,), tasks=40)
    assert {(row.measure, row.note) for row in rows} == {("5-way 5-shot", "own group left out")}


def test_a_note_says_what_is_not_usual():
    """One class of two items is in no task of two examples."""
    few = ITEMS.take(torch.cat([torch.arange(40), torch.arange(40, 42)]))
    options = {"name": "x", "shots": (1, 2), "queries": 2, "tasks": 2}
    rows = few_shot(a_space(Cosine()), few, few.inputs, **options, by="nearest", centre=4)
    assert [row.note for row in rows] == [
        "by the nearest example; centred on 4 queries of all classes in turn",
        "5 of 6 classes have enough items; by the nearest example; "
        "centred on 4 queries of all classes in turn",
    ]


def test_tuned_prototypes_answer_tasks():
    images = torch.rand(6, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    noise = torch.rand(36, 1, 8, 8, generator=torch.Generator().manual_seed(1))
    labels = torch.arange(36) // 6
    items = Items((255 * (images[labels] + noise) / 2).byte(), labels, tuple("abcdef"), "images")
    space = MetricSpace(nn.Flatten(), Cosine(), SupportMeans(dimension=64)).eval()
    z = space.embed(items.inputs / 255)
    options = {"name": "x", "shots": (2,), "queries": 4, "tasks": 5}
    [plain], [tuned] = (few_shot(space, items, z, **options, tuned=steps) for steps in (0, 3))
    assert tuned.note == "prototypes tuned in 3 steps"
    assert tuned.value == pytest.approx(plain.value, abs=0.1)
    with pytest.raises(SettingError, match='tuned from the means of the examples: by="mean", centre=0'):
        few_shot(space, items, z, **options, tuned=3, by="nearest")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"by": "median"}, 'a class is made by "mean", "nearest", "sum" or "votes"; got "median"'),
        ({"centre": -1}, "centre is how many queries have one mean: 2 or more, or 0; got -1"),
        ({"centre": 1}, "2 or more, or 0; got 1"),
        ({"tuned": -2}, "tuned is a number of steps, 0 or more; got -2"),
    ],
)
def test_refuses_impossible_heads(wrong, says):
    items = clusters(classes=3, items=4, dimension=2, spread=0.5)
    space = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=2)).eval()
    with pytest.raises(SettingError, match=says):
        few_shot(space, items, items.inputs, name="x", tasks=2, **wrong)


def test_fewer_tasks_than_were_asked_for_are_counted():
    sample = Sample("few-shot", "x", "5-way 1-shot", "cosine", "episodes", 0.5, torch.zeros(86))
    assert [row.note for row in few_shot_rows([sample], 600, "x")] == ["of 86 of 600 tasks; x"]
    assert [row.note for row in few_shot_rows([sample], 86, "")] == [""]
