"""What a rung gives: against loops over queries and pairs, and against a rung that is better or not."""

from dataclasses import replace

import pytest
import torch

from samekind.data import clusters
from samekind.encoders import Unchanged
from samekind.errors import DataError
from samekind.measures import equal_error_rate
from samekind.prototypes import SupportMeans
from samekind.recipes.measuring import (
    Named,
    is_better,
    joined,
    measure,
    measure_enrolled,
    measure_familiar,
    measure_names,
    rung_of,
)
from samekind.similarities import Cosine
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")


def space():
    return MetricSpace(Unchanged(inputs=8), Cosine(), SupportMeans(dimension=8))


@pytest.fixture(scope="module")
def items():
    return clusters(classes=6, items=8, dimension=8, spread=0.6, seed=3)


def test_agrees_with_loops_over_queries_and_pairs(items):
    measured = measure(space(), items)
    cosines = torch.nn.functional.cosine_similarity(items.inputs[:, None], items.inputs, dim=-1)
    hits, precision, scores, same = [], [], [], []
    for one in range(len(items)):
        others = [other for other in range(len(items)) if other != one]
        others.sort(key=lambda other: -cosines[one, other])
        right = [float(items.labels[other] == items.labels[one]) for other in others[:7]]
        hits.append(right[0])
        precision.append(sum(hit * sum(right[: rank + 1]) / (rank + 1) for rank, hit in enumerate(right)) / 7)
        for other in range(one + 1, len(items)):
            scores.append(cosines[one, other])
            same.append(items.labels[one] == items.labels[other])
    assert measured.hits["similarity"].tolist() == hits
    assert measured.precision["similarity"].tolist() == pytest.approx(precision)
    rate = equal_error_rate(torch.tensor(scores), torch.tensor(same)).rate
    assert measured.equal_error("similarity") == pytest.approx(rate, abs=1e-3)


def test_neighbours_are_found_by_the_score_with_the_highest_recall_and_precision(items):
    measured = measure(space(), items)
    hits, precision = measured.hits["similarity"], measured.precision["similarity"]
    both = measured._replace(
        hits={"similarity": hits, "fitted": (hits - 0.01).clamp(min=0)},
        precision={"similarity": precision, "fitted": (precision + 0.05).clamp(max=1)},
    )
    assert both.neighbours == "fitted"
    assert both._replace(precision=dict.fromkeys(both.hits, precision)).neighbours == "similarity"
    assert measured.neighbours == "similarity"


