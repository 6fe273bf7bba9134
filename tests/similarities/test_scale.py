"""The scale: what every kind promises, and those that are fixed or learned."""

import inspect
import math

import pytest
import torch

from samekind import similarities
from samekind.errors import SettingError
from samekind.losses import softmax
from samekind.similarities import FixedScale, LearnedScale, LogDistance

# What a scale cannot do without.
NEEDED = {"classes": 30}


def similarity(name):
    kind = getattr(similarities, name)
    taken = inspect.signature(kind).parameters
    return kind(**{entry: value for entry, value in NEEDED.items() if entry in taken})


def a_batch(seed=0):
    """Scores against the classes, each item at its own, and the mask of the true ones."""
    labels = torch.arange(8)
    positive = labels[:, None] == torch.arange(30)
    noise = torch.rand(8, 30, generator=torch.Generator().manual_seed(seed))
    return 0.5 * positive + 0.4 * noise, positive


def test_the_family_is_public():
    assert set(similarities.SCALES) <= set(similarities.__all__)


@pytest.mark.parametrize("name", similarities.SCALES)
def test_every_scale_is_positive_and_takes_the_step(name):
    """What it gave before the step stays as it was, and the scores too."""
    scale = similarity(name)
    before = scale()
    chosen = before.detach().clone()
    scores, positive = a_batch()
    given = scores.clone()
    for _ in range(3):
        with torch.no_grad():
            scale.after_step(scores, positive)
        scale.after_step(scores[:0], positive[:0])  # a batch that has nobody
    assert scale().shape == ()
    assert scale() > 0
    assert torch.equal(before, chosen)
    assert torch.equal(scores, given)
    assert all(parameter.grad is None for parameter in scale.parameters())


@pytest.mark.parametrize("name", similarities.SCALES)
def test_every_scale_is_kept_with_the_weights(name):
    one, other = similarity(name), similarity(name)
    one.after_step(*a_batch())
    other.load_state_dict(one.state_dict())
    assert other() == one()
    assert all(tensor.dtype == torch.double for tensor in one.double().state_dict().values())


def test_the_exponent_of_the_distance_ratio_is_learned():
    """From e² it rises where the nearest class is the right one, and falls where it is not."""
    z = torch.tensor([[0.0, 0.0]])
    prototypes = torch.tensor([[1.0, 0.0], [0.0, 3.0]])
    for label, direction in ((0, 1), (1, -1)):
        similarity = LogDistance(scale=LearnedScale(math.exp(2)))
        optimiser = torch.optim.Adam(similarity.parameters(), lr=0.01)
        start = similarity.scale().item()
        assert start == pytest.approx(7.389, abs=1e-3)
        positive = torch.arange(2)[None] == label
        for _ in range(3):
            optimiser.zero_grad()
            scores = similarity.score_all(prototypes, z).T
            softmax(scores, positive, ~positive, scale=similarity.scale()).mean().backward()
            optimiser.step()
        assert direction * (similarity.scale().item() - start) > 0.1


def test_a_fixed_scale_is_what_was_asked_and_has_nothing_to_learn():
    assert FixedScale()() == 1
    assert FixedScale(30.0)() == 30
    assert FixedScale(30.0).value == 30
    assert FixedScale(30.0).state_dict() == {}
    assert not FixedScale(30.0)().requires_grad


def test_a_learned_scale_starts_where_asked():
    assert LearnedScale()().item() == pytest.approx(10)
    assert LearnedScale(math.exp(2))().item() == pytest.approx(7.389, abs=1e-3)
    assert LearnedScale(3.0).initial == 3


@pytest.mark.parametrize("rate", [1.0, 1000.0])
def test_a_learned_scale_moves_and_stays_positive(rate):
    scale = LearnedScale(2.0)
    optimiser = torch.optim.SGD(scale.parameters(), lr=rate)
    scale().backward()
    optimiser.step()
    assert 0 <= scale().item() < 2
    assert scale().isfinite()


def test_its_gradient_is_its_own_value():
    """d exp(r)/dr = exp(r)."""
    scale = LearnedScale(5.0)
    scale().backward()
    assert scale.logarithm.grad.item() == pytest.approx(5)


def test_a_learned_scale_is_kept_with_the_weights():
    one, other = LearnedScale(5.0), LearnedScale(9.0)
    other.load_state_dict(one.state_dict())
    assert other() == one()
    assert LearnedScale(2.0).double()().dtype == torch.double


@pytest.mark.parametrize("kind", [FixedScale, LearnedScale])
@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_refuses_a_scale_that_is_not_positive(kind, value):
    with pytest.raises(SettingError, match="a scale must be a positive number, got"):
        kind(value)
