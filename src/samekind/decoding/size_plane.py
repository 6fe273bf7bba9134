"""The plane that tells how large a picture was before it was resized; see `data.media.original_size`."""

import math

import numpy as np

from samekind.decoding.pixels import Pixels

#: The longest side that is distinguished from longer ones, in pixels.
LONGEST = 65_535


def size_plane(height: int, width: int, *, rows: int, columns: int) -> Pixels:
    """The plane (rows, columns) of a picture that had this height and width.

    >>> size_plane(1, 65_535, rows=2, columns=1).tolist()
    [[0], [255]]
    """
    plane = np.empty((rows, columns), dtype=np.uint8)
    plane[: rows // 2], plane[rows // 2 :] = _byte(height), _byte(width)
    return plane


def _byte(side: int) -> int:
    return round(255 * math.log(min(max(side, 1), LONGEST)) / math.log(LONGEST))
