"""Items that a request gives as numbers."""

from collections.abc import Sequence

import numpy as np

from samekind.serving.engine import Vectors
from samekind.serving.refusal import Refusal


def checked_rows(rows: Sequence[Sequence[float]], shape: tuple[int, ...], medium: str) -> Vectors:
    """Rows of numbers as items (n, width) of this shape. Raises Refusal for anything else."""
    if medium != "vectors":
        raise Refusal(415, f"items are {medium} here; send them as files")
    expected = f"vectors: expected lists of {shape[0]} numbers"
    if not all(isinstance(row, list) and len(row) == shape[0] for row in rows):
        raise Refusal(422, expected)
    try:
        with np.errstate(over="ignore"):
            values = np.array(rows, dtype=np.float64).astype(np.float32)
    except (TypeError, ValueError, OverflowError):
        raise Refusal(422, expected) from None
    if not np.isfinite(values).all():
        raise Refusal(422, "vectors: a number is not finite, or beyond what 32 bits can hold")
    return values


def row_ids(rows: Sequence[object]) -> tuple[str, ...]:
    """The names of rows of numbers."""
    return tuple(f"vector {place}" for place in range(len(rows)))
