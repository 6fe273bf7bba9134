"""New classes enrolled beside the known ones, against a space that really enrols them, task by task."""

import copy
from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind.data import clusters
from samekind.data.groups import groups_apart
from samekind.decisions import Balance, Choices
from samekind.evaluation import few_shot, few_shot_beside_known
from samekind.evaluation.tasks import drawn_tasks
from samekind.inference.discriminant import fit_discriminant
from samekind.inference.fitting import neighbourhood
from samekind.prototypes import LearnedProxies, SupportMeans, class_means
from samekind.samplers import episodes
from samekind.similarities import Cosine, Euclidean, FixedScale, PairsNetwork, TwoCovariance
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

EVERY = clusters(classes=9, items=10, dimension=3, spread=0.9)
KNOWN, NEW = EVERY.only(EVERY.classes[:4]), EVERY.only(EVERY.classes[4:])
SETS = (KNOWN, KNOWN.inputs, NEW, NEW.inputs)


def a_space(similarity=None, *, classes=KNOWN.classes, count=1):
    """Knows the first four classes, by their means, in another order than the items have them."""
    torch.manual_seed(0)
    means, _ = class_means(KNOWN.inputs, KNOWN.labels, 4)
    prototypes = LearnedProxies(classes, dimension=3, count=count) if count > 1 else SupportMeans(dimension=3)
    vectors = means[:, None].repeat(1, count, 1) + 0.1 * torch.randn(4, count, 3)
    order = [KNOWN.classes.index(name) for name in reversed(classes)]
    prototypes.assign(list(reversed(classes)), vectors[order])
    return MetricSpace(nn.Identity(), similarity or Cosine(scale=FixedScale(3.0)), prototypes).eval()


def normalised_space():
    """Names classes by a fitted similarity normalised with a cohort, and gives enrolled ones a bonus."""
    space = a_space()
    space.fitted = TwoCovariance(dimension=3, normalise=True).fit(KNOWN.inputs, KNOWN.labels)
    space.normalised = neighbourhood(space.fitted, KNOWN.inputs, neighbours=3)
    space.choices = Choices("similarity", "similarity", "normalised", "items")
    space.balances = {"normalised": Balance(0.3, "items")}
    return space.eval()


def space_with_a_discriminant():
    """The same, the known classes told apart by a discriminant."""
    space = normalised_space()
    space.discriminant = fit_discriminant(KNOWN.inputs, KNOWN.labels, KNOWN.classes)
    return space


def named(space, z):
    with torch.no_grad():
        return space.classify(z).classes


def by_hand(space, *, way, shot, queries, tasks, seed):
    """The shares of known and of new items named rightly in each task, by `enroll` and `classify`."""
    generator, others = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed + 1)
    result = []
    for task in episodes(NEW.labels, way=way, shot=shot, queries=queries, tasks=tasks, generator=generator):
        enrolled_space = copy.deepcopy(space)
        for label, support in zip(task.classes.tolist(), task.support, strict=True):
            enrolled_space.enroll(NEW.classes[label], NEW.inputs[support])
        questions = torch.randperm(len(KNOWN), generator=others).tolist()[: way * queries]
        shares = []
        for items, indices in ((KNOWN, questions), (NEW, task.query.flatten().tolist())):
            truth = [items.classes[int(items.labels[index])] for index in indices]
            right = [a == b for a, b in zip(named(enrolled_space, items.inputs[indices]), truth, strict=True)]
            shares.append(sum(right) / len(right))
        result.append(shares)
    return result


@pytest.mark.parametrize(
    "space",
    [
        a_space(),
        a_space(Euclidean()),
        a_space(PairsNetwork(dimension=3, hidden=8)),  # the order of the two matters
        a_space(Euclidean(), count=3),
        normalised_space(),
        space_with_a_discriminant(),
    ],
    ids=["cosine", "euclidean", "pairs", "three vectors a class", "normalised", "discriminant"],
)
def test_agrees_with_enrolling_the_classes_and_asking(space):
    rows = few_shot_beside_known(space, *SETS, name="both", way=3, shots=(1, 4), queries=2, tasks=8, seed=5)
    assert {row[:2] for row in rows} == {("few-shot beside known", "both")}
    assert {row.kind for row in rows} == {space.kind_for("classes")}
    values = {row.measure: row for row in rows}
    assert list(values) == [
        f"3-way {shot}-shot {what}" for shot in (1, 4) for what in ("known", "new", "harmonic mean")
    ]
    for shot in (1, 4):
        shares = by_hand(space, way=3, shot=shot, queries=2, tasks=8, seed=5)
        means = [2 * a * b / (a + b) if a + b else 0.0 for a, b in shares]
        for what, value in zip(
            ("known", "new", "harmonic mean"), (*zip(*shares, strict=True), means), strict=True
        ):
            row = values[f"3-way {shot}-shot {what}"]
            assert row.value == pytest.approx(sum(value) / 8)
            if row.low is not None:
                assert row.low <= row.value <= row.high
                assert row.unit == "episodes"


