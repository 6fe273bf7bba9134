"""Running averages against the update written as a loop over classes."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.prototypes import RunningAverages
from samekind.similarities import PairsNetwork

CLASSES = ["ant", "bee", "cat", "dog"]


def bank(**arguments):
    torch.manual_seed(0)
    return RunningAverages(CLASSES, dimension=3, **arguments)


def some(count, *, seed):
    return torch.randn(count, 3, generator=torch.Generator().manual_seed(seed))


def updated(vectors, z, y, momentum):
    """The definition: for each class in the batch, C <- momentum C + (1 - momentum) mean."""
    vectors = vectors.clone()
    for label in set(y.tolist()):
        members = [z[i] for i, value in enumerate(y.tolist()) if value == label]
        vectors[label, 0] = momentum * vectors[label, 0] + (1 - momentum) * sum(members) / len(members)
    return vectors


@pytest.mark.parametrize("momentum", [0.9, 0.5, 0.0, 1.0])
def test_agrees_with_the_definition_over_several_batches(momentum):
    averages = bank(momentum=momentum)
    expected = averages.vectors.clone()
    for seed, labels in enumerate([[0, 0, 1], [2, 2, 2, 0], [1], [0, 1, 2, 1]]):
        z, y = some(len(labels), seed=seed), torch.tensor(labels)
        averages.before_loss(z, y)
        expected = updated(expected, z, y, momentum)
        torch.testing.assert_close(averages.vectors, expected)


def test_a_class_that_is_absent_stays_exactly_where_it_was():
    averages = bank()
    before = averages.vectors.clone()
    averages.before_loss(some(3, seed=1), torch.tensor([1, 1, 1]))
    assert torch.equal(averages.vectors[[0, 2, 3]], before[[0, 2, 3]])
    assert not torch.equal(averages.vectors[1], before[1])


def test_is_the_documents_other_way_to_write_it():
    """C <- momentum C + (1 - momentum) C*, where C* is C with the rows of the batch replaced by means."""
    averages, z = bank(), some(4, seed=1)
    before = averages.vectors.clone()
    replaced = before.clone()
    replaced[0, 0], replaced[2, 0] = z[:2].mean(0), z[2:].mean(0)
    averages.before_loss(z, torch.tensor([0, 0, 2, 2]))
    torch.testing.assert_close(averages.vectors, 0.9 * before + 0.1 * replaced)


def test_the_means_are_of_the_embeddings_as_they_are():
    """Not of normalised ones."""
    averages = bank(momentum=0.0)
    averages.before_loss(torch.tensor([[10.0, 0.0, 0.0], [0.0, 2.0, 0.0]]), torch.tensor([0, 0]))
    assert averages.vectors[0, 0].tolist() == [5.0, 1.0, 0.0]


def test_moves_before_the_loss_and_not_after_the_step():
    averages = bank()
    before = averages.vectors.clone()
    averages.after_step(some(2, seed=1), torch.tensor([0, 1]))
    assert torch.equal(averages.vectors, before)
    averages.before_loss(some(2, seed=1), torch.tensor([0, 1]))
    assert not torch.equal(averages.vectors, before)


def test_no_gradient_flows_through_the_averages():
    """The batch moved the prototypes, and still its gradient is that of prototypes held constant."""
    averages, y = bank(), torch.tensor([0, 1, 2, 2])
    network = PairsNetwork(dimension=3, hidden=8).eval()
    z = some(4, seed=1).requires_grad_()
    averages.before_loss(z, y)
    (through,) = torch.autograd.grad(network.score_all(averages.vectors.flatten(0, 1), z).sum(), z)
    constant = averages.vectors.detach().clone().flatten(0, 1)
    (alone,) = torch.autograd.grad(network.score_all(constant, z).sum(), z)
    assert torch.equal(through, alone)
    assert list(averages.parameters()) == []


def test_starts_as_the_text_or_as_the_code_has_it():
    torch.manual_seed(0)
    names = [str(index) for index in range(200)]
    gaussian = RunningAverages(names, dimension=50).vectors
    assert abs(gaussian.mean()) < 0.05
    assert abs(gaussian.std() - 1) < 0.05
    assert gaussian.min() < -2.5
    uniform = RunningAverages(names, dimension=50, initial="uniform").vectors
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.05


def test_refuses_an_unknown_start():
    with pytest.raises(SettingError, match='"uniform" or "first"; got "normal"'):
        RunningAverages(CLASSES, dimension=3, initial="normal")


def test_a_batch_of_half_precision_loses_no_digits():
    """Two thirds is 0.66796875 to bfloat16."""
    averages, z = bank(momentum=0.0), torch.tensor([1.0, 1.0, 0.0])[:, None].expand(3, 3)
    averages.before_loss(z.bfloat16(), torch.tensor([0, 0, 0]))
    assert averages.vectors.dtype == torch.float32
    torch.testing.assert_close(averages.vectors[0, 0], torch.full((3,), 2 / 3))


def test_one_vector_a_class_is_all_it_takes():
    with pytest.raises(SettingError, match=r"\(1 classes, 1, 3\), got \(1, 2, 3\)"):
        bank().assign(["elk"], torch.zeros(1, 2, 3))


def test_goes_on_averaging_after_an_assignment():
    averages = bank()
    averages.assign(["elk", "fox"], torch.zeros(2, 1, 3))
    averages.before_loss(torch.ones(1, 3), torch.tensor([1]))
    torch.testing.assert_close(averages.vectors, torch.tensor([[[0.0] * 3], [[0.1] * 3]]))


def test_averages_that_begin_with_the_first_items_have_no_noise_in_them():
    averages = bank(initial="first")
    start = averages.vectors.clone()
    first, second = some(3, seed=1), some(2, seed=2)
    averages.before_loss(first, torch.tensor([0, 0, 2]))
    torch.testing.assert_close(averages.vectors[0, 0], first[:2].mean(0))
    torch.testing.assert_close(averages.vectors[2, 0], first[2])
    assert torch.equal(averages.vectors[[1, 3]], start[[1, 3]])
    averages.before_loss(second, torch.tensor([0, 1]))
    torch.testing.assert_close(averages.vectors[0, 0], 0.9 * first[:2].mean(0) + 0.1 * second[0])
    torch.testing.assert_close(averages.vectors[1, 0], second[1])


def test_an_assigned_class_and_a_loaded_one_count_as_seen():
    averages, other = bank(initial="first"), bank(initial="first")
    averages.assign(CLASSES, torch.ones(4, 1, 3))
    other.load_state_dict(averages.state_dict())
    for prototypes in (averages, other):
        prototypes.before_loss(torch.zeros(1, 3), torch.tensor([3]))
        torch.testing.assert_close(prototypes.vectors[3], torch.full((1, 3), 0.9))


def test_others_have_the_state_that_they_always_had():
    """A space that was written before the choice existed still opens."""
    assert list(bank().state_dict()) == ["vectors"]