def test_items_of_one_group_are_not_found(items):
    grouped = replace(items, groups=torch.arange(48) // 2)
    measured = measure(space(), grouped)
    assert all((values <= 1).all() for values in (*measured.hits.values(), *measured.precision.values()))
    large = replace(items, groups=(torch.arange(48) > 44).long())
    assert measure(space(), large).precision["similarity"].isfinite().all()


def test_an_item_alone_in_its_class_is_no_query(items):
    first = torch.tensor([0, *range(8, 48)])
    assert len(measure(space(), items.take(first)).units) == 40


def test_folds_are_joined(items):
    halves = [items.take(torch.arange(24)), items.take(torch.arange(24, 48))]
    parts = [measure(space(), half) for half in halves]
    both = joined(parts)
    assert len(both.units) == 48
    assert len(both.trials["similarity"].scores) == 2 * (24 * 23 // 2)
    rung = rung_of("both", both, seconds=1.26, by_class=True)
    assert rung.recall == pytest.approx(float(both.hits["similarity"].mean()))
    assert (rung.seconds, rung.neighbours, rung.pairs) == (1.3, "similarity", "similarity")
    assert rung.recall_interval[0] <= rung.recall <= rung.recall_interval[1]


def test_only_what_is_better_by_more_than_chance_is_better(items):
    worse = replace(
        items, inputs=items.inputs + torch.randn(48, 8, generator=torch.Generator().manual_seed(0))
    )
    good, bad = measure(space(), items), measure(space(), worse)
    for by_class in (True, False):
        assert is_better(good, bad, by_class=by_class)
        assert not is_better(bad, good, by_class=by_class)
        assert not is_better(good, good, by_class=by_class)


def test_of_two_classes_the_recall_decides():
    items = clusters(classes=2, items=30, dimension=8, spread=2.0, seed=1)
    good = replace(items, inputs=items.inputs + 9 * torch.eye(8)[items.labels])
    one, other = measure(space(), good), measure(space(), items)
    assert is_better(one, other, by_class=False)
    assert rung_of("two", one, seconds=0, by_class=False).error_interval is None


def test_names_agree_with_a_loop_over_class_means(items):
    known, asked = items.take(torch.arange(0, 40)), items.take(torch.arange(4, 48))  # the last is unknown
    named = measure_names(space(), known, asked)
    means = torch.stack([known.inputs[known.labels == label].mean(0) for label in range(5)])
    right = [
        float(torch.nn.functional.cosine_similarity(means, x[None]).argmax() == label)
        for x, label in zip(asked.inputs, asked.labels, strict=True)
        if label < 5
    ]
    assert named.right["similarity"].tolist() == right
    assert measure_names(space(), known, items.take(torch.arange(40, 48))) is None


def test_a_discriminant_names_unless_it_is_worse_by_more_than_chance(items):
    named = measure_names(space(), items, items)
    assert named.by_discriminant()
    assert torch.equal(named.answers(), named.discriminant)
    worse = named._replace(discriminant=torch.zeros(48, dtype=torch.double))
    assert not worse.by_discriminant()
    assert torch.equal(worse.answers(), named.right[named.best])
    none = named._replace(discriminant=None)
    assert not none.by_discriminant()
    assert torch.equal(none.answers(), named.right[named.best])


def test_as_good_or_better_everywhere_is_enough_where_no_proof_is_asked_for(items):
    plain = measure(space(), items)
    hits = plain.hits["similarity"].clone()
    first = int((hits == 0).nonzero()[0])
    hits[first] = 1  # one query more is found, which may be chance
    better = plain._replace(hits={"similarity": hits})
    assert not is_better(better, plain, by_class=True)
    assert is_better(better, plain, by_class=True, certainly=False)
    assert not is_better(plain, plain, by_class=True, certainly=False)
    assert not is_better(plain, better, by_class=True, certainly=False)


def test_more_items_named_rightly_make_a_rung_better(items):
    worse = replace(items, inputs=torch.randn(48, 8, generator=torch.Generator().manual_seed(0)))
    plain = measure(space(), items)
    good = plain._replace(named=measure_names(space(), items, items))
    bad = plain._replace(named=measure_names(space(), items, worse))
    assert is_better(good, bad, by_class=True)
    assert not is_better(bad, good, by_class=True)
    assert rung_of("good", good, seconds=1, by_class=True).accuracy == float(good.named.answers().mean())


def test_a_gain_in_naming_counts_although_few_classes_share_it_unevenly(items):
    """The known classes stay the same, so the interval is over items; those of several folds count once."""
    measured = measure(space(), items)
    wrong = torch.zeros(400, dtype=torch.double)
    right = wrong.clone()
    right[:100] = 1  # all in one class of four
    numbers = torch.arange(400)
    old, new = (measured._replace(named=Named({"similarity": marks}, numbers)) for marks in (wrong, right))
    assert is_better(new, old, by_class=True)
    few = numbers % 4  # four items that a hundred folds ask about, one of them gained
    gained = (few == 0).double()
    old, new = (measured._replace(named=Named({"similarity": marks}, few)) for marks in (wrong, gained))
    assert not is_better(new, old, by_class=True)


def test_with_few_classes_a_loss_of_neighbours_counts_over_queries(items):
    """One class of six loses: over classes that is chance, over queries it is not."""
    right = torch.ones(600, dtype=torch.double)
    lost = right.clone()
    lost[:60] = 0
    units = torch.arange(6).repeat_interleave(100)
    plain = measure(space(), items)
    numbers = torch.arange(100)
    old = plain._replace(
        hits={"similarity": right}, units=units, named=Named({"similarity": right[:100] * 0}, numbers)
    )
    new = old._replace(hits={"similarity": lost}, named=Named({"similarity": right[:100]}, numbers))
    assert is_better(new, old, by_class=True)
    assert not is_better(new, old, by_class=True, few=True)


def test_held_out_classes_are_enrolled_beside_the_others(items):
    known, new = items.take(torch.arange(0, 32)), items.take(torch.arange(32, 48))
    tasks = measure_enrolled(space(), known, items, new)["similarity"]
    assert {(len(task.known), len(task.new)) for task in tasks} == {(32, 16)}
    means = torch.stack([known.inputs[known.labels == label].mean(0) for label in range(4)])
    scores = torch.nn.functional.cosine_similarity(means, known.inputs[:, None], dim=-1)
    assert torch.equal(tasks[0].known, scores.argmax(1) == known.labels)
    measured = measure(space(), new)._replace(enrolled=[{"similarity": tasks}])
    balance = measured.balances("six clusters")["similarity"]
    assert 0.5 < balance.new <= 1
    assert measure(space(), new).balances("nothing") == {}
    assert measure_enrolled(space(), known, new, new) == {}


def test_items_of_held_out_classes_are_less_familiar(items):
    """The score of the nearest class mean, known by the names of the classes."""
    known, new = items.take(torch.arange(0, 32)), items.take(torch.arange(32, 48))
    told = measure_familiar(space(), known, items, new)
    assert told.known.tolist() == [True] * len(known) + [False] * len(new)
    means = torch.stack([known.inputs[known.labels == label].mean(0) for label in known.labels.unique()])
    for place, vector in enumerate(torch.cat([known.inputs, new.inputs])):
        best = float(space().score_all(means, vector[None]).max())
        assert float(told.scores["similarity"][place]) == pytest.approx(best, abs=1e-5)
    assert measure_familiar(space(), known, new, new) is None


def test_items_that_cannot_be_compared_are_refused():
    items = replace(clusters(classes=2, items=3, dimension=2), groups=torch.arange(6) // 3)
    items = items.take(torch.tensor([0, 3]))
    space = MetricSpace(Unchanged(inputs=2), Cosine(), SupportMeans(dimension=2))
    with pytest.raises(DataError, match="from different groups"):
        measure(space, items)
