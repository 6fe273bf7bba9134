"""The scores of a space as graphs: a map of embeddings, a score of pairs, or both.

A score that is an inner product of mapped vectors is exported as the map alone: in use each item is mapped
once. Any other is a graph that scores every a and every b; a normalised one of those has a map as well, which
adds the level of each item.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from samekind.exporting.graphs import onnx_bytes
from samekind.similarities.blocks import (
    Similarity,
    counts_matter,
    enrolled_vectors,
    every_pair,
    mapping_of,
    prepared,
)


class ScoreGraphs(NamedTuple):
    """The ONNX files of a kind of score. Without ``pairs`` the score is the inner product of what the ``map``
    gives; without a map, pairs are of embeddings. ``counted`` maps also take how many examples an embedding
    is the mean of. ``pair_bytes`` is the working memory of a pair.
    """

    map: bytes | None
    pairs: bytes | None
    counted: bool
    pair_bytes: int


class _Map(nn.Module):
    """Embeddings (n, d), and how many examples each is the mean of, to vectors for either side."""

    def __init__(self, similarity: Similarity) -> None:
        super().__init__()
        self.similarity = similarity

    def forward(self, z: Tensor, counts: Tensor | None = None) -> tuple[Tensor, Tensor]:
        if counts is not None:
            return enrolled_vectors(self.similarity, z, z, counts)
        mapped = mapping_of(self.similarity)
        if mapped is not None:
            return mapped(z, "first"), mapped(z, "second")
        _, first, second = prepared(self.similarity, z, z)
        return first, second


class _Pairs(nn.Module):
    """Every a against every b."""

    def __init__(self, similarity: Similarity) -> None:
        super().__init__()
        self.similarity = similarity

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return every_pair(self.similarity, a, b)


def score_graphs(similarity: Similarity, dimension: int, *, kind: str) -> ScoreGraphs:
    """The files of a similarity of embeddings (n, dimension)."""
    what = f'the score "{kind}" ({type(similarity).__name__})'
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(3, dimension, generator=generator)
    counted = counts_matter(similarity)
    inner = counted or mapping_of(similarity) is not None
    with torch.no_grad():
        scorer, first, second = prepared(similarity, z, z)
    mapped = None
    if inner or first is not z:
        example = [z, torch.ones(3, dtype=torch.int64)] if counted else [z]
        names = {name: {0: "items"} for name in ("embeddings", "counts")[: len(example)]}
        mapped = onnx_bytes(_Map(similarity), example, inputs=names, outputs=("first", "second"), what=what)
    if inner:
        return ScoreGraphs(mapped, None, counted, 4)
    pairs = onnx_bytes(
        _Pairs(scorer),
        [first, torch.cat([second, second])],
        inputs={"first": {0: "rows"}, "second": {0: "columns"}},
        outputs=("scores",),
        what=what,
    )
    # A graph keeps what PyTorch's own way need not: all differences of two blocks, twice.
    return ScoreGraphs(mapped, pairs, counted, max(similarity.pair_bytes(dimension), 8 * first.shape[1]))
