"""The FAISS structure for a gallery, by its size.

- **flat**: compares every vector. Exact, nothing to build, and fast enough below some ten thousand vectors.
- **hnsw**: a graph of neighbours. The best recall for its time up to about a million vectors; beyond, it
  takes long to build. Vectors and graph are in memory. By the inner product it may miss vectors that are too
  short to be the best of many queries. Malkov and Yashunin, "Efficient and robust approximate nearest
  neighbor search using Hierarchical Navigable Small World graphs".
- **ivf**: lists of vectors around centres; a search looks into the nearest lists. Quick to build at any size;
  the vectors are in memory.
- **pq**: the same lists, with a code of one byte for four numbers: a sixteenth of the memory. The codes only
  propose candidates, which are compared by their vectors from the disk. Jégou, Douze and Schmid, "Product
  Quantization for Nearest Neighbor Search".
"""

import math
import os
from typing import Literal

StructureName = Literal["flat", "hnsw", "ivf", "pq"]
STRUCTURES: tuple[StructureName, ...] = ("flat", "hnsw", "ivf", "pq")

FLAT_UP_TO = 20_000
HNSW_UP_TO = 1_500_000
NEIGHBOURS = 24  # of a vector in the graph; twice as many on its ground floor
NUMBERS_A_CODE = 4  # one byte stands for so many numbers of a vector
CODES = 256
#: The fewest vectors a centre is fitted to.
FEWEST_A_CENTRE = 39
#: The most: more of them cost time and change the centres little.
MOST_A_CENTRE = 64
HNSW_EFFORT = 64
#: The fewest vectors looked at in lists for each candidate. Measured for 10,000 candidates of a million: with
#: 8 the recall was 0.92, with 32 0.955, with all vectors 0.965.
MANY_TIMES = 32


def structure_for(count: int, dimension: int, *, memory: int) -> StructureName:
    """The structure for a number of vectors and a limit of memory, in bytes.

    >>> [structure_for(count, 128, memory=2**33) for count in (1_000, 1_000_000, 10_000_000, 100_000_000)]
    ['flat', 'hnsw', 'ivf', 'pq']
    """
    if count <= FLAT_UP_TO:
        return "flat"
    if count <= HNSW_UP_TO and bytes_of("hnsw", count, dimension) <= memory:
        return "hnsw"
    return "ivf" if bytes_of("ivf", count, dimension) <= memory else "pq"


def bytes_of(name: StructureName, count: int, dimension: int) -> int:
    """The approximate memory of a structure, in bytes."""
    vector = 4 * dimension
    one = {
        "flat": vector,
        "hnsw": vector + 4 * 2 * NEIGHBOURS + 24,
        "ivf": vector + 16,
        "pq": codes_of(dimension) + 16,
    }[name]
    return count * one


def memory_here() -> int:
    """The default limit of memory, in bytes: half of the machine's, or of 8 GiB where that is not known."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 2**32


def buildable(name: StructureName, count: int) -> StructureName:
    """The structure, or "flat" if there are too few vectors to fit its lists and codes to."""
    fewest = {"flat": 0, "hnsw": 1, "ivf": 2 * FEWEST_A_CENTRE, "pq": CODES}[name]
    return name if count >= fewest else "flat"


def lists_for(count: int) -> int:
    """The number of lists: four times the root of the count, if there are vectors enough for the centres."""
    return max(1, min(4 * math.isqrt(count), count // FEWEST_A_CENTRE))


def codes_of(dimension: int) -> int:
    """The bytes of the code of a vector."""
    return -(-dimension // NUMBERS_A_CODE)


def width_of(name: StructureName, dimension: int) -> int:
    """The numbers of a vector in a structure: for codes, those of whole codes."""
    return codes_of(dimension) * NUMBERS_A_CODE if name == "pq" else dimension


def sample_for(name: StructureName, count: int) -> int:
    """The number of vectors that lists and codes are fitted to."""
    centres = max(lists_for(count), CODES if name == "pq" else 0)
    return min(count, MOST_A_CENTRE * centres)


def effort_for(name: StructureName, lists: int, *, candidates: int = 0, count: int = 0) -> int:
    """The default effort of a search: the candidates hnsw keeps, or the lists ivf and pq look into.

    For many candidates of a count these are as many lists as hold 32 times the candidates.
    """
    if name in ("flat", "hnsw"):
        return HNSW_EFFORT
    holding = math.ceil(MANY_TIMES * candidates * lists / count) if count else 0
    return min(lists, max(8, lists // 32, holding))


def candidates_for(name: StructureName, wanted: int) -> int:
    """The number of candidates to compare by their vectors: a few more than wanted, because rounding may
    exchange neighbours; many more for codes.
    """
    return max(100, 10 * wanted) if name == "pq" else wanted + 8
