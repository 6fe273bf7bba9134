"""Adversarial training: with the clean loss added, the mean of both, or the loss of attacked items alone."""

import pytest

from samekind.training import Defence
from samekind.training.defences.mixing import all_attacked, mixed


def test_the_whole_loss_is_the_mean_of_both(make):
    both = make()
    clean, attacked = both.clean.value.total, both.attacked.value.total
    whole = clean + mixed(both, Defence("mix"))
    assert whole.item() == pytest.approx(0.5 * clean.item() + 0.5 * attacked.item())


def test_of_all_the_clean_items_have_no_part(make):
    both = make()
    whole = both.clean.value.total + all_attacked(both, Defence("all"))
    assert whole.item() == pytest.approx(both.attacked.value.total.item())
    whole.backward()
    assert both.clean.z.grad.abs().max().item() == 0
    assert both.attacked.z.grad.abs().max().item() > 0
