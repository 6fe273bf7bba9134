"""The digits: what scikit-learn ships, as items."""

import torch
from sklearn.datasets import load_digits

from samekind.data import digits


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
