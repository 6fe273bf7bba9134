"""Scores of many tasks at once against those of one task after the other."""

import inspect

import pytest
import torch

from samekind import similarities
from samekind.similarities import Neighbourhood, TwoCovariance, WithinClass, score_enrolled, score_tasks
from samekind.similarities.pair_blocks import FEWEST_PAIRS


def a_similarity(name):
    torch.manual_seed(0)
    kind = getattr(similarities, name)
    needed = {"dimension": 4} if "dimension" in inspect.signature(kind).parameters else {}
    return kind(**needed).eval()


def tasks_of(tasks=5, prototypes=3, queries=7):
    generator = torch.Generator().manual_seed(1)
    return (torch.randn(tasks, count, 4, generator=generator) for count in (prototypes, queries))


@pytest.mark.parametrize("name", similarities.SIMILARITIES)
def test_scores_and_gradients_are_those_of_each_task_by_itself(name):
    similarity, (a, b) = a_similarity(name), tasks_of()
    a.requires_grad_()
    together = score_tasks(similarity, a, b)
    apart = torch.stack([similarity.score_all(one, other) for one, other in zip(a, b, strict=True)])
    torch.testing.assert_close(together, apart, rtol=1e-4, atol=1e-5)
    gradients = [torch.autograd.grad(scores.sum(), a)[0] for scores in (together, apart)]
    torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("name", similarities.SIMILARITIES)
def test_without_a_gradient_the_scores_are_the_same(name):
    """Also those of equal and of close vectors, far from the origin."""
    similarity, (a, b) = a_similarity(name), tasks_of()
    if name != "Poincare":
        a, b = a + 10, b + 10
    b[:, 0], b[:, 1] = a[:, 0], a[:, 1] * (1 + 1e-4)
    together = score_tasks(similarity, a, b)
    apart = torch.stack([similarity.score_all(one, other) for one, other in zip(a, b, strict=True)])
    torch.testing.assert_close(together, apart, rtol=1e-4, atol=1e-4)
    places = torch.arange(5 * 7).reshape(5, 7)
    torch.testing.assert_close(score_tasks(similarity, a, b.flatten(0, 1), places=places), together)


@torch.no_grad()
@pytest.mark.parametrize("name", similarities.SIMILARITIES)
def test_so_are_those_of_large_tasks(name):
    """As many pairs in each as a CPU would score in blocks."""
    similarity, (a, b) = a_similarity(name), tasks_of(2, 20, FEWEST_PAIRS // 20 + 1)
    together = score_tasks(similarity, a, b)
    apart = torch.stack([similarity.score_all(one, other) for one, other in zip(a, b, strict=True)])
    torch.testing.assert_close(together, apart, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", [WithinClass, TwoCovariance])
@pytest.mark.parametrize("normalised", [False, True])
def test_fitted_similarities_get_the_number_of_examples(kind, normalised):
    z = torch.randn(60, 4, generator=torch.Generator().manual_seed(2))
    similarity = kind(dimension=4).fit(z, torch.arange(60) // 6)
    if normalised:
        similarity = Neighbourhood(similarity, size=60, dimension=4).with_cohort(z)
    a, b = tasks_of()
    together = score_tasks(similarity, a, b, examples=5)
    counts = torch.full((3,), 5)
    apart = [score_enrolled(similarity, one, other, counts) for one, other in zip(a, b, strict=True)]
    torch.testing.assert_close(together, torch.stack(apart), rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_little_memory_changes_nothing():
    similarity, (a, b) = a_similarity("SquaredEuclidean"), tasks_of()
    assert torch.equal(score_tasks(similarity, a, b, memory_budget=1), score_tasks(similarity, a, b))
