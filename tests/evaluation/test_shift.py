"""Items from elsewhere: the same ones show nothing, moved ones a shift, others new classes; gaps by hand."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind.data import Items, clusters, digits
from samekind.errors import DataError
from samekind.evaluation.shift import Gap, corrupted_sets, shifts, unpaired_gap
from samekind.inference import all_trials, fit_decision
from samekind.measures.intervals import Interval, proportion_interval
from samekind.prototypes import SupportMeans, class_means
from samekind.similarities import Euclidean
from samekind.space import MetricSpace


class Passing(nn.Module):
    dimension = 6

    def forward(self, x):
        return x.flatten(1)[:, :6]


def part(items, which):
    return items.take(torch.tensor(which))


@pytest.fixture(scope="module")
def everything():
    return clusters(classes=6, items=120, dimension=6, spread=0.25, seed=3)


@pytest.fixture(scope="module")
def home(everything):
    """Half of the items of the first four classes."""
    return part(everything, [i for i, y in enumerate(everything.labels) if y < 4 and i % 2 == 0])


@pytest.fixture(scope="module")
def elsewhere(everything):
    """The other half."""
    return part(everything, [i for i, y in enumerate(everything.labels) if y < 4 and i % 2 == 1])


@pytest.fixture(scope="module")
def space(home):
    prototypes = SupportMeans(dimension=6)
    prototypes.assign(list(home.classes[:4]), class_means(home.inputs, home.labels, 4)[0][:, None])
    space = MetricSpace(Passing(), Euclidean(), prototypes).eval()
    trials = all_trials(space, home.inputs, home.labels)
    space.decisions["similarity"] = fit_decision(trials, kind="similarity", description="home")
    return space


def cause_of(space, home, away):
    return shifts(space, home, {"away": away}, most=240)[0]


def test_items_of_the_same_kind_show_nothing(space, home, elsewhere):
    answer = cause_of(space, home, elsewhere)
    assert answer.cause == "none"
    assert answer.new.low < 0.05 < answer.new.high
    assert answer.gaps[0].gap.low <= 0 <= answer.gaps[0].gap.high
    assert answer.thresholds in ("hold", "undecided")


def test_items_that_have_all_moved_are_a_shift(space, home, elsewhere):
    moved = replace(elsewhere, inputs=elsewhere.inputs + 0.12)
    answer = cause_of(space, home, moved)
    assert answer.cause == "shift"
    assert answer.whole.p_value < 0.05


def test_items_of_new_classes_are_named_so(space, home, elsewhere, everything):
    strange = [i for i, y in enumerate(everything.labels) if y >= 4][:80]
    same = [i for i, y in enumerate(everything.labels) if y < 4 and i % 2 == 1]
    answer = cause_of(space, home, part(everything, [*same, *strange]))
    assert answer.cause == "new classes"
    assert answer.new.mean > 0.2


def test_a_threshold_that_no_longer_gives_what_it_promised_is_broken(space, home, elsewhere):
    answer = cause_of(space, home, replace(elsewhere, inputs=3 * elsewhere.inputs))
    assert answer.thresholds == "broken"
    content = answer.to_json()
    assert content["thresholds"] == "broken"
    assert content["promises"][0]["broken"]


def test_fewer_right_without_a_cause_is_unexplained(space, home, elsewhere):
    gap = Gap("similarity", Interval(0.9, 0.8, 1.0), Interval(0.7, 0.6, 0.8), Interval(0.2, 0.1, 0.3))
    same = cause_of(space, home, elsewhere)
    assert not same.unexplained
    assert same._replace(gaps=(gap,)).unexplained
    assert not same._replace(gaps=()).unexplained
    assert not same._replace(gaps=(gap,), whole=same.whole._replace(p_value=0.01), rest=None).unexplained


def test_the_gap_of_two_shares_is_newcombes():
    home, away = torch.tensor([1] * 56 + [0] * 14), torch.tensor([1] * 48 + [0] * 32)
    assert unpaired_gap(home, away) == pytest.approx((0.2, 0.0524, 0.3339), abs=1e-4)


def test_a_paired_gap_is_narrower(space, home):
    noise = 0.35 * torch.randn(home.inputs.shape, generator=torch.Generator().manual_seed(0))
    away = {"noisy": replace(home, inputs=home.inputs + noise)}
    paired, apart = (shifts(space, home, away, paired=flag)[0].gaps[0].gap for flag in (True, False))
    assert paired.mean == pytest.approx(apart.mean)
    assert 0 < paired.half < apart.half


def test_items_of_unknown_classes_have_no_gap(space, home, everything):
    strange = part(everything, [i for i, y in enumerate(everything.labels) if y >= 4])
    answer = cause_of(space, home, strange)
    assert answer.gaps == ()
    assert answer.cause in ("new classes", "shift or new classes")
    assert proportion_interval(len(strange), len(strange)).mean == answer.new.mean


def test_corrupted_sets_are_the_same_items_changed():
    items = digits().take(torch.arange(6))
    sets = corrupted_sets(items, ("noise", "contrast"), (1, 5))
    assert list(sets) == ["noise 1", "noise 5", "contrast 1", "contrast 5"]
    assert all(torch.equal(one.labels, items.labels) for one in sets.values())
    changes = [(one.inputs - items.inputs.float() / items.inputs.max()).abs().mean() for one in sets.values()]
    assert changes[0] < changes[1]


def test_vectors_are_not_corrupted():
    items = Items(torch.rand(4, 3), torch.tensor([0, 0, 1, 1]), ("a", "b"), name="vectors")
    with pytest.raises(DataError, match="only pictures"):
        corrupted_sets(items, ("noise",), (1,))


def test_the_same_items_unchanged_show_nothing(space, home):
    """Half of each class on each side: neither too alike to be chance, nor of other classes."""
    [answer] = shifts(space, home, {"same": home}, paired=True)
    assert answer.cause == "none"
    assert answer.gaps[0].gap == pytest.approx((0, 0, 0))
