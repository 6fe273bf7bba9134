"""Arrays as items."""

import numpy as np
import pytest

from samekind.decoding.arrays import as_item
from samekind.errors import DataError


def test_bytes_are_scaled_and_floats_are_not():
    assert as_item(np.array([0, 51, 255], np.uint8), (3,), "a").tolist() == pytest.approx([0, 0.2, 1])
    floats = as_item(np.array([-3.0, 7.5]), (2,), "a")
    assert (floats.dtype, floats.tolist()) == (np.float32, [-3.0, 7.5])


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.zeros(3), r"a does not fit: expected a .npy array of shape \(2,\), got shape \(3,\)"),
        (np.zeros(2, int), "holding floats or uint8, got int64"),
        (np.array([0, np.nan]), "not finite"),
    ],
)
def test_others_are_refused(array, says):
    with pytest.raises(DataError, match=says):
        as_item(array, (2,), "a")
