"""Minkowski distances against the sum of powers."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.similarities import Euclidean, Minkowski


def some(count, *, seed):
    return torch.randn(count, 4, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("p", [1.0, 1.5, 3.0])
def test_agrees_with_the_sum_of_powers(p):
    a, b = some(3, seed=1), some(5, seed=2)
    expected = [[-(sum(abs(x - y) ** p for x, y in zip(u, v, strict=True)) ** (1 / p)) for v in b] for u in a]
    torch.testing.assert_close(Minkowski(p=p).score_all(a, b), torch.tensor(expected, dtype=torch.double))


@pytest.mark.parametrize("normalise", [False, True])
def test_with_p_of_2_it_is_the_euclidean_distance(normalise):
    a, b = some(3, seed=1), some(5, seed=2)
    ours, theirs = Minkowski(p=2.0, normalise=normalise), Euclidean(normalise=normalise)
    torch.testing.assert_close(ours.score_all(a, b), theirs.score_all(a, b))
    assert ours.chords == theirs.chords == normalise


def test_one_side_alone_has_second_derivatives_too():
    similarity, b = Minkowski(p=3.0), some(2, seed=2)
    hessian = torch.autograd.functional.hessian(lambda a: similarity.score_all(a, b).sum(), some(1, seed=1))
    paired = torch.autograd.functional.hessian(
        lambda a: similarity(a.expand(2, -1), b).sum(), some(1, seed=1)
    )
    torch.testing.assert_close(hessian, paired)
    assert hessian.any()


@pytest.mark.parametrize("p", [0.5, float("inf"), float("nan")])
def test_refuses_an_impossible_p(p):
    with pytest.raises(SettingError, match=f"from 1 up; got {p}"):
        Minkowski(p=p)
