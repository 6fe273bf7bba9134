"""Pooling, softmax and sigmoid in NumPy, against PyTorch; and blocks."""

import numpy as np
import pytest
import torch

from samekind.portable import scores as module
from samekind.portable.scores import Score, pooled, sigmoid, softmax
from samekind.prototypes import pool


@pytest.mark.parametrize("how", ["mean", "max", "soft", "sum"])
def test_pooling_agrees_with_prototypes(how):
    scores = torch.randn(4, 3, 5, generator=torch.Generator().manual_seed(0))
    expected = pool(scores, how, temperature=0.3)
    np.testing.assert_allclose(pooled(scores.numpy(), how, 0.3), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_softmax_and_sigmoid_do_not_overflow():
    logits = torch.tensor([[0.0, 1.0, -2.0], [1e4, 0.0, -1e4]])
    np.testing.assert_allclose(softmax(logits.numpy()), logits.double().softmax(-1).numpy(), rtol=1e-12)
    for value in (-1e4, -3.0, 0.0, 2.5, 1e4):
        assert sigmoid(value) == pytest.approx(float(torch.tensor(value).double().sigmoid()), rel=1e-14)


class Products:
    """A graph of pairs, which notes how many pairs it is asked for at a time."""

    def __init__(self):
        self.sizes = []

    def run(self, first, second):
        self.sizes.append(len(first) * len(second))
        return first @ second.T


@pytest.mark.parametrize("most", [1, 3, 7, 100])
def test_blocks_give_the_same_and_stay_small(most, monkeypatch):
    monkeypatch.setattr(module, "MEMORY_BUDGET", 8 * most)
    graph = Products()
    score = Score(None, graph, counted=False, pair_bytes=8, scale=1.0)
    a, b = np.random.default_rng(0).normal(size=(2, 5, 4)).astype(np.float32)
    np.testing.assert_allclose(score.between(score.first(a), score.second(b)), a @ b.T, rtol=1e-5)
    assert max(graph.sizes) <= most
    assert score.between(a[:0], b).shape == (0, 5)
