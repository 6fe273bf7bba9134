"""Moving proxies against the update written as a loop over classes."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.prototypes import EMAProxies

CLASSES = ["ant", "bee", "cat", "dog"]


def bank(**arguments):
    torch.manual_seed(0)
    return EMAProxies(CLASSES, dimension=3, **arguments)


def some(count, *, seed):
    return 5 * torch.randn(count, 3, generator=torch.Generator().manual_seed(seed))


def updated(vectors, visited, z, y, rate):
    """The definition: the direction of the mean direction is copied at first, then moved towards."""
    vectors = vectors.clone()
    for label in set(y.tolist()):
        members = [z[i] / z[i].norm() for i, value in enumerate(y.tolist()) if value == label]
        mean = sum(members) / len(members)
        mean = mean / mean.norm()
        new = rate * mean + (1 - rate) * vectors[label, 0] if label in visited else mean
        vectors[label, 0] = new / new.norm()
        visited.add(label)
    return vectors


@pytest.mark.parametrize("rate", [0.001, 0.3, 0.0, 1.0])
def test_agrees_with_the_definition_over_several_batches(rate):
    proxies, visited = bank(rate=rate), set()
    expected = proxies.vectors.clone()
    for seed, labels in enumerate([[0, 0, 1], [2, 2, 2, 0], [1], [0, 1, 2, 1]]):
        z, y = some(len(labels), seed=seed), torch.tensor(labels)
        proxies.after_step(z, y)
        expected = updated(expected, visited, z, y, rate)
        torch.testing.assert_close(proxies.vectors, expected)
        assert set(proxies.visited.nonzero().flatten().tolist()) == visited
        torch.testing.assert_close(proxies.vectors.norm(dim=-1), torch.ones(4, 1))


def test_a_class_that_is_absent_stays_exactly_where_it_was():
    proxies = bank()
    before = proxies.vectors.clone()
    proxies.after_step(some(3, seed=1), torch.tensor([1, 1, 1]))
    assert torch.equal(proxies.vectors[[0, 2, 3]], before[[0, 2, 3]])
    assert not torch.equal(proxies.vectors[1], before[1])
    assert proxies.visited.tolist() == [False, True, False, False]


def test_starts_as_random_directions_that_are_not_visited():
    torch.testing.assert_close(bank().vectors.norm(dim=-1), torch.ones(4, 1))
    assert not bank().visited.any()


def test_moves_after_the_step_and_not_before_the_loss():
    proxies = bank()
    before = proxies.vectors.clone()
    proxies.before_loss(some(2, seed=1), torch.tensor([0, 1]))
    assert torch.equal(proxies.vectors, before)
    proxies.after_step(some(2, seed=1), torch.tensor([0, 1]))
    assert not torch.equal(proxies.vectors, before)


def test_lengths_do_not_count():
    z = some(3, seed=1)
    one, other = bank(), bank()
    one.after_step(z, torch.tensor([0, 0, 0]))
    other.after_step(z * torch.tensor([[1.0], [100.0], [0.01]]), torch.tensor([0, 0, 0]))
    torch.testing.assert_close(one.vectors, other.vectors)


def test_embeddings_that_cancel_out_or_are_zero_move_nothing():
    proxies = bank()
    before = proxies.vectors.clone()
    z = torch.tensor([[1.0, 0.0, 0.0], [-2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    proxies.after_step(z, torch.tensor([0, 0, 1]))
    assert torch.equal(proxies.vectors, before)
    assert not proxies.visited.any()


def test_what_was_visited_is_in_the_checkpoint():
    one, other = bank(rate=0.5), bank(rate=0.5)
    one.after_step(some(2, seed=1), torch.tensor([0, 1]))
    other.load_state_dict(one.state_dict())
    for value in (one, other):
        value.after_step(some(4, seed=2), torch.tensor([0, 1, 2, 2]))
    assert torch.equal(one.vectors, other.vectors)


def test_an_assigned_class_is_moved_and_not_replaced():
    """From its direction: the length it was assigned with does not hold it back."""
    proxies = bank(rate=0.5)
    proxies.assign(["elk", "fox"], torch.tensor([[[0.0, 0.0, 9.0]], [[0.0, 1.0, 0.0]]]))
    assert proxies.visited.tolist() == [True, True]
    proxies.after_step(torch.tensor([[1.0, 0.0, 0.0]]), torch.tensor([0]))
    half = 0.5**0.5
    expected = torch.tensor([[[half, 0.0, half]], [[0.0, 1.0, 0.0]]])
    torch.testing.assert_close(proxies.vectors, expected)


def test_one_vector_a_class_is_all_it_takes():
    with pytest.raises(SettingError, match=r"\(1 classes, 1, 3\), got \(1, 2, 3\)"):
        bank().assign(["elk"], torch.zeros(1, 2, 3))


@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_refuses_a_rate_outside_0_to_1(rate):
    with pytest.raises(SettingError, match=f"between 0 and 1, got {rate}"):
        bank(rate=rate)
