"""A FAISS structure as plain arrays, and back: nothing that a folder holds is given to FAISS to read.

FAISS's own files may name other files, which it would then write to, and damaged ones may end the process.
So the graph, the lists and the codes are kept as arrays. Every number is checked before FAISS gets it.

- **hnsw**: ``levels`` (n,), the number of floors a vector is on; ``neighbours``, the labels on its floors, -1
  where there are fewer; ``entry``, the label where a search begins; ``gone`` (g, d), the vectors that were
  removed.
- **ivf**, **pq**: ``centres`` (lists, width) and ``lists`` (n,), the list of each vector; for pq also
  ``codewords`` (codes, 256, 4) and ``codes`` (n, codes). Removed vectors are left out.

``rows`` (n,) has the row of each label in the store, -1 for a vector that was removed.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from samekind.index import structure_sizes as sizes
from samekind.index.contract import Score
from samekind.index.structure import Structure, empty, package
from samekind.index.structure_sizes import StructureName

CHUNK = 65_536  # vectors that are given to a structure at a time
Array = np.ndarray[Any, Any]


def to_arrays(structure: Structure, rows: Tensor) -> dict[str, Tensor]:
    """The arrays of a structure whose labels have these rows (n,), -1 for those that were removed."""
    if structure.name == "hnsw":
        arrays = _graph(structure.index, rows)
    else:
        arrays, rows = _lists(structure, rows), rows[rows >= 0]
    return {"rows": rows, **{name: torch.from_numpy(array) for name, array in arrays.items()}}


def from_arrays(
    arrays: Mapping[str, Tensor],
    name: StructureName,
    dimension: int,
    score: Score,
    *,
    built_for: int,
    count: int,
    at: Callable[[Tensor], Tensor],
) -> tuple[Structure, Tensor]:
    """The structure of ``count`` stored vectors, and the row of each of its labels (n,).

    ``at`` gives the vectors (n, dimension) of rows (n,). Raises ValueError if the arrays are not of these
    vectors, or do not fit each other.
    """
    rows = _array(arrays, "rows", torch.int64, 1)
    living = rows[rows >= 0]
    _expect(rows.min(initial=-1) >= -1 and living.max(initial=-1) < count, "rows are not of these vectors")
    _expect(np.array_equal(np.bincount(living, minlength=count), np.ones(count)), "a vector is missing")
    if name == "hnsw":
        gone = _array(arrays, "gone", torch.float32, 2)
        _expect(gone.shape == (len(rows) - len(living), dimension), "removed vectors are missing")
        graph = _graph_from(arrays, dimension, score, count=len(rows))
        structure = Structure(name, dimension, score, built_for=built_for, index=graph)
        for vectors in _vectors(rows, torch.from_numpy(gone), at):
            graph.storage.add(structure.prepared(vectors))
    else:
        _expect(name in ("ivf", "pq") and len(living) == len(rows), "removed vectors are in lists")
        structure = _lists_from(arrays, name, dimension, score, built_for=built_for, rows=rows, at=at)
    structure.index.ntotal = len(rows)
    return structure, torch.from_numpy(rows)


def _graph(graph: Any, rows: Tensor) -> dict[str, Array]:
    to_array = package().vector_to_array
    gone = (rows < 0).nonzero().flatten().numpy()
    return {
        "levels": to_array(graph.hnsw.levels),
        "neighbours": to_array(graph.hnsw.neighbors),
        "entry": np.array([graph.hnsw.entry_point], dtype=np.int32),
        "gone": graph.reconstruct_batch(gone) if len(gone) else np.empty((0, graph.d), dtype=np.float32),
    }


def _graph_from(arrays: Mapping[str, Tensor], dimension: int, score: Score, *, count: int) -> Any:
    """A graph of ``count`` vectors, still without them."""
    levels = _array(arrays, "levels", torch.int32, 1)
    neighbours = _array(arrays, "neighbours", torch.int32, 1)
    entry = _array(arrays, "entry", torch.int32, 1)
    faiss, graph = package(), empty("hnsw", dimension, score)
    ends = faiss.vector_to_array(graph.hnsw.cum_nneighbor_per_level)  # of the neighbours on each floor
    _expect(len(levels) == count > 0, "a vector of the graph is missing")
    _expect(levels.min() >= 1 and levels.max() < len(ends), "a level is not one of the graph's")
    offsets = np.zeros(count + 1, dtype=np.uint64)
    np.cumsum(ends[levels], out=offsets[1:])
    _expect(len(neighbours) == offsets[-1], "neighbours are missing")
    _expect(neighbours.min() >= -1 and neighbours.max() < count, "a neighbour is not in the graph")
    _expect(entry.shape == (1,) and 0 <= entry[0] < count, "the graph has no entry")
    _expect(levels[entry[0]] == levels.max(), "the entry is not on the highest level")
    for floor in range(1, levels.max()):
        starts = offsets[:-1][levels > floor].astype(np.int64)
        there = neighbours[starts[:, None] + np.arange(ends[floor], ends[floor + 1])]
        _expect((levels[there[there >= 0]] > floor).all(), "a neighbour is not on the level it is named on")
    for vector, array in (("levels", levels), ("offsets", offsets), ("neighbors", neighbours)):
        faiss.copy_array_to_vector(array, getattr(graph.hnsw, vector))
    graph.hnsw.entry_point, graph.hnsw.max_level = int(entry[0]), int(levels.max()) - 1
    return graph


def _lists(structure: Structure, rows: Tensor) -> dict[str, Array]:
    faiss, index, living = package(), structure.index, (rows >= 0).numpy()
    lists = np.empty(len(structure), dtype=np.int32)
    codes = np.empty((len(structure), index.code_size if structure.name == "pq" else 0), dtype=np.uint8)
    for number in range(index.nlist):
        if size := index.invlists.list_size(number):
            labels = faiss.rev_swig_ptr(index.invlists.get_ids(number), size)
            lists[labels] = number
            if structure.name == "pq":
                held = faiss.rev_swig_ptr(index.invlists.get_codes(number), size * index.code_size)
                codes[labels] = held.reshape(size, -1)
    # An array to fill: where faiss.contrib.torch_utils was imported, FAISS would give a tensor instead.
    centres = index.quantizer.reconstruct_n(0, index.nlist, np.empty((index.nlist, index.d), np.float32))
    arrays = {"centres": centres, "lists": lists[living]}
    if structure.name == "pq":
        codewords = faiss.vector_to_array(index.pq.centroids).reshape(index.code_size, sizes.CODES, -1)
        arrays |= {"codewords": codewords, "codes": codes[living]}
    return arrays


def _lists_from(
    arrays: Mapping[str, Tensor],
    name: StructureName,
    dimension: int,
    score: Score,
    *,
    built_for: int,
    rows: Array,
    at: Callable[[Tensor], Tensor],
) -> Structure:
    centres = _array(arrays, "centres", torch.float32, 2)
    lists = _array(arrays, "lists", torch.int32, 1)
    width = sizes.width_of(name, dimension)
    _expect(len(centres) > 0 and centres.shape[1] == width, "the centres have another dimension")
    _expect(len(lists) == len(rows), "a vector is in no list")
    _expect(lists.min(initial=0) >= 0 and lists.max(initial=0) < len(centres), "there is no such list")
    if name == "pq":
        codes, codewords = (
            _array(arrays, "codes", torch.uint8, 2),
            _array(arrays, "codewords", torch.float32, 3),
        )
        shape = (sizes.codes_of(dimension), sizes.CODES, sizes.NUMBERS_A_CODE)
        _expect(codewords.shape == shape and codes.shape == (len(rows), shape[0]), "the codes do not fit")
    faiss, index = package(), empty(name, dimension, score, lists=len(centres))
    structure = Structure(name, dimension, score, built_for=built_for, index=index)
    index.quantizer.add(centres)
    index.is_trained = True
    if name == "pq":
        faiss.copy_array_to_vector(codewords.reshape(-1), index.pq.centroids)
        index.precompute_table()
        _fill(index, lists, codes, first=0)
        return structure
    for first in range(0, len(rows), CHUNK):
        vectors = structure.prepared(at(torch.from_numpy(rows[first : first + CHUNK])))
        _fill(index, lists[first : first + CHUNK], vectors.view(np.uint8), first=first)
    return structure


def _fill(index: Any, lists: Array, codes: Array, *, first: int) -> None:
    """Put codes (n, bytes) into their lists (n,), under labels from ``first`` on."""
    pointer = package().swig_ptr
    order = np.argsort(lists, kind="stable")
    labels, codes = (first + order).astype(np.int64), np.ascontiguousarray(codes[order])
    numbers, starts = np.unique(lists[order], return_index=True)
    for number, start, end in zip(numbers, starts, [*starts[1:], len(order)], strict=True):
        held = pointer(labels[start:end]), pointer(codes[start:end])
        index.invlists.add_entries(int(number), int(end - start), *held)


def _vectors(rows: Array, gone: Tensor, at: Callable[[Tensor], Tensor]) -> Iterator[Tensor]:
    """The vectors of rows, in chunks; those that were removed (-1) come from ``gone``, in their order."""
    used = 0
    for first in range(0, len(rows), CHUNK):
        chunk = torch.from_numpy(rows[first : first + CHUNK])
        removed = chunk < 0
        vectors = at(chunk[~removed])
        if removed.any():
            here = gone[used : used + int(removed.sum())]
            used += len(here)
            vectors = torch.empty(len(chunk), gone.shape[1]).index_put((~removed,), vectors)
            vectors[removed] = here
        yield vectors


def _array(arrays: Mapping[str, Tensor], name: str, dtype: torch.dtype, dimensions: int) -> Array:
    array = arrays.get(name)
    fits = array is not None and array.dtype == dtype and array.ndim == dimensions
    _expect(fits, f'there is no array "{name}" of {dtype} with {dimensions} dimensions')
    assert array is not None
    return array.contiguous().numpy()


def _expect(holds: object, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
