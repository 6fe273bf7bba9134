"""The digits: what scikit-learn ships, as items."""

import pytest
import torch
from sklearn.datasets import load_digits

from samekind.data import clusters, digits
from samekind.errors import SettingError


def test_are_the_digits_of_scikit_learn():
    items, bunch = digits(), load_digits()
    assert len(items) == 1797
    assert items.shape == (1, 8, 8)
    assert items.inputs.dtype == torch.float32
    assert items.classes == tuple("0123456789")
    assert (items.inputs[:, 0].numpy() * 16 == bunch.images).all()
    assert items.labels.tolist() == bunch.target.tolist()


def test_fill_the_range_from_0_to_1():
    inputs = digits().inputs
    assert (inputs.min(), inputs.max()) == (0, 1)


def test_gives_as_many_items_of_each_class_as_asked():
    items = clusters(classes=3, items=4, dimension=5)
    assert items.inputs.shape == (12, 5)
    assert items.labels.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert items.classes == ("0", "1", "2")


def test_spread_is_the_standard_deviation_around_a_centre():
    items = clusters(classes=4, items=2000, dimension=3, spread=0.5, seed=1)
    for label in range(4):
        own = items.inputs[items.labels == label]
        torch.testing.assert_close(own.std(0), torch.full((3,), 0.5), atol=0.05, rtol=0)


def test_without_spread_a_class_is_a_point():
    items = clusters(classes=2, items=3, dimension=4, spread=0)
    assert len(items.inputs.unique(dim=0)) == 2


def test_the_seed_decides_and_nothing_else():
    one, again = (clusters(classes=2, items=3, dimension=4, seed=7).inputs for _ in range(2))
    other = clusters(classes=2, items=3, dimension=4, seed=8).inputs
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


@pytest.mark.parametrize("wrong", [{"classes": 0}, {"items": 0}, {"dimension": 0}, {"spread": -0.1}])
def test_refuses_empty_clusters(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        clusters(**{"classes": 2, "items": 2, "dimension": 2, **wrong})
