"""The class adversary: its coefficient and floors by their formulas, its gradients by closed form."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.training import Adversary
from samekind.training.extras import Step
from samekind.training.extras.class_adversary import (
    ClassAdversary,
    adversarial_coefficient,
    reversed_gradient,
)

Y = torch.tensor([0, 2, 1, 2, 0])


@pytest.fixture
def features():
    return torch.randn(5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def adversary_with(**settings):
    """A small one in float64, without anything random but its weights."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        chosen = Adversary(**{"hidden": 6, "dropout": 0.0, **settings})
        adversary = ClassAdversary(chosen, features=4, classes=3)
    return adversary.double()


def step_of(adversary, features, y=Y):
    """A step in which it sees these features."""
    return Step(0, None, None, y, None, adversary(features), None, None)


def cost_of(adversary, features, y=Y):
    """What it costs in a step in which it sees these features."""
    return adversary.cost(step_of(adversary, features, y))


# --- the coefficient ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "coefficient"), [(4.6, -0.497975), (1.5, 0.0), (1.0, 0.231059), (0.0, 0.452574)]
)
def test_the_coefficient_has_the_published_values(loss, coefficient):
    assert adversarial_coefficient(loss, weight=0.5, threshold=1.5) == pytest.approx(coefficient, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(loss=st.floats(0, 50), weight=st.floats(0.01, 2), threshold=st.floats(0, 5))
def test_the_coefficient_is_bounded_and_falls_with_the_loss(loss, weight, threshold):
    coefficient = adversarial_coefficient(loss, weight=weight, threshold=threshold)
    assert abs(coefficient) <= weight
    assert coefficient >= adversarial_coefficient(loss + 1, weight=weight, threshold=threshold)
    assert math.copysign(1, coefficient) == math.copysign(1, threshold - loss) or coefficient == 0


@pytest.mark.parametrize("classes", [2, 10, 100])
def test_the_first_coefficient_is_that_of_a_guess(classes):
    adversary = ClassAdversary(Adversary(), features=4, classes=classes)
    assert adversary.coefficient.item() == pytest.approx(-0.5 * math.tanh(math.log(classes) - 1.5))


def test_by_the_step_the_coefficient_follows_the_mean_of_the_last_losses(features):
    adversary = adversary_with(updated="step", threshold=0.5)
    mean = math.log(3)
    for _ in range(4):
        step = step_of(adversary, features)
        cost = adversary.cost(step)
        before = adversary.coefficient.clone(), adversary.running.clone()
        assert torch.equal(adversary.cost(step).loss, cost.loss)
        assert (adversary.coefficient, adversary.running) == before  # until the step is settled
        adversary.settle(cost)
        judgement = cost.watched
        mean += 0.1 * (judgement.plain_loss.item() - mean)
        expected = adversarial_coefficient(mean, weight=0.5, threshold=0.5)
        assert adversary.coefficient.item() == pytest.approx(expected, abs=1e-6)
    before = adversary.coefficient.item()
    adversary.after_epoch([2.0, 0.0])
    assert adversary.coefficient.item() == before
    assert not adversary.coefficient.requires_grad


@pytest.mark.parametrize("settings", [{"method": "soft", "updated": "step"}, {"updated": "epoch"}])
def test_a_step_moves_no_soft_coefficient_and_none_that_follows_epochs(features, settings):
    adversary = adversary_with(**settings)
    before = {name: tensor.clone() for name, tensor in adversary.named_buffers()}
    adversary.settle(cost_of(adversary, features))
    assert before == dict(adversary.named_buffers())


@pytest.mark.parametrize("updated", ["epoch", "step"])
def test_with_updates_by_step_the_loss_does_not_grow_without_end(updated):
    """Features that learn against a classifier, all alone: for one long epoch nothing holds them."""
    torch.manual_seed(0)
    adversary = ClassAdversary(
        Adversary(hidden=16, dropout=0.0, threshold=0.9, updated=updated), features=4, classes=3
    )
    z = torch.nn.Parameter(torch.randn(30, 4))
    y = torch.arange(30) % 3
    adversary.coefficient.fill_(0.4)
    optimiser = torch.optim.SGD([z], lr=50.0)
    for _ in range(400):
        optimiser.zero_grad()
        cost = cost_of(adversary, z, y)
        cost.loss.backward()
        optimiser.step()
        adversary.settle(cost)
    judgement = cost.watched
    loss = judgement.plain_loss.item()
    assert loss > 5 if updated == "epoch" else 0.7 < loss < 1.4


def test_an_epoch_sets_the_coefficient_of_the_next_and_tells_that_of_its_own():
    adversary = adversary_with()
    first = adversary.coefficient.item()
    told = adversary.after_epoch([2.0, 1.0])
    assert told == {"coefficient": first, "loss": 2.0, "plain_loss": 1.0}
    assert adversary.coefficient.item() == pytest.approx(0.231059, abs=1e-6)
    assert adversary.after_epoch([2.0, 4.6])["coefficient"] == pytest.approx(0.231059, abs=1e-6)
    assert adversary.coefficient.item() == pytest.approx(-0.497975, abs=1e-6)


def test_it_can_be_steered_by_the_smoothed_loss():
    adversary = adversary_with(steered_by="loss")
    adversary.after_epoch([1.0, 4.6])
    assert adversary.coefficient.item() == pytest.approx(0.231059, abs=1e-6)


def test_the_coefficient_of_a_soft_adversary_stays_its_weight():
    adversary = adversary_with(method="soft", weight=0.3)
    for loss in (0.1, 9.0):
        assert adversary.after_epoch([loss, loss])["coefficient"] == pytest.approx(0.3)


# --- its loss -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("classes", "floor"), [(51, 1.00951), (98, 1.10892), (100, 1.11198)])
def test_the_smoothed_loss_has_the_published_floors(classes, floor):
    """The least cross-entropy with a target is its entropy, where the probabilities are the target."""
    adversary = ClassAdversary(Adversary(smoothing=0.15), features=2, classes=classes)
    target = torch.full((1, classes), 0.15 / (classes - 1), dtype=torch.float64)
    target[0, 3] = 0.85
    best = adversary.judge(target.log(), torch.tensor([3]))
    assert best.loss.item() == pytest.approx(floor, abs=1e-5)
    assert best.plain_loss.item() == pytest.approx(-math.log(0.85))
    nudged = target.log() + 0.1 * torch.randn(1, classes, generator=torch.Generator().manual_seed(0))
    assert adversary.judge(nudged, torch.tensor([3])).loss > best.loss


def by_hand(logits, labels, smoothing):
    """Cross-entropy with each target written out."""
    total = 0.0
    for row, label in zip(logits.tolist(), labels.tolist(), strict=True):
        normaliser = math.log(sum(math.exp(logit) for logit in row))
        for place, logit in enumerate(row):
            share = 1 - smoothing if place == label else smoothing / (len(row) - 1)
            total -= share * (logit - normaliser)
    return total / len(logits)


@pytest.mark.parametrize("smoothing", [0.0, 0.15, 0.9])
def test_the_loss_is_the_cross_entropy_with_smoothed_targets(features, smoothing):
    adversary = adversary_with(smoothing=smoothing)
    logits = adversary(features)
    judged = adversary.judge(logits, Y)
    assert judged.loss.item() == pytest.approx(by_hand(logits, Y, smoothing))
    torch.testing.assert_close(judged.plain_loss, F.cross_entropy(logits, Y))


def test_smoothing_in_equal_parts_for_all_classes_is_a_weaker_one(features):
    """The form of the paper's text, and of torch: smoothing / K for each class, the true one too."""
    adversary = adversary_with(smoothing=0.15 * 2 / 3)
    logits = adversary(features)
    expected = F.cross_entropy(logits, Y, label_smoothing=0.15)
    torch.testing.assert_close(adversary.judge(logits, Y).loss, expected)


def test_half_precision_is_judged_in_single():
    adversary = ClassAdversary(Adversary(), features=4, classes=3)
    judged = adversary.judge(torch.tensor([[12.0, 0.0, 0.0]], dtype=torch.bfloat16), torch.tensor([0]))
    assert judged.plain_loss.dtype == torch.float32
    assert judged.plain_loss.item() == pytest.approx(math.log1p(2 * math.exp(-12)), rel=1e-2)


# --- gradients ------------------------------------------------------------------------------------


@pytest.mark.parametrize("coefficient", [-0.4, 0.0, 0.7])
def test_the_reversal_is_the_identity_whose_gradient_is_turned(features, coefficient):
    features.requires_grad_()
    shown = reversed_gradient(features, torch.tensor(coefficient))
    assert torch.equal(shown, features)
    weights = torch.arange(20.0, dtype=torch.float64).reshape(5, 4)
    (shown * weights).sum().backward()
    torch.testing.assert_close(features.grad, -torch.tensor(coefficient).double() * weights)


def test_a_new_coefficient_does_not_change_an_earlier_graph(features):
    features.requires_grad_()
    coefficient = torch.tensor(0.5)
    shown = reversed_gradient(features, coefficient)
    coefficient.fill_(9.0)
    shown.sum().backward()
    torch.testing.assert_close(features.grad, torch.full_like(features, -0.5))


def closed_form(adversary, features):
    """The gradient of the smoothed cross-entropy for the last layer's offsets, and for the features."""
    first, last = adversary.layers[0], adversary.layers[3]
    before = features @ first.weight.T + first.bias
    logits = before.clamp(min=0) @ last.weight.T + last.bias
    targets = torch.full_like(logits, adversary.settings.smoothing / 2).scatter_(
        1, Y[:, None], 1 - adversary.settings.smoothing
    )
    errors = (logits.softmax(1) - targets) / len(Y)
    return errors.sum(0), ((errors @ last.weight) * (before > 0)) @ first.weight


@pytest.mark.parametrize("coefficient", [-0.4, 0.25])
def test_the_classifier_descends_its_loss_and_the_features_feel_it_reversed(features, coefficient):
    """Unit gradient for the one, minus the coefficient times it for the other."""
    adversary = adversary_with()
    adversary.coefficient.fill_(coefficient)
    features.requires_grad_()
    cost_of(adversary, features).loss.backward()
    offsets, shown = closed_form(adversary, features.detach())
    torch.testing.assert_close(adversary.layers[3].bias.grad, offsets)
    torch.testing.assert_close(features.grad, -coefficient * shown, rtol=1e-6, atol=1e-9)


def test_a_soft_adversary_adds_its_weighted_loss(features):
    """Weight times the loss, for the classifier and the features alike."""
    adversary = adversary_with(method="soft", weight=0.3)
    features.requires_grad_()
    cost = cost_of(adversary, features).loss
    assert cost.item() == pytest.approx(0.3 * by_hand(adversary(features).detach(), Y, 0.15))
    cost.backward()
    offsets, shown = closed_form(adversary, features.detach())
    torch.testing.assert_close(adversary.layers[3].bias.grad, 0.3 * offsets)
    torch.testing.assert_close(features.grad, 0.3 * shown)


@pytest.mark.parametrize("method", ["soft", "adaptive"])
def test_features_without_gradient_are_judged_too(features, method):
    adversary = adversary_with(method=method)
    cost_of(adversary, features).loss.backward()
    assert features.grad is None
    assert adversary.layers[0].weight.grad.abs().sum() > 0


def test_a_coefficient_below_0_helps_the_classifier_and_above_0_hurts_it():
    """An extractor with nothing else to learn, against a classifier that cannot answer at once."""

    def loss_after(coefficient):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            x, y = torch.randn(60, 5), torch.arange(60) % 3
            x[:, :3] += F.one_hot(y, 3)
            extractor = torch.nn.Linear(5, 4)
            adversary = ClassAdversary(Adversary(hidden=6, dropout=0.0), features=4, classes=3)
        adversary.coefficient.fill_(coefficient)
        optimiser = torch.optim.SGD([*extractor.parameters(), *adversary.parameters()], lr=0.3)
        for _ in range(60):
            optimiser.zero_grad()
            cost, judged, _ = cost_of(adversary, extractor(x), y)
            cost.backward()
            optimiser.step()
        return judged.plain_loss.item()

    helped, left_alone, hurt = loss_after(-0.5), loss_after(0.0), loss_after(0.5)
    assert helped < left_alone - 0.01
    assert hurt > left_alone + 0.01


# --- what is refused ------------------------------------------------------------------------------


def test_a_single_class_is_refused():
    with pytest.raises(SettingError, match=r"run\.adversary: a classifier needs two classes or more; got 1"):
        ClassAdversary(Adversary(), features=4, classes=1)


def test_refuses_an_unknown_method():
    with pytest.raises(SettingError, match=r'run\.adversary\.method: "hard" is not a choice'):
        Adversary(method="hard")


def test_dropout_and_width_are_those_of_the_settings():
    adversary = ClassAdversary(Adversary(), features=4, classes=3)
    assert [type(layer).__name__ for layer in adversary.layers] == ["Linear", "ReLU", "Dropout", "Linear"]
    assert (adversary.layers[0].out_features, adversary.layers[2].p) == (512, 0.1)
    assert set(adversary.state_dict()) >= {"coefficient"}
