"""Shorter embeddings after training: the principal directions of the embeddings of the training items.

Trained with all numbers and compressed afterwards, embeddings keep more than those trained short.
"""

import copy
import inspect

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.data import Items
from samekind.encoders import Compressed
from samekind.errors import SpaceError
from samekind.inference.embed import device_of, embed
from samekind.parts import build, describe
from samekind.similarities import Similarity
from samekind.space import MetricSpace


def compress(space: MetricSpace, items: Items, *, dimension: int = 64) -> MetricSpace:
    """A new space with embeddings of ``dimension`` numbers: those of ``space``, projected to the principal
    `directions` of the embeddings of ``items`` (the training items). The prototypes are projected with them.

    What the space keeps about its scores (thresholds, temperatures, anything fitted) is not carried over,
    because the scores change: fit it anew, as `settle` does. Raises SpaceError for a space that cannot be
    compressed; see `expect_compressible`.
    """
    expect_compressible(space, dimension)
    device = device_of(space)
    compared = _as_compared(space.similarity, embed(space, items.inputs))
    # Of thousands of numbers a GPU finds them in a second or two, a CPU in tens of seconds.
    matrix = directions(compared.to(device if device.type == "cuda" else "cpu"), dimension=dimension).cpu()
    encoder = Compressed(encoder=copy.deepcopy(space.encoder), dimension=dimension)
    encoder.embedding.matrix = matrix
    described = describe(space.prototypes)
    described["arguments"]["dimension"] = dimension
    prototypes = build(described, room="prototypes")
    vectors = space.prototypes.vectors.detach()
    mapped = (vectors.cpu().double() @ matrix.T.double()).to(vectors.dtype)
    prototypes.assign(space.classes, mapped, space.prototypes.counts)
    short = MetricSpace(encoder, copy.deepcopy(space.similarity), prototypes, reader=space.reader)
    short.tree = space.tree
    return short.to(device).eval()


def directions(z: Tensor, *, dimension: int) -> Tensor:
    """The first principal directions (dimension, d) of vectors (n, d) as they are, not centred: orthonormal
    rows. No other rows of that number keep more of the inner products of the vectors.
    """
    z = z.double()
    if dimension <= len(z) < z.shape[1]:  # few items have few directions, which are quicker to find
        rows: Tensor = torch.linalg.svd(z, full_matrices=False).Vh[:dimension]
    else:
        rows = torch.linalg.eigh(z.T @ z).eigenvectors.flip(1).T[:dimension]  # eigenvalues rise
    # The sign of a direction is free: its largest number is above 0.
    largest = rows.gather(1, rows.abs().argmax(1, keepdim=True))
    return (rows * largest.sign()).float()


def expect_compressible(space: MetricSpace, dimension: int) -> None:
    """Raises SpaceError if the similarity or the auxiliary head has weights for embeddings as they are, or if
    these have fewer numbers than ``dimension``.
    """
    if not 1 <= dimension <= space.prototypes.dimension:
        raise SpaceError(
            f"embeddings of {space.prototypes.dimension} numbers cannot be compressed to {dimension}"
        )
    expect_no_weights(space, "compressed")


def expect_no_weights(space: MetricSpace, changed: str) -> None:
    """Raises SpaceError if the similarity or the auxiliary head has weights for embeddings as they are;
    ``changed`` is what is to be done to these.
    """
    name = type(space.similarity).__name__
    if "dimension" in inspect.signature(type(space.similarity)).parameters:
        raise SpaceError(
            f"{name} has weights for embeddings of {space.prototypes.dimension} numbers, which cannot be "
            f"{changed}; choose a similarity without, such as Cosine, or leave the embeddings as they are"
        )
    if space.auxiliary is not None:
        raise SpaceError(
            f"a space with an auxiliary head cannot be {changed}, because the head reads all numbers of an "
            "embedding; leave out one of them"
        )


def _as_compared(similarity: Similarity, z: Tensor) -> Tensor:
    """Embeddings as the similarity compares them: with length 1 where it normalises them, as they are for
    products, and centred for distances, where only differences count.
    """
    if similarity.quantity == "cosine" or getattr(similarity, "normalise", False):
        return F.normalize(z)
    return z if similarity.quantity == "inner product" else z - z.mean(0)
