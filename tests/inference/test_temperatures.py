"""The temperature of each head against the measure by hand, and what does not change."""

import pytest
import torch
from torch import nn

from samekind.auxiliary_head import AuxiliaryHead
from samekind.data import Items, clusters
from samekind.decisions import Choices, Decision
from samekind.inference import fit_open_set, fit_temperatures, identify
from samekind.inference.known_classes import divided
from samekind.inference.temperatures import FEWEST, heads
from samekind.measures import expected_calibration_error, temperature_calibration
from samekind.prototypes import LearnedProxies, SupportMeans
from samekind.similarities import Dot, Euclidean
from samekind.space import MetricSpace

ITEMS = clusters(classes=4, items=40, dimension=3, spread=1.2, seed=0)
HEADS = ["similarity", "auxiliary", "fused"]


def a_space(classes=("2", "0", "3"), auxiliary=True):
    """A space that holds its classes in another order than the items, and knows one class less."""
    known = SupportMeans(dimension=3)
    means = torch.stack([ITEMS.inputs[ITEMS.labels == int(name)].mean(0) for name in classes])
    known.assign(list(classes), means[:, None])
    torch.manual_seed(0)
    head = AuxiliaryHead(Dot(), LearnedProxies(sorted(classes), dimension=3)) if auxiliary else None
    return MetricSpace(nn.Identity(), Euclidean(), known, auxiliary=head).eval()


def fitted(space, items=ITEMS):
    return fit_temperatures(space, items, items.inputs)


def test_every_head_has_the_temperature_of_the_items_it_knows():
    space, known = a_space(), ITEMS.only(["0", "2", "3"])
    truth = torch.tensor([space.classes.index(known.classes[label]) for label in known.labels.tolist()])
    result = fitted(space)
    assert list(result) == HEADS
    for head, value in result.items():
        with torch.no_grad():
            plain = space.classify(known.inputs, head=head).probabilities
        expected = temperature_calibration(plain.double().log(), truth)
        assert value.value == pytest.approx(expected.temperature, rel=1e-4)
        assert value.at_bound == expected.at_bound
        assert (value.items, value.fitted_on) == (120, "clusters: 120 items of known classes")


@pytest.mark.parametrize("head", HEADS)
def test_the_probabilities_become_calibrated_and_nothing_else_changes(head):
    space, known = a_space(), ITEMS.only(["0", "2", "3"])
    truth = torch.tensor([space.classes.index(known.classes[label]) for label in known.labels.tolist()])
    with torch.no_grad():
        before = space.classify(known.inputs, head=head)
        space.temperatures = fitted(space)
        after = space.classify(known.inputs, head=head)
        plain = space.classify(known.inputs, head=head, calibrated=False)
    assert torch.equal(after.scores, before.scores)
    assert after.classes == before.classes
    assert torch.equal(plain.probabilities, before.probabilities)
    cost = [-value.probabilities[torch.arange(120), truth].log().mean() for value in (before, after)]
    assert cost[1] < cost[0]
    assert torch.equal(after.probabilities.argsort(1), before.probabilities.argsort(1))
    if head == "similarity":
        errors = [expected_calibration_error(value.probabilities, truth) for value in (before, after)]
        assert errors[1] < errors[0]


def test_none_of_these_is_decided_as_before_and_its_probability_is_calibrated():
    space = a_space()
    space.open_set = fit_open_set(space, *divided(space, ITEMS))
    before = identify(space, ITEMS.inputs)
    space.temperatures = fitted(space)
    assert space.open_set == fit_open_set(space, *divided(space, ITEMS))
    after = identify(space, ITEMS.inputs)
    assert [(value.name, value.score) for value in after] == [(value.name, value.score) for value in before]
    with torch.no_grad():
        plain, told = (
            space.classify(ITEMS.inputs, calibrated=value).probabilities.amax(1) for value in (False, True)
        )
    for one, other, old, new in zip(before, after, plain.tolist(), told.tolist(), strict=True):
        expected = one.probability if one.name is None else one.probability * new / old
        assert other.probability == pytest.approx(expected, rel=1e-5)


def test_a_class_enrolled_later_is_answered_for_at_the_same_temperature():
    space = a_space()
    space.temperatures = fitted(space)
    space.enroll("new", ITEMS.inputs[ITEMS.labels == 1][:5])
    with torch.no_grad():
        told = space.classify(ITEMS.inputs).probabilities
        logits = space.score_classes(ITEMS.inputs) / space.temperatures["similarity"].value
    torch.testing.assert_close(told, logits.softmax(1))


@pytest.mark.parametrize(("count", "there"), [(FEWEST - 1, False), (FEWEST, True)])
def test_too_few_items_give_no_temperature(count, there):
    known, other = (ITEMS.labels != 1).nonzero().flatten(), (ITEMS.labels == 1).nonzero().flatten()
    items = ITEMS.take(torch.cat([known[torch.randperm(120)[:count]], other]))
    assert bool(fitted(a_space(), items)) == there


def test_a_space_of_one_class_or_of_other_classes_gets_no_temperature():
    assert fitted(a_space(classes=("2",), auxiliary=False)) == {}
    others = Items(inputs=ITEMS.inputs, labels=ITEMS.labels, classes=tuple("abcd"), name="others")
    assert fitted(a_space(), others) == {}


def test_the_heads_are_those_that_know_every_class():
    space = a_space()
    assert heads(space) == HEADS
    space.enroll("new", torch.ones(1, 3))
    assert heads(space) == ["similarity"]
    assert list(fitted(space)) == ["similarity"]
    assert heads(a_space(auxiliary=False)) == ["similarity"]


def test_dropout_plays_no_part_and_the_mode_is_kept():
    space = a_space()
    space.auxiliary.projection = nn.Dropout(0.5)
    at_rest = fitted(space.eval())
    assert fitted(space.train()) == at_rest
    assert space.training


def test_a_score_without_a_trained_scale_takes_the_calibration_of_its_pairs():
    """Logits are then log likelihood ratios of "same", up to a number that all classes share."""
    space, other = a_space(auxiliary=False), ITEMS.only(["1"])
    space.choices = Choices("similarity", "similarity", "cosine", "four classes")
    assert fitted(space, other) == {}
    space.decisions = {"cosine": Decision("cosine", 0.5, "eer", "pairs", 0.1, 0.1, (8.0, -4.0))}
    space.temperatures = fitted(space, other)
    assert space.temperatures["similarity"].value == pytest.approx(1 / 8)
    z = ITEMS.inputs
    expected = (8 * space.score_classes(z, kind="cosine")).softmax(-1)
    torch.testing.assert_close(space.classify(z).probabilities, expected)
    space.decisions = {"cosine": Decision("cosine", 0.5, "eer", "pairs", 0.1, 0.1, (-8.0, -4.0))}
    assert fitted(space, other) == {}