def test_a_discriminant_takes_nothing_from_new_classes():
    how = {"name": "x", "way": 3, "shots": (4,), "queries": 2, "tasks": 8}
    plain, told_apart = (
        {row.measure: row.value for row in few_shot_beside_known(space, *SETS, **how)}
        for space in (normalised_space(), space_with_a_discriminant())
    )
    assert told_apart["3-way 4-shot new"] == plain["3-way 4-shot new"]
    assert told_apart["3-way 4-shot known"] > plain["3-way 4-shot known"]


def test_the_known_classes_make_it_no_easier():
    """The new items of a task are those of the tasks among new classes alone."""
    space = a_space()
    how = {"name": "x", "way": 3, "shots": (1, 4), "queries": 2, "tasks": 30, "seed": 2}
    alone = [row.value for row in few_shot(space, NEW, NEW.inputs, **how) if row.kind == "similarity"]
    beside = [
        row.value for row in few_shot_beside_known(space, *SETS, **how) if row.measure.endswith("-shot new")
    ]
    assert len(alone) == len(beside) == 2
    assert all(one > other for one, other in zip(alone, beside, strict=True))


def test_a_space_that_names_one_kind_alone_gets_nothing():
    space = a_space()
    with torch.no_grad():
        space.prototypes.assign(list(KNOWN.classes), 1e-9 * torch.ones(4, 1, 3))
    space.similarity = Euclidean()
    far = NEW.inputs + 100  # nearer to nothing than to each other
    rows = few_shot_beside_known(space, KNOWN, KNOWN.inputs + 100, NEW, far, name="x", shots=(5,), tasks=4)
    values = {row.measure.split("-shot ")[1]: row.value for row in rows}
    assert (values["known"], values["harmonic mean"]) == (0, 0)
    assert values["new"] > 0


def test_limits_are_those_of_few_shot():
    rows = few_shot_beside_known(a_space(), *SETS, name="x", way=50, shots=(1, 9, 10), tasks=2)
    assert [row.measure for row in rows[::3]] == ["5-way 1-shot known", "5-way 9-shot known"]


@pytest.mark.parametrize(
    "sets",
    [
        (NEW, NEW.inputs, KNOWN, KNOWN.inputs),
        (EVERY, EVERY.inputs, NEW, NEW.inputs),
        (KNOWN, KNOWN.inputs, EVERY, EVERY.inputs),
        (KNOWN.take(torch.empty(0, dtype=torch.int64)), KNOWN.inputs[:0], NEW, NEW.inputs),
        (KNOWN, KNOWN.inputs, NEW.only(NEW.classes[:1]), NEW.inputs[NEW.labels == 0]),
    ],
    ids=["the other way round", "some known unknown", "some new known", "none known", "one new class"],
)
def test_questions_that_do_not_apply_have_no_row(sets):
    assert few_shot_beside_known(a_space(), *sets, name="x", tasks=2) == []


def test_the_space_stays_as_it_is():
    space = a_space(PairsNetwork(dimension=3, hidden=8, dropout=0.5)).train()
    before, classes = copy.deepcopy(space.state_dict()), list(space.classes)
    one, other = (few_shot_beside_known(space, *SETS, name="x", tasks=3) for _ in range(2))
    assert one == other
    assert space.training
    assert space.classes == classes
    assert all(torch.equal(before[name], value) for name, value in space.state_dict().items())


def test_no_new_item_is_of_the_group_of_an_example():
    groups = torch.arange(len(NEW)) // 2
    grouped = replace(NEW, groups=groups)
    space = a_space()
    sets = (KNOWN, KNOWN.inputs, grouped, NEW.inputs)
    rows = few_shot_beside_known(space, *sets, name="x", way=3, shots=(1,), queries=6, tasks=8, seed=4)
    shares = []
    for task in drawn_tasks(grouped, groups_apart(grouped), way=3, shot=1, queries=6, tasks=8, seed=4):
        enrolled_space = copy.deepcopy(space)
        for label, support in zip(task.classes.tolist(), task.support, strict=True):
            enrolled_space.enroll(NEW.classes[label], NEW.inputs[support])
        queries = task.query.flatten().tolist()
        names = named(enrolled_space, NEW.inputs[queries])
        shares.append(
            sum(name == NEW.classes[NEW.labels[i]] for i, name in zip(queries, names, strict=True))
            / len(queries)
        )
    new = next(row for row in rows if row.measure.endswith(" new"))
    assert new.value == pytest.approx(sum(shares) / 8)
    assert {row.note for row in rows} == {"own group left out"}
