"""A goal under attack: a plain model passes the checks of its attack, one that hides its gradients does not.

Two classes lie apart along the first of two coordinates, so a linear model has a known least perturbation.
"""

import pytest
import torch
from torch import nn

from samekind.attacks import FGSM, PGD, PICTURES, SOUNDS, Linf, Logits, Relative
from samekind.evaluation.soundness import NOT_A_MEASURE
from samekind.evaluation.under_attack import Field, Strength, under_attack

COUNT = 80


class Linear(nn.Module):
    """The class is whether the first coordinate is above a half."""

    def forward(self, x):
        above = 8 * (x[:, 0] - 0.5)
        return torch.stack([-above, above], dim=1)


class Rounded(Linear):
    """The same of inputs rounded to sixteenths: the slope is 0 nearly everywhere."""

    def forward(self, x):
        return super().forward(x + ((16 * x).round() / 16 - x).detach() - (x - x.detach()))


class Signed(Linear):
    """The same, by the sign alone: sure of every answer, and without a slope."""

    def forward(self, x):
        above = 8 * (x[:, 0] - 0.5)
        return torch.stack([-above.sign(), above.sign()], dim=1) + 0 * x.sum(1, keepdim=True)


@pytest.fixture(scope="module")
def items():
    x = torch.rand(COUNT, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return x, (x[:, 0] > 0.5).long()


def attacked(model, items, **how):
    x, labels = items
    strength = Strength(**{"epsilons": (0.1, 0.2, 0.3), "steps": 20, **how})
    field = Field(x, Linf(0.1), PICTURES, strength, (Logits(Linear(), labels), "a plain model"))
    return under_attack(Logits(model, labels), field)


def test_a_plain_model_has_its_known_curve_and_sound_attacks(items):
    result = attacked(Linear(), items)
    margin = (items[0][:, 0] - 0.5).abs()
    assert result.clean.all()
    for epsilon, right in zip((0.1, 0.2, 0.3), result.right, strict=True):
        assert torch.equal(right, margin > epsilon)
    assert [check.name for check in result.soundness.checks] == [
        "larger epsilon", "more steps", "random search", "transfer", "huge epsilon",
    ]  # fmt: skip
    assert result.soundness.is_sound
    assert result.soundness.note == ""
    moved = (result.x[result.checked] - items[0]).abs().max()
    assert float(moved) <= (0.1, 0.2, 0.3)[result.checked] + 1e-9


@pytest.mark.parametrize("model", [Rounded, Signed])
def test_hidden_gradients_are_found_out(model, items):
    """The attack finds hardly anything; examples made for a plain model break what it could not."""
    result = attacked(model(), items)
    assert not result.soundness.is_sound
    assert result.soundness.note.startswith(NOT_A_MEASURE)
    assert "transfer" in result.soundness.note
    # What the other model's examples broke is counted, and at larger epsilons, too.
    plain = attacked(Linear(), items)
    at = result.checked
    assert (result.right[at].double().mean() - plain.right[at].double().mean()).abs() < 0.1
    assert (result.right[at:].double().mean(1).diff() <= 0).all()


def test_an_attack_that_cannot_cross_the_ball_is_found_out(items):
    """Seven steps of a thirtieth of epsilon, as in the published setting of 2021: a huge epsilon tells."""
    slow = attacked(
        Linear(),
        items,
        steps=7,
        make=lambda region, steps, _: PGD(region, steps=steps, step=region.epsilon / 30, classic=True),
    )
    assert not slow.soundness.is_sound
    assert "transfer" in slow.soundness.note


def test_a_single_epsilon_is_compared_with_its_half(items):
    result = attacked(Linear(), items, epsilons=(0.2,))
    first = result.soundness.checks[0]
    assert (first.name, first.passed) == ("larger epsilon", True)
    assert first.sentence.startswith("right: epsilon 0.1 ")


def test_one_step_is_not_compared_with_fewer(items):
    result = attacked(Linear(), items, steps=1, make=lambda region, _, __: FGSM(region))
    assert "more steps" not in [check.name for check in result.soundness.checks]


def test_another_judge_says_what_is_right(items):
    x, labels = items
    field = Field(x, Linf(0.1), PICTURES, Strength((0.1,), steps=5))
    goal = Logits(Linear(), labels)
    result = under_attack(goal, field, judge=lambda x: torch.ones(len(x), dtype=torch.bool), unlimited=False)
    assert result.clean.all()
    assert result.right.all()


def test_the_largest_ratio_lets_the_quietest_sound_become_any_other():
    x = torch.tensor([[[0.3, 0.4, torch.nan]], [[0.003, 0.004, 0.0]]])
    field = Field(x, Relative(0.1), SOUNDS, Strength((0.1,)))
    assert field.largest_epsilon() == pytest.approx(2 * 32767 / 32768 * 3**0.5 / 0.005, rel=1e-4)
