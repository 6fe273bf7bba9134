"""Tuned prototypes against the same few steps by hand."""

import pytest
import torch
from torch import nn

from samekind.augmentations import GaussianNoise, augment, step_generator
from samekind.data import Items
from samekind.evaluation.task_heads import TaskHead, task_accuracies
from samekind.evaluation.tuned_prototypes import tuned_accuracies, tuned_prototypes
from samekind.prototypes import SupportMeans
from samekind.samplers import Episode, episodes_at_once
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


# --- over tasks -----------------------------------------------------------------------------------

ITEMS = Items(
    torch.randn(40, 5, generator=torch.Generator().manual_seed(1)),
    torch.arange(40) // 8,
    tuple("abcde"),
    "noise",
)
TOGETHER = episodes_at_once(
    ITEMS.labels, way=3, shot=4, queries=3, tasks=6, generator=torch.Generator().manual_seed(0)
)
TASKS = [Episode(*parts) for parts in zip(*TOGETHER, strict=True)]


@pytest.mark.parametrize("kind", ["similarity", "cosine", "fused"])
def test_without_steps_the_answers_are_those_of_the_means(kind):
    space = a_space(PairsNetwork(dimension=2, hidden=4))
    z = space.embed(ITEMS.inputs).detach()
    accuracies = tuned_accuracies(space, ITEMS, z, TASKS, kind=kind, steps=0)
    torch.testing.assert_close(accuracies, task_accuracies(space, z, TOGETHER, TaskHead(kind)).detach())


def test_every_task_is_answered_by_its_own_tuned_prototypes():
    space = a_space()
    z = space.embed(ITEMS.inputs).detach()
    how = {"steps": 4, "rate": 0.2, "augmentations": NOISE, "seed": 3}
    accuracies = tuned_accuracies(space, ITEMS, z, TASKS, **how)
    for task, accuracy in zip(TASKS, accuracies.tolist(), strict=True):
        prototypes = tuned_prototypes(space, ITEMS.inputs[task.support], **how)
        right = 0
        for own, places in enumerate(task.query):
            for place in places:
                distances = [float((z[place] - one).square().sum()) for one in prototypes]
                right += distances.index(min(distances)) == own
        assert accuracy == pytest.approx(right / task.query.numel())
    plain = tuned_accuracies(space, ITEMS, z, TASKS, steps=0)
    assert not torch.equal(accuracies, plain)
