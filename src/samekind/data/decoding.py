"""Many pictures into one block of memory, by a few threads.

Threads and not processes: decoding itself happens outside of Python's lock, nothing has to be sent back,
and a program that reads pictures need not be written for being started a second time. What stays inside the
lock is what costs, above all with small pictures: so a thread takes several pictures at a time, and writes
each where it is to stay.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data.files import File
from samekind.data.readers import ImageReader
from samekind.errors import DataError

#: More threads than this wait for the disk, or for each other.
MOST_WORKERS = 16

#: Pictures that a thread takes at a time, at most; and how many times a thread should come back for more, so
#: that none is left waiting for the one that got the largest.
TOGETHER, TURNS = 8, 4


class Decoded(NamedTuple):
    """Pictures uint8 (n, channels, height, width); those that could not be read are left unset, and listed
    by place with the reason.
    """

    pixels: Tensor
    unreadable: list[tuple[int, DataError]]


def begin_decoding(files: Sequence[File], reader: ImageReader, *, workers: int = 0) -> Callable[[], Decoded]:
    """Start decoding in ``workers`` threads; what comes back gives the pictures once all are ready."""
    pixels = torch.empty(len(files), *reader.shape, dtype=torch.uint8)
    places = pixels.numpy()

    def decode(part: range) -> list[tuple[int, DataError]]:
        unreadable = []
        for place in part:
            try:
                reader.read_into(files[place], places[place])
            except DataError as error:
                unreadable.append((place, error))
        return unreadable

    pending = pool(workers).map(decode, parts(len(files), threads(workers)))

    def wait() -> Decoded:
        return Decoded(pixels, [each for found in pending for each in found])

    return wait


def parts(count: int, workers: int) -> list[range]:
    """``count`` pictures in the portions they are handed out in.

    >>> parts(3, 4), parts(17, 1)[-1], len(parts(800, 1))
    ([range(0, 1), range(1, 2), range(2, 3)], range(16, 17), 100)
    """
    together = max(1, min(TOGETHER, count // (TURNS * workers)))
    return [range(start, min(start + together, count)) for start in range(0, count, together)]


def threads(workers: int) -> int:
    """How many threads ``workers`` stands for: 0 is one for each core, at most 16."""
    return workers or min(MOST_WORKERS, os.cpu_count() or 1)


@cache
def pool(workers: int) -> ThreadPoolExecutor:
    """The threads that read files, shared by all who want as many."""
    return ThreadPoolExecutor(threads(workers), thread_name_prefix="samekind-read")
