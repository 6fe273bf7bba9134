"""A .npy file is one item or many, and has no labels."""

import numpy as np
import pytest

from samekind.data import VectorReader, collect, open_data
from samekind.errors import DataError


def test_an_array_is_one_item_or_many(tmp_path):
    np.save(tmp_path / "one.npy", np.array([1.0, 2.0]))
    np.save(tmp_path / "many.npy", np.array([[1.0, 2.0], [3.0, 4.0]]))
    used = collect([tmp_path / "one.npy", tmp_path / "many.npy"], VectorReader(dimension=2))
    assert used.inputs.tolist() == [[1, 2], [1, 2], [3, 4]]
    assert used.ids[1:] == (f"{tmp_path}/many.npy, item 0", f"{tmp_path}/many.npy, item 1")


def test_an_array_is_not_opened_as_labelled_data(tmp_path):
    np.save(tmp_path / "one.npy", np.array([1.0, 2.0]))
    with pytest.raises(DataError, match=r"one\.npy is an array without labels; save inputs and labels with"):
        open_data(tmp_path / "one.npy")
