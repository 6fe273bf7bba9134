"""A batch in parts against the whole batch: the same loss, the same gradients, less at a time."""

import copy
import dataclasses

import pytest
import torch
from torch import nn

from samekind.training import Adversary, Nobody, launch
from samekind.training.in_parts import in_parts
from samekind.training.loop import Trainer
from samekind.training.run_folder import RunFolder


def stepped(run, items, folder):
    """The terms of three steps, and the weights after them."""
    fabric = launch("cpu", "32-true")
    trainer = Trainer(run, items, RunFolder(folder), fabric, lambda space: {"eer": 0.5}, Nobody(), None)
    sizes = []
    trainer.space.encoder.register_forward_pre_hook(lambda _, inputs: sizes.append(len(inputs[0])))
    batches = torch.arange(48).split(16)
    costs = [trainer.learner.step(items.inputs[rows], items.labels[rows], number=0) for rows in batches]
    return torch.stack([torch.stack(cost) for cost in costs]), trainer.space.state_dict(), sizes


@pytest.mark.parametrize("adversary", [None, Adversary(hidden=8, dropout=0.0)], ids=["alone", "adversary"])
def test_parts_give_the_steps_of_the_whole_batch(plain, items, tmp_path, adversary):
    """Pairs between parts count, prototypes and similarity learn, and the adversary reads all features."""
    run = dataclasses.replace(plain, adversary=adversary)
    whole = stepped(run, items, tmp_path / "whole")
    parts = stepped(run.override(["batches.at_once=6"]), items, tmp_path / "parts")
    torch.testing.assert_close(parts[0], whole[0])
    for name, weights in whole[1].items():
        torch.testing.assert_close(parts[1][name], weights, msg=name)
    if adversary is None:  # which goes by the features, not by forward
        assert set(whole[2]) == {16}
        assert set(parts[2]) == {5, 6}
        assert len(parts[2]) == 3 * 3 * 2  # steps, parts, and each part again


@pytest.fixture
def convolution():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.Dropout(0.5), nn.Flatten())


def gradient(module, x, *, at_once):
    z, _ = in_parts(lambda part: (module(part), {}), x, at_once=at_once, module=module)
    (z @ z.T).square().sum().backward()
    return z.detach(), [weight.grad for weight in module.parameters()]


def test_frozen_statistics_make_parts_exact(convolution):
    x = torch.rand(7, 1, 5, 5)
    one, other = (copy.deepcopy(convolution).eval() for _ in range(2))
    for expected, actual in zip(gradient(one, x, at_once=0), gradient(other, x, at_once=3), strict=True):
        torch.testing.assert_close(actual, expected)


def test_statistics_are_those_of_each_part_and_move_once(convolution):
    x = torch.rand(6, 1, 5, 5)
    reference = copy.deepcopy(convolution).train()
    for part in x.split(3):
        reference(part)
    gradient(convolution.train(), x, at_once=3)
    for name, tensor in reference.named_buffers():
        torch.testing.assert_close(dict(convolution.named_buffers())[name], tensor)


def test_dropout_is_the_same_when_a_part_is_computed_again():
    """Of dropout alone, the gradient of the sum is the mask of the forward pass."""
    torch.manual_seed(1)
    x = torch.ones(8, 50, requires_grad=True)
    dropout = nn.Dropout(0.5)
    z, _ = in_parts(lambda part: (dropout(part), {}), x, at_once=3, module=dropout)
    z.sum().backward()
    assert torch.equal(x.grad, z.detach())


def test_without_a_gradient_there_is_nothing_to_save(convolution):
    sizes = []
    convolution.register_forward_hook(lambda _, inputs, __: sizes.append(len(inputs[0])))
    with torch.no_grad():
        in_parts(lambda part: (convolution(part), {}), torch.rand(7, 1, 5, 5), at_once=3, module=convolution)
    assert sizes == [7]
