"""One FAISS structure: vectors in, the labels of the nearest ones out.

Douze et al., "The Faiss library", 2024. A label is the number of a vector in the order of additions. The
package is imported when a structure is made.
"""

import importlib
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.errors import SettingError
from samekind.index import structure_sizes as sizes
from samekind.index.contract import Score
from samekind.index.structure_sizes import StructureName

CONSTRUCTION = 80  # candidates kept when a vector is put into the graph


class Structure:
    """A FAISS index of one structure, for vectors of one dimension and one score."""

    def __init__(
        self, name: StructureName, dimension: int, score: Score, *, built_for: int, index: Any
    ) -> None:
        self.name = name
        self.dimension = dimension
        self.score = score
        self.built_for = built_for  # the number of vectors its lists were made for
        self.index = index  # FAISS's own object

    def __len__(self) -> int:
        return int(self.index.ntotal)

    @property
    def lists(self) -> int:
        """The number of lists; 1 for a structure without lists."""
        return int(getattr(self.index, "nlist", 1))

    def add(self, vectors: Tensor) -> None:
        """Add vectors (n, dimension)."""
        if len(vectors):
            self.index.add(self.prepared(vectors))

    def nearest(self, queries: Tensor, k: int, *, effort: int, alive: Tensor | None) -> Tensor:
        """The labels (q, k) of vectors near each query, best first as far as the structure can tell; -1 fills
        up.

        ``effort`` is how far it looks: candidates that hnsw keeps (at least k), or lists that ivf and pq look
        into. ``alive`` (n,) says which labels may be found; None means all.
        """
        faiss = package()
        chosen = None
        if alive is not None:
            chosen = faiss.IDSelectorBitmap(np.packbits(alive.numpy(), bitorder="little"))
        if self.name == "flat":
            settings = faiss.SearchParameters(sel=chosen)
        elif self.name == "hnsw":
            settings = faiss.SearchParametersHNSW(sel=chosen, efSearch=max(effort, k))
        else:
            settings = faiss.SearchParametersIVF(sel=chosen, nprobe=min(effort, self.lists))
        # faiss.contrib.torch_utils, imported by pytorch-metric-learning, replaces `search` by a function
        # without parameters, and keeps the original under this name.
        search = getattr(self.index, "search_numpy", None) or self.index.search
        _, labels = search(self.prepared(queries), k, params=settings)
        return torch.from_numpy(labels)

    def prepared(self, vectors: Tensor) -> Any:
        """Vectors as FAISS expects them: of length 1 for the cosine, padded with zeros for codes."""
        if self.score == "cosine":
            vectors = F.normalize(vectors, dim=-1)
        if padding := self.index.d - self.dimension:
            vectors = F.pad(vectors, (0, padding))
        return np.ascontiguousarray(vectors.numpy())


def build(
    name: StructureName, dimension: int, score: Score, *, count: int, sample: Tensor, seed: int = 0
) -> Structure:
    """An empty structure for ``count`` vectors; lists and codes are fitted to a sample (n, dimension).

    The same sample and seed give the same lists and codes.
    """
    index = empty(name, dimension, score, lists=sizes.lists_for(count), seed=seed)
    structure = Structure(name, dimension, score, built_for=count, index=index)
    if not index.is_trained:
        index.train(structure.prepared(sample))
    return structure


def empty(name: StructureName, dimension: int, score: Score, *, lists: int = 1, seed: int = 0) -> Any:
    """FAISS's own object, before anything was fitted or added."""
    faiss = package()
    metric = faiss.METRIC_L2 if score == "euclidean" else faiss.METRIC_INNER_PRODUCT
    if name == "flat":
        return faiss.IndexFlat(dimension, metric)
    if name == "hnsw":
        index = faiss.IndexHNSWFlat(dimension, sizes.NEIGHBOURS, metric)
        index.hnsw.efConstruction = CONSTRUCTION
        return index
    width = sizes.width_of(name, dimension)
    centres = faiss.IndexFlat(width, metric)
    if name == "pq":
        index = faiss.IndexIVFPQ(centres, width, lists, sizes.codes_of(dimension), 8, metric)
        index.pq.cp.seed, index.pq.cp.min_points_per_centroid = seed, 1
    else:
        index = faiss.IndexIVFFlat(centres, width, lists, metric)
    index.own_fields = True
    centres.this.disown()
    # No warning about few vectors for a centre.
    index.cp.seed, index.cp.min_points_per_centroid = seed, 1
    return index


def package() -> Any:
    """FAISS; raises SettingError if it is not installed."""
    try:
        return importlib.import_module("faiss")
    except ImportError as error:
        raise SettingError(
            'a Faiss index needs the package faiss: install "faiss-cpu", or use Exact'
        ) from error
