"""A recorded step: refused where it cannot be replayed, and a plain call on a CPU."""

from dataclasses import replace

import pytest
import torch

from samekind.errors import SettingError
from samekind.recipes import few_shot, prototypical
from samekind.training import Optimiser, Schedule
from samekind.training.captured import Captured, expect_capturable

RUN = few_shot((1, 28, 28))


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (prototypical((1, 28, 28)), "the schedule changes the rate"),
        (replace(prototypical((1, 28, 28)), schedule=Schedule()), "SGD cannot be recorded"),
        (replace(RUN, terms=prototypical((1, 28, 28)).terms), "a term against the batch"),
        (replace(RUN, precision="16-mixed"), "gradients are scaled"),
        (replace(RUN, batches=replace(RUN.batches, at_once=8)), "cuts a batch"),
    ],
)
def test_says_why_a_step_cannot_be_replayed(run, says):
    with pytest.raises(SettingError, match=rf"run\.capture: .*{says}"):
        expect_capturable(run)


def test_a_few_shot_run_can():
    expect_capturable(RUN)
    expect_capturable(replace(RUN, optimiser=Optimiser("AdamW", rate=1e-3)))


def test_elsewhere_than_on_a_gpu_it_is_a_plain_call():
    total = torch.zeros(2)

    def add(x):
        total.add_(x)
        return [total.sum()]

    captured = Captured(add)
    for _ in range(8):
        [answer] = captured(torch.ones(2))
    assert float(answer) == 16
