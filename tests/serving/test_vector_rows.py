"""Numbers of a request as items."""

import numpy as np
import pytest

from samekind.serving.refusal import Refusal
from samekind.serving.vector_rows import checked_rows, row_ids


def test_rows_become_items():
    values = checked_rows([[1, 2.5], [0, -1]], (2,), "vectors")
    assert (values.dtype, values.tolist()) == (np.float32, [[1.0, 2.5], [0.0, -1.0]])
    assert row_ids([[1, 2], [3, 4]]) == ("vector 0", "vector 1")


@pytest.mark.parametrize(
    ("rows", "shape", "status"),
    [
        ([[1, 2]], (1, 8, 8), 415),
        ([[1]], (2,), 422),
        ([[1, "x"]], (2,), 422),
        ([[1, None]], (2,), 422),
        ([[1, 1e300]], (2,), 422),
        (["ab"], (2,), 422),
        ([[10**400, 1]], (2,), 422),
    ],
)
def test_others_are_refused(rows, shape, status):
    with pytest.raises(Refusal) as refusal:
        checked_rows(rows, shape, "pictures" if status == 415 else "vectors")
    assert refusal.value.status == status
