"""A promise is kept when new trials do not contradict it."""

import pytest
import torch

from samekind.inference import Trials, fit_decision, kept
from samekind.inference.promise import Kept, Promise
from samekind.measures import Interval, bootstrap_trials, proportion_interval
from samekind.space import Decision


def of_classes(classes=12, items=6, *, shift=0.0, seed=0):
    """All pairs of some items; ``shift`` moves the scores of different pairs up, as another camera might."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(classes, dtype=torch.int32).repeat_interleave(items)
    one, other = torch.triu_indices(len(labels), len(labels), 1)
    first, second = labels[one], labels[other]
    same = first == second
    scores = torch.randn(len(one), generator=generator) + torch.where(same, 3.0, shift)
    return Trials(scores, same, first, second)


def test_trials_like_those_of_the_fit_keep_it_and_moved_ones_do_not():
    decision = fit_decision(of_classes(), kind="similarity", point="far=0.05", description="then")
    alike = kept(decision, of_classes(seed=1))
    assert alike.holds
    assert alike.false_accepts.promised == 0.05
    assert alike.false_rejects.promised == decision.false_rejects
    moved = kept(decision, of_classes(shift=1.0, seed=1))
    assert not moved.holds
    assert not moved.false_accepts.holds
    assert moved.false_rejects.holds


def test_the_intervals_are_those_over_classes():
    decision = fit_decision(of_classes(), kind="similarity", description="then")
    new = of_classes(seed=2)
    expected = bootstrap_trials(*new, statistics=("FAR", "FRR"), threshold=decision.threshold)
    found = kept(decision, new)
    assert found.false_accepts.measured == expected["FAR"]
    assert found.false_rejects.measured == expected["FRR"]


def test_of_two_classes_the_interval_is_that_of_independent_trials():
    new = of_classes(classes=2)
    found = kept(Decision("similarity", 1.5, "eer", "then", 0.1, 0.1), new)
    fooled = int((new.scores[~new.same] >= 1.5).sum())
    assert found.false_accepts.measured == proportion_interval(fooled, 36)


def test_a_promised_rate_of_false_rejects_is_the_promise():
    found = kept(Decision("similarity", 1.5, "frr=0.25", "then", 0.1, 0.2), of_classes())
    assert (found.false_accepts.promised, found.false_rejects.promised) == (0.1, 0.25)


@pytest.mark.parametrize(
    ("promised", "holds"), [(0.0089, False), (0.009, True), (0.012, True), (0.018, True), (0.5, True)]
)
def test_inside_or_better_is_kept(promised, holds):
    assert Kept(promised, Interval(0.013, 0.009, 0.018)).holds is holds


def test_what_only_a_wide_interval_allows_is_not_said_to_hold():
    wide = Kept(0.0147, Interval(0.29, 0.0136, 0.92))
    assert wide.holds
    assert wide.verdict == "cannot be told, the interval is wide"
    assert Kept(0.1, Interval(0.29, 0.0136, 0.92)).verdict == "holds"


def test_the_sentence_says_it_all():
    promise = Promise(Kept(0.01, Interval(0.013, 0.009, 0.018)), Kept(0.0005, Interval(0.2, 0.15, 0.25)))
    assert promise.sentence == (
        "promised 1.00% false accepts, measured 1.30% (0.90 to 1.80): holds; "
        "promised 0.05% false rejects, measured 20.00% (15.00 to 25.00): does not hold"
    )
    assert not promise.holds
    nothing = Kept(0.0, Interval(0.0, 0.0, 0.00001))
    assert (
        "promised 0.00% false accepts, measured 0.00% (0.00 to 0.001)" in Promise(nothing, nothing).sentence
    )
