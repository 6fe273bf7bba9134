"""The least step to a plane against linear and quadratic programs, and its properties."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from samekind.attacks.planes import DUAL, least_step

ORDER = {"l1": 1, "l2": 2, "linf": torch.inf}


def drawn(seed, n=6, d=5):
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(n, d, generator=generator, dtype=torch.float64)
    normal = torch.randn(n, d, generator=generator, dtype=torch.float64)
    amount = torch.randn(n, generator=generator, dtype=torch.float64)
    return normal, amount, x, torch.zeros_like(x), torch.ones_like(x)


def by_program(norm, w, c, x):
    """The least norm of a step to w d = c with 0 <= x + d <= 1; None where there is none."""
    d, box = len(w), [(-value, 1 - value) for value in x]
    if norm == "l1":  # d = p - q
        answer = linprog(
            np.ones(2 * d),
            A_eq=np.r_[w, -w][None],
            b_eq=[c],
            bounds=[(0, high) for _, high in box] + [(0, -low) for low, _ in box],
        )
        return answer.fun if answer.status == 0 else None
    corners = np.where(w * np.sign(c) > 0, 1 - x, -x)
    if w @ corners * np.sign(c) < abs(c):
        return None
    if norm == "linf":
        rows = np.r_[np.c_[np.eye(d), -np.ones(d)], np.c_[-np.eye(d), -np.ones(d)]]
        answer = linprog(
            np.r_[np.zeros(d), 1], rows, np.zeros(2 * d), np.r_[w, 0][None], [c], [*box, (0, None)]
        )
        return answer.fun
    answer = minimize(
        lambda step: step @ step,
        corners * 0.5,
        jac=lambda step: 2 * step,
        bounds=box,
        constraints={"type": "eq", "fun": lambda step: w @ step - c, "jac": lambda _: w},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return float(np.sqrt(answer.fun))


@pytest.mark.parametrize("norm", ORDER)
def test_no_program_finds_a_shorter_step(norm):
    reached = 0
    for seed in range(4):
        normal, amount, x, low, high = drawn(seed)
        step = least_step(norm, normal, amount, x, low, high)
        for i in range(len(x)):
            least = by_program(norm, normal[i].numpy(), float(amount[i]), x[i].numpy())
            if least is None:
                continue
            reached += 1
            assert float(step[i].norm(p=ORDER[norm])) == pytest.approx(least, abs=1e-6)
            assert float(normal[i] @ step[i]) == pytest.approx(float(amount[i]), abs=1e-12)
    assert reached > 12


@pytest.mark.parametrize("norm", ORDER)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31), scale=st.sampled_from([1e-3, 1.0, 30.0]), d=st.integers(1, 40))
def test_a_step_stays_in_the_range_and_reaches_the_plane_where_it_can(norm, seed, scale, d):
    normal, amount, x, low, high = drawn(seed, d=d)
    normal[:, ::3] = 0.0
    amount = amount * scale
    step = least_step(norm, normal, amount, x, low, high)
    assert ((x + step >= low - 1e-12) & (x + step <= high + 1e-12)).all()
    corner = torch.where(normal * amount[:, None] > 0, high - x, low - x) * (normal != 0)
    there = (normal * step).sum(1)
    possible = (normal * corner).sum(1).abs() >= amount.abs()
    torch.testing.assert_close(there[possible], amount[possible])
    torch.testing.assert_close(step[~possible], corner[~possible])


@pytest.mark.parametrize("norm", ORDER)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_without_a_range_the_step_is_the_amount_over_the_dual_norm(norm, dtype):
    normal, amount, x, low, high = (values.to(dtype) for values in drawn(0))
    step = least_step(norm, normal, amount, x, low - torch.inf, high + torch.inf)
    torch.testing.assert_close(
        step.norm(p=ORDER[norm], dim=1), amount.abs() / normal.norm(p=DUAL[norm], dim=1)
    )
    torch.testing.assert_close((normal * step).sum(1), amount)


def test_nothing_to_do_and_no_way_to_go_are_no_step():
    _, amount, x, low, high = drawn(0)
    for norm in ORDER:
        assert not least_step(norm, torch.zeros_like(x), amount, x, low, high).any()
        assert not least_step(norm, torch.ones_like(x), torch.zeros_like(amount), x, low, high).any()
        assert not least_step(norm, torch.ones_like(x), amount, x, x, x).any()
