"""The inner product and its bias."""

import torch

from samekind.similarities import Dot


def test_agrees_with_the_definition():
    a, b = torch.tensor([[1.0, 2.0], [3.0, -4.0]]), torch.tensor([[5.0, 6.0], [0.5, 0.25]])
    assert Dot()(a, b).tolist() == [17.0, 0.5]
    assert Dot().score_all(a, b).tolist() == [[17.0, 1.0], [-9.0, 0.5]]


def test_has_nothing_to_learn_unless_asked():
    assert list(Dot().parameters()) == []
    (offset,) = Dot(bias=True).parameters()
    assert offset.shape == ()
    assert offset == 0


def test_the_bias_moves_every_score_alike():
    torch.manual_seed(0)
    a, b = torch.randn(3, 4), torch.randn(5, 4)
    dot = Dot(bias=True)
    with torch.no_grad():
        dot.offset += 1.5
    torch.testing.assert_close(dot.score_all(a, b), a @ b.T + 1.5)
    torch.testing.assert_close(dot(a, b[:3]), (a * b[:3]).sum(1) + 1.5)


def test_the_bias_is_learned():
    dot = Dot(bias=True)
    dot.score_all(torch.randn(2, 4), torch.randn(3, 4)).sum().backward()
    assert dot.offset.grad == 6
