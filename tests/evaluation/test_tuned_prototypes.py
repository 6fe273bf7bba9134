"""Tuned prototypes against the same few steps by hand."""

import pytest
import torch
from torch import nn

from samekind.augmentations import GaussianNoise, augment, step_generator
from samekind.evaluation.tuned_prototypes import tuned_prototypes
from samekind.prototypes import SupportMeans
from samekind.similarities import PairsNetwork, SquaredEuclidean
from samekind.space import MetricSpace

EXAMPLES = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(0))
NOISE = (GaussianNoise(deviation=0.3),)


def a_space(similarity=None):
    torch.manual_seed(0)
    own = similarity or SquaredEuclidean()
    return MetricSpace(nn.Linear(5, 2), own, SupportMeans(dimension=2)).eval()


def test_without_steps_they_are_the_means():
    space = a_space()
    expected = space.embed(EXAMPLES).mean(1)
    torch.testing.assert_close(tuned_prototypes(space, EXAMPLES, steps=0), expected)


@pytest.mark.parametrize("similarity", [None, PairsNetwork(dimension=2, hidden=4, dropout=0.5)])
def test_steps_are_those_of_sgd_with_a_momentum(similarity):
    space = a_space(similarity)
    weights = {name: value.clone() for name, value in space.state_dict().items()}
    tuned = tuned_prototypes(space, EXAMPLES, steps=3, rate=0.1, augmentations=NOISE, seed=4)
    prototypes, speed = space.embed(EXAMPLES).detach().mean(1), torch.zeros(3, 2)
    for step in range(3):
        z = space.embed(augment(EXAMPLES.flatten(0, 1), NOISE, generator=step_generator(4, step))).detach()
        prototypes.requires_grad_()
        logits = space.similarity.score_all(prototypes, z).T
        loss = -logits.log_softmax(1)[torch.arange(12), torch.arange(12) // 4].mean()
        (gradient,) = torch.autograd.grad(loss, prototypes)
        speed = 0.5 * speed + gradient
        prototypes = (prototypes - 0.1 * speed).detach()
    torch.testing.assert_close(tuned, prototypes, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(tuned, space.embed(EXAMPLES).mean(1))
    assert all(torch.equal(space.state_dict()[name], value) for name, value in weights.items())
    assert all(parameter.grad is None for parameter in space.parameters())
