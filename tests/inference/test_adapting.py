"""A space whose PLDA and cohort are brought to another domain."""

import pytest
import torch
from torch import nn

from samekind.auxiliary_head import AuxiliaryHead
from samekind.decisions import Choices, Decision, Temperature
from samekind.errors import DataError, SpaceError
from samekind.inference import adapt, all_trials
from samekind.inference.adapting import measure_adapting
from samekind.inference.fitting import neighbourhood
from samekind.measures import equal_error_rate
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Dot, TwoCovariance, WithinClass
from samekind.similarities.adaptation import adapted, averaged
from samekind.space import MetricSpace


def domain(*, classes=24, items=6, shift=0.0, noise=(1.0, 1.0, 1.0, 1.0), seed=0):
    """Items of classes, moved by ``shift``, with more noise in some directions."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(classes).repeat_interleave(items)
    means = torch.randn(classes, 4, generator=generator)
    errors = torch.randn(len(labels), 4, generator=generator)
    return means[labels] + 0.5 * errors * torch.tensor(noise) + shift, labels


OLD, OLD_LABELS = domain()
NEW, NEW_LABELS = domain(shift=2.0, noise=(5.0, 1.0, 1.0, 0.2), seed=1)


@pytest.fixture
def space():
    space = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=4)).eval()
    space.fitted = TwoCovariance(dimension=4, shrinkage=0.1).fit(OLD, OLD_LABELS).eval()
    space.normalised = neighbourhood(space.fitted, OLD[:50])
    for kind in space.kinds:
        space.decisions[kind] = Decision(kind, 0.0, "eer", "made up", 0.0, 0.0)
    return space


def error(space, kind="fitted"):
    trials = all_trials(space, NEW, NEW_LABELS, kind=kind)
    return equal_error_rate(trials.scores, trials.same).rate


@pytest.mark.parametrize("labels", [None, NEW_LABELS])
def test_scores_are_those_of_the_adapted_similarity(space, labels):
    other = adapt(space, NEW, labels)
    expected = adapted(space.fitted, NEW) if labels is None else averaged(space.fitted, NEW, labels)
    torch.testing.assert_close(other.fitted.score_all(NEW, NEW), expected.score_all(NEW, NEW))
    assert other.normalised.similarity is other.fitted
    assert torch.equal(other.normalised.cohort, NEW)
    assert error(other) < error(space) - 0.02
    assert other.similarity is space.similarity


def test_the_given_space_stays_as_it_is(space):
    before = {name: value.clone() for name, value in space.state_dict().items()}
    other = adapt(space, NEW)
    assert list(space.decisions) == ["similarity", "fitted", "normalised"]
    assert list(other.decisions) == ["similarity"]
    after = space.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_what_was_fitted_on_old_scores_is_left_out(space):
    space.open_set = space.decisions["normalised"]
    space.choices = Choices("fitted", "fitted", "fitted", "made up")
    space.temperatures = {head: Temperature(2.0, "made up", 40) for head in ("similarity", "auxiliary")}
    space.discriminant = AuxiliaryHead(Dot(), SupportMeans(dimension=space.prototypes.dimension))
    other = adapt(space, NEW)
    assert other.discriminant is None
    assert (other.open_set, list(other.temperatures), other.choices) == (None, ["auxiliary"], space.choices)
    space.open_set, space.choices = space.decisions["similarity"], None
    other = adapt(space, NEW)
    assert (other.open_set, len(other.temperatures)) == (space.open_set, 2)


def test_a_normalised_score_of_another_kind_gets_the_cohort_alone(space):
    space.normalised = neighbourhood(Cosine(), OLD[:50])
    other = adapt(space, NEW)
    assert isinstance(other.normalised.similarity, Cosine)
    assert torch.equal(other.normalised.cohort, NEW)


def test_the_copy_in_a_loaded_space_is_adapted_too(space):
    space.normalised.similarity = TwoCovariance(dimension=4, shrinkage=0.1).fit(OLD, OLD_LABELS)
    other = adapt(space, NEW)
    assert other.normalised.similarity is other.fitted


def test_the_gain_is_measured_on_classes_that_were_not_adapted_to(space):
    measured = measure_adapting(space, NEW, NEW_LABELS)
    assert (measured.items, measured.classes) == (72, 12)
    assert list(measured.before) == list(measured.after) == ["fitted", "normalised"]
    assert measured.after["fitted"] < measured.before["fitted"]
    assert measure_adapting(space, NEW[:18], NEW_LABELS[:18]) is None  # three classes


def test_refuses_other_forms_and_too_few_items(space):
    with pytest.raises(DataError, match="two embeddings"):
        adapt(space, NEW[:1])
    space.fitted = WithinClass(dimension=4).fit(OLD, OLD_LABELS)
    with pytest.raises(SpaceError, match="this space has WithinClass; fit one first"):
        adapt(space, NEW)
    space.fitted = None
    with pytest.raises(SpaceError, match="this space has none; fit one first"):
        adapt(space, NEW)
