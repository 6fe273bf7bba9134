"""Proxies that stay where they were put."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.prototypes import FixedProxies
from samekind.taxonomy import Tree


def test_starts_as_random_directions():
    torch.manual_seed(0)
    vectors = FixedProxies([str(index) for index in range(50)], dimension=64).vectors
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(50, 1))
    cosines = (vectors[:, 0] @ vectors[:, 0].T)[~torch.eye(50, dtype=torch.bool)]
    assert cosines.abs().max() < 0.7
    assert abs(cosines.mean()) < 0.02


def test_nothing_but_an_assignment_moves_them():
    proxies = FixedProxies(["a", "b"], dimension=3)
    placed = torch.tensor([[[1.0, 0.0, 0.0]], [[0.0, 2.0, 0.0]]])
    proxies.assign(["a", "b"], placed)
    z, y = torch.ones(4, 3), torch.tensor([0, 0, 1, 1])
    proxies.before_loss(z, y)
    proxies.after_step(z, y)
    assert torch.equal(proxies.vectors, placed)
    assert list(proxies.parameters()) == []
    assert proxies.trained  # so that they are not replaced by means when training is over


def test_one_vector_a_class_is_all_it_takes():
    with pytest.raises(SettingError, match=r"\(1 classes, 1, 3\), got \(1, 2, 3\)"):
        FixedProxies(["a"], dimension=3).assign(["b"], torch.zeros(1, 2, 3))


def test_are_placed_by_the_tree_of_their_classes():
    tree = Tree(("all", "pets", "dog", "cat", "cod"), (-1, 0, 1, 1, 0))
    wanted = {"mds": 1 - (2 / 3) ** 2, "exact": 0.5}
    for layout, cosine in wanted.items():
        torch.manual_seed(0)
        proxies = FixedProxies(["cod", "cat", "dog"], dimension=6, layout=layout)
        proxies.place(tree)
        assert proxies.vectors.shape == (3, 1, 6)
        cosines = proxies.vectors[:, 0] @ proxies.vectors[:, 0].T
        assert cosines[1, 2].item() == pytest.approx(cosine, abs=0.01)
        assert cosines[0, 1] < cosines[1, 2] - 0.1


def test_stay_where_they_are_without_a_layout():
    proxies = FixedProxies(["dog", "cat"], dimension=4)
    before = proxies.vectors.clone()
    proxies.place(Tree(("all", "dog", "cat"), (-1, 0, 0)))
    assert torch.equal(proxies.vectors, before)


def test_refuse_another_layout():
    with pytest.raises(SettingError, match='"random", "mds" or "exact"; got "circle"'):
        FixedProxies(["dog"], dimension=4, layout="circle")
    with pytest.raises(SettingError, match='"free" or "means"; got "north"'):
        FixedProxies(["dog"], dimension=4, orientation="north")
    with pytest.raises(SettingError, match="beta must be a positive number"):
        FixedProxies(["dog"], dimension=4, beta=-1.0)


def test_are_turned_towards_means_only_if_they_are_to_be():
    means = torch.tensor([[0.0, 3.0], [2.0, 0.0]])
    for orientation, moves in (("free", False), ("means", True)):
        proxies = FixedProxies(["dog", "cat"], dimension=2, orientation=orientation)
        proxies.assign(["dog", "cat"], torch.eye(2)[:, None])
        proxies.turn(means)
        expected = [[0.0, 1.0], [1.0, 0.0]] if moves else [[1.0, 0.0], [0.0, 1.0]]
        torch.testing.assert_close(proxies.vectors[:, 0], torch.tensor(expected))
