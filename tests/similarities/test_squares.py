"""All squared distances against plain differences, near, far, equal and far from the origin."""

import pytest
import torch

from samekind.similarities.squares import square_root, squared_distances


def by_differences(a, b):
    """The definition, in double precision."""
    return (a.double()[:, None] - b.double()[None]).square().sum(-1)


def with_twins(count, offset=0.0, spread=1.0):
    """Vectors, among them equal ones and ones that hardly differ, anywhere in space."""
    generator = torch.Generator().manual_seed(0)
    a = spread * torch.randn(count, 16, generator=generator) + offset
    b = torch.cat([a[: count // 2], a[count // 2 :] + 1e-3 * spread * torch.randn(count - count // 2, 16)])
    return a, b


@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e3])
def test_has_five_digits_wherever_the_vectors_are(offset, spread):
    torch.manual_seed(0)
    a, b = with_twins(60, offset * spread, spread)
    expected = by_differences(a, b)
    torch.testing.assert_close(squared_distances(a, b).double(), expected, rtol=3e-5, atol=0)


def test_equal_vectors_are_exactly_0_apart_and_pull_exactly_nothing():
    a = torch.randn(5, 8, generator=torch.Generator().manual_seed(0)).requires_grad_()
    squares = squared_distances(a, a)
    assert (squares.diagonal() == 0).all()
    (-0.5 * (squares.diagonal() + 1e-10).log()).sum().backward()
    assert (a.grad == 0).all()


def test_the_gradient_is_that_of_the_differences():
    torch.manual_seed(0)
    a, b = (with_twin.double().requires_grad_() for with_twin in with_twins(12))
    assert torch.autograd.gradcheck(squared_distances, (a, b))
    weights = torch.randn(12, 12, dtype=torch.double)
    fast = torch.autograd.grad((weights * squared_distances(a, b)).sum(), (a, b))
    plain = torch.autograd.grad((weights * by_differences(a, b)).sum(), (a, b))
    torch.testing.assert_close(fast, plain)


def test_the_gradient_of_close_pairs_keeps_its_digits():
    """The logarithm asks for gradients of 1e6 and more there: by the product alone they would be noise."""
    torch.manual_seed(0)
    a, b = with_twins(40)
    a.requires_grad_()
    (squared_distances(a, b) + 1e-10).log().sum().backward()
    result, a.grad = a.grad.clone(), None
    (by_differences(a, b) + 1e-10).log().sum().backward()
    torch.testing.assert_close(result, a.grad, rtol=1e-3, atol=1e-2)


def test_the_second_derivatives_are_those_of_the_differences():
    torch.manual_seed(0)
    a, b = (with_twin.double() for with_twin in with_twins(4))
    fast, plain = (
        torch.autograd.functional.hessian(lambda a, squares=squares: squares(a, b).sum(), a)
        for squares in (squared_distances, by_differences)
    )
    torch.testing.assert_close(fast, plain)
    assert fast[0, 0, 0, 0] == 2 * len(b)


def test_one_side_alone_may_want_a_gradient():
    a, b = torch.randn(3, 4, requires_grad=True), torch.randn(2, 4)
    squared_distances(a, b).sum().backward()
    torch.testing.assert_close(a.grad, 2 * (2 * a - b.sum(0)).detach())


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (0, 0), (1, 1)])
def test_empty_and_single_sides(rows, columns):
    a, b = torch.randn(rows, 4, requires_grad=True), torch.randn(columns, 4, requires_grad=True)
    squares = squared_distances(a, b)
    assert squares.shape == (rows, columns)
    squares.sum().backward()
    assert a.grad.shape == a.shape
    assert b.grad.shape == b.shape


def test_many_close_pairs_are_gathered_in_portions(monkeypatch):
    monkeypatch.setattr("samekind.similarities.squares.GATHERED", 7)
    torch.manual_seed(0)
    a, b = (with_twin.double().requires_grad_() for with_twin in with_twins(20))
    torch.testing.assert_close(squared_distances(a, b), by_differences(a, b))
    assert torch.autograd.gradcheck(squared_distances, (a, b))


def test_the_root_of_0_has_no_gradient():
    squares = torch.tensor([0.0, 4.0], requires_grad=True)
    square_root(squares).sum().backward()
    assert squares.grad.tolist() == [0.0, 0.25]
    second = torch.autograd.functional.hessian(lambda x: square_root(x).sum(), squares.detach())
    assert second.tolist() == [[0.0, 0.0], [0.0, -0.25 / 4**1.5]]
