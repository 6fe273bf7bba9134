"""Which structure a gallery is searched with, by its size.

- **flat**: every vector is compared. Exact, nothing to build, and below some ten thousand vectors nothing is
  faster enough to be worth a wrong answer.
- **hnsw**: a graph of neighbours, walked from vector to vector. The best recall for its time up to about a
  million; it takes the vectors and the graph in memory, and a long time to build beyond. By the inner product
  it may lose the way to vectors that are too short to be the best of many queries. Malkov and Yashunin,
  "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable Small World graphs".
- **ivf**: lists of vectors around centres; a search looks into the nearest lists. Quick to build at any size,
  the vectors in memory.
- **pq**: the same lists, each vector a code of one byte for four numbers: a sixteenth of the memory. The
  codes lose much, so that they only propose candidates, which are compared by their vectors from the disk.
  Jégou, Douze and Schmid, "Product Quantization for Nearest Neighbor Search".
"""

import math
import os
from typing import Literal

Kind = Literal["flat", "hnsw", "ivf", "pq"]
KINDS: tuple[Kind, ...] = ("flat", "hnsw", "ivf", "pq")

FLAT_UP_TO = 20_000
HNSW_UP_TO = 1_500_000
NEIGHBOURS = 24  # of a vector in the graph; twice as many on its ground floor
NUMBERS_A_CODE = 4  # one byte stands for so many numbers of a vector
CODES = 256
#: Vectors a centre is fitted to at least, for k-means to have something to average.
FEWEST_A_CENTRE = 39
#: And at most: more cost time and change the centres little.
MOST_A_CENTRE = 64
HNSW_EFFORT = 64
#: Vectors looked at in lists for each one that is wanted, at least. Of a million, for 10,000 candidates by a
#: query that was mapped, 8 found 0.92 of what matters, 32 found 0.955, and all of them 0.965.
MANY_TIMES = 32


def kind_for(count: int, dimension: int, *, memory: int) -> Kind:
    """The kind for a number of vectors and the bytes of memory that may be taken.

    >>> [kind_for(count, 128, memory=2**33) for count in (1_000, 1_000_000, 10_000_000, 100_000_000)]
    ['flat', 'hnsw', 'ivf', 'pq']
    """
    if count <= FLAT_UP_TO:
        return "flat"
    if count <= HNSW_UP_TO and bytes_of("hnsw", count, dimension) <= memory:
        return "hnsw"
    return "ivf" if bytes_of("ivf", count, dimension) <= memory else "pq"


def bytes_of(kind: Kind, count: int, dimension: int) -> int:
    """About the memory a structure takes, in bytes."""
    vector = 4 * dimension
    one = {
        "flat": vector,
        "hnsw": vector + 4 * 2 * NEIGHBOURS + 24,
        "ivf": vector + 16,
        "pq": codes_of(dimension) + 16,
    }[kind]
    return count * one


def memory_here() -> int:
    """The bytes an index may take where nobody says otherwise: half of the machine's memory.

    Where the system does not tell (Windows), 8 GiB count as the machine's.
    """
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 2**32


def buildable(kind: Kind, count: int) -> Kind:
    """What is built where a kind was asked for: lists and codes need enough vectors to be fitted to."""
    fewest = {"flat": 0, "hnsw": 1, "ivf": 2 * FEWEST_A_CENTRE, "pq": CODES}[kind]
    return kind if count >= fewest else "flat"


def lists_for(count: int) -> int:
    """How many lists: four times the root of the number, as far as the vectors suffice for their centres."""
    return max(1, min(4 * math.isqrt(count), count // FEWEST_A_CENTRE))


def codes_of(dimension: int) -> int:
    """How many bytes the code of a vector has."""
    return -(-dimension // NUMBERS_A_CODE)


def sample_for(kind: Kind, count: int) -> int:
    """How many vectors lists and codes are fitted to."""
    centres = max(lists_for(count), CODES if kind == "pq" else 0)
    return min(count, MOST_A_CENTRE * centres)


def effort_for(kind: Kind, lists: int, *, candidates: int = 0, count: int = 0) -> int:
    """How far a search goes where nobody says: candidates hnsw keeps, lists that ivf and pq look into.

    Who wants many candidates of a count looks into more lists: into as many as hold 32 times the wanted.
    """
    if kind in ("flat", "hnsw"):
        return HNSW_EFFORT
    holding = math.ceil(MANY_TIMES * candidates * lists / count) if count else 0
    return min(lists, max(8, lists // 32, holding))


def candidates_for(kind: Kind, wanted: int) -> int:
    """How many vectors are compared by their own numbers to give the wanted ones.

    A few more than wanted, because rounding may exchange neighbours; many more for codes, which lose much.
    """
    return max(100, 10 * wanted) if kind == "pq" else wanted + 8
