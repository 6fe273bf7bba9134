"""The similarity as a kernel: symmetric, in blocks, and without negative eigenvalues."""

import pytest
import torch

from samekind.encoders import MLP
from samekind.errors import SettingError, SpaceError
from samekind.inference import kernels
from samekind.inference.kernels import kernel_blocks, kernel_matrix, semidefinite
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean, PairsNetwork
from samekind.space import MetricSpace


def a_space(similarity=None):
    torch.manual_seed(0)
    similarity = similarity or PairsNetwork(dimension=3, hidden=8)
    return MetricSpace(MLP(inputs=2, dimension=3, hidden=[4]), similarity, SupportMeans(dimension=3)).eval()


def embeddings(count, seed=0):
    return torch.randn(count, 3, generator=torch.Generator().manual_seed(seed))


def by_hand(space, a, b, kind, symmetrise):
    """Each pair alone, in both orders."""
    combine = max if symmetrise == "max" else lambda x, y: (x + y) / 2
    with torch.no_grad():
        return torch.tensor(
            [
                [
                    combine(
                        space.score(x[None], y[None], kind=kind).item(),
                        space.score(y[None], x[None], kind=kind).item(),
                    )
                    for y in b
                ]
                for x in a
            ],
            dtype=torch.double,
        )


@pytest.mark.parametrize("symmetrise", ["max", "mean"])
@pytest.mark.parametrize("kind", ["similarity", "cosine", "fused"])
def test_the_kernel_is_both_orders_of_every_pair(symmetrise, kind):
    space, a, b = a_space(), embeddings(5), embeddings(4, seed=1)
    own = kernel_matrix(space, a, kind=kind, symmetrise=symmetrise)
    torch.testing.assert_close(own, by_hand(space, a, a, kind, symmetrise), atol=1e-5, rtol=1e-5)
    assert torch.equal(own, own.T)
    across = kernel_matrix(space, a, b, kind=kind, symmetrise=symmetrise)
    torch.testing.assert_close(across, by_hand(space, a, b, kind, symmetrise), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("similarity", [None, Euclidean()])
@pytest.mark.parametrize("memory_budget", [1, 500, None], indirect=True)
def test_blocks_cover_every_ordered_pair_once(monkeypatch, similarity, memory_budget):
    monkeypatch.setattr(kernels, "STRIP", 3)
    space, z = a_space(similarity), embeddings(8)
    seen, values = torch.zeros(8, 8), torch.empty(8, 8)
    for rows, columns, block in kernel_blocks(space, z):
        seen[rows, columns] += 1
        values[rows, columns] = block
    assert (seen == 1).all()
    torch.testing.assert_close(
        values.double(), by_hand(space, z, z, "similarity", "max"), atol=1e-5, rtol=1e-5
    )


def test_the_caller_keeps_its_modes_and_gradients():
    space = a_space().train()
    for _ in kernel_blocks(space, embeddings(4)):
        assert space.training
        assert torch.is_grad_enabled()


def test_nothing_at_all_is_an_empty_kernel():
    assert kernel_matrix(a_space(), embeddings(0)).shape == (0, 0)
    assert kernel_matrix(a_space(), embeddings(0), embeddings(2)).shape == (0, 2)


def test_a_semidefinite_kernel_stays_as_it_is():
    z = embeddings(6).double()
    kernel = z @ z.T + torch.eye(6)
    for how in ("clip", "shift"):
        result = semidefinite(kernel, how)
        torch.testing.assert_close(result.values, kernel)
        torch.testing.assert_close(result.carry_over(kernel), kernel)


def test_clip_and_shift_by_the_eigenvalues():
    kernel = torch.tensor([[0.0, 2.0], [2.0, 0.0]])  # eigenvalues 2 and -2
    torch.testing.assert_close(semidefinite(kernel, "clip").values, torch.ones(2, 2).double())
    torch.testing.assert_close(semidefinite(kernel, "shift").values, torch.full((2, 2), 2.0).double())


@pytest.mark.parametrize("how", ["clip", "shift"])
def test_no_eigenvalue_is_negative_afterwards_and_clip_is_the_nearest(how):
    kernel = kernel_matrix(a_space(), embeddings(12))
    result = semidefinite(kernel, how)
    assert torch.linalg.eigvalsh(kernel)[0] < -1e-6  # there was something to do
    assert torch.linalg.eigvalsh(result.values)[0] > -1e-9
    negative = torch.linalg.eigvalsh(kernel).clamp(max=0)
    lost = (result.values - kernel).norm()
    torch.testing.assert_close(lost, negative.norm() if how == "clip" else -negative[0] * 12**0.5)


def test_other_items_are_carried_over_as_the_kernel_itself_is():
    """Clipping is a projection of the rows; the rows of the kernel must come out as the clipped kernel."""
    kernel = kernel_matrix(a_space(), embeddings(9))
    clipped, shifted = semidefinite(kernel, "clip"), semidefinite(kernel, "shift")
    torch.testing.assert_close(clipped.carry_over(kernel), clipped.values)
    assert torch.equal(shifted.carry_over(kernel[:3]), kernel[:3])


def test_refuses_unknown_words():
    with pytest.raises(SettingError, match='"max" or "mean"; got "min"'):
        next(kernel_blocks(a_space(), embeddings(3), symmetrise="min"))
    with pytest.raises(SettingError, match='"max" or "mean"; got "min"'):
        kernel_matrix(a_space(), embeddings(3), embeddings(2), symmetrise="min")
    with pytest.raises(SettingError, match='"clip" or "shift"'):
        semidefinite(torch.eye(2), "flip")


def test_refuses_a_score_that_is_not_finite():
    with pytest.raises(SpaceError, match="not finite"):
        semidefinite(torch.full((2, 2), torch.nan))
