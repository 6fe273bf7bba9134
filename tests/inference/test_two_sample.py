"""The two-sample test of a space: the same numbers as on its kernel, and the right verdict on clusters."""

import pytest
import torch

from samekind.encoders import MLP
from samekind.errors import DataError, SettingError, SpaceError
from samekind.inference import two_sample
from samekind.inference.kernels import kernel_matrix, semidefinite
from samekind.measures import two_sample_test
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean, PairsNetwork
from samekind.space import MetricSpace


def a_space(similarity=None):
    torch.manual_seed(0)
    similarity = similarity or PairsNetwork(dimension=3, hidden=8)
    return MetricSpace(MLP(inputs=2, dimension=3, hidden=[4]), similarity, SupportMeans(dimension=3)).eval()


def embeddings(count, seed, shift=0.0):
    return torch.randn(count, 3, generator=torch.Generator().manual_seed(seed)) + shift


@pytest.mark.parametrize("symmetrise", ["max", "mean"])
@pytest.mark.parametrize("spectrum", ["shift", "clip"])
def test_it_is_the_test_on_the_kernel(symmetrise, spectrum, memory_budget):
    space, a, b = a_space(), embeddings(9, 0), embeddings(12, 1, shift=0.3)
    kernel = kernel_matrix(space, torch.cat([a, b]), symmetrise=symmetrise)
    if spectrum == "clip":
        centring = torch.eye(21) - 1 / 21
        kernel = semidefinite(centring.double() @ kernel @ centring.double(), "clip").values
    expected = two_sample_test(kernel, torch.arange(21) < 9, permutations=40, seed=3)
    result = two_sample(space, a, b, symmetrise=symmetrise, spectrum=spectrum, permutations=40, seed=3)
    assert result == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("similarity", [None, Euclidean()])
def test_two_clusters_are_separated_and_two_halves_of_one_are_not(similarity):
    """The energy distance, for the Euclidean one."""
    space = a_space(similarity)
    same = two_sample(space, embeddings(25, 2), embeddings(25, 3), permutations=99)
    other = two_sample(space, embeddings(25, 2), embeddings(25, 3, shift=2.0), permutations=99)
    assert same.p_value > 0.05
    assert other.p_value <= 0.02
    assert other.discrepancy > other.usual > 0


def test_a_distance_needs_no_clipping_and_a_learned_score_does():
    """Along negative eigenvalues a difference counts against itself: the shifted kernel overlooks it here."""
    a, b = embeddings(25, 2), embeddings(25, 3, shift=2.0)
    clipped, shifted = (two_sample(a_space(Euclidean()), a, b, spectrum=how) for how in ("clip", "shift"))
    assert clipped == pytest.approx(shifted, rel=1e-4)
    clipped, shifted = (two_sample(a_space(), a, b, spectrum=how) for how in ("clip", "shift"))
    assert clipped.discrepancy > 0 > shifted.discrepancy


def test_kinds_differ():
    a, b = embeddings(9, 0), embeddings(12, 1, shift=0.3)
    result = {two_sample(a_space(), a, b, kind=kind).discrepancy for kind in a_space().kinds}
    assert len(result) == 3


def test_the_mode_of_the_space_is_kept_and_dropout_plays_no_part():
    a, b = embeddings(5, 0), embeddings(5, 1)
    one, other = a_space(), a_space().train()
    assert two_sample(one, a, b) == two_sample(other, a, b)
    assert other.training


def test_refuses_samples_that_are_too_small():
    space = a_space()
    with pytest.raises(DataError, match="two items on each side; got 1 and 5"):
        two_sample(space, embeddings(1, 0), embeddings(5, 1))
    with pytest.raises(SettingError, match="one permutation or more; got 0"):
        two_sample(space, embeddings(5, 0), embeddings(5, 1), permutations=0)
    with pytest.raises(SettingError, match='"clip" or "shift"'):
        two_sample(space, embeddings(5, 0), embeddings(5, 1), spectrum="flip")
    for spectrum in ("clip", "shift"):
        with pytest.raises(SpaceError, match="a score is not finite"):
            two_sample(space, torch.full((5, 3), torch.nan), embeddings(5, 1), spectrum=spectrum)
