"""An index that finds by a fitted or normalised score, at the speed of its own.

Such scores are inner products of mapped vectors (``mapped`` of a similarity). So the index stores the mapped
vectors of the items and goes by the inner product, and a query is mapped the other way. Its fingerprint names
the kind of score: another one needs another index.

A graph of neighbours finds badly by the inner product of vectors of many lengths. So each stored vector has
one more number that makes all of them equally long, and a query has 0 there, which changes no score:
Bachrach et al., "Speeding Up the Xbox Recommender System Using a Euclidean Transformation for Inner-Product
Spaces", RecSys 2014.
"""

import hashlib
import json

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SpaceError
from samekind.index.contract import Index
from samekind.index.fingerprint import space_fingerprint
from samekind.parts import describe, raw_bytes, room_of
from samekind.similarities.blocks import Side, mapping_of
from samekind.space import MetricSpace

#: The note of the length of stored vectors, and how much longer they are made than the first ones.
NOTE, LONGER = "mapped length", 1.5
#: The kinds of score for which mapped vectors may be stored; the cosine needs none.
MAPPED_KINDS: tuple[Kind, ...] = ("fitted", "normalised")


def can_be_stored(space: MetricSpace, kind: Kind) -> bool:
    """Whether a kind of score is an inner product of mapped vectors that an index can store."""
    return kind in MAPPED_KINDS and kind in space.kinds and mapping_of(space.scorer(kind)) is not None


def vectors_to_store(space: MetricSpace, index: Index, z: Tensor) -> Tensor:
    """The stored form of embeddings (n, d) in an index: themselves, or their mapped vectors.

    The first call notes in the index how long the vectors are made.
    """
    kind = stored_kind(index)
    if kind is None or not len(z):
        return z
    vectors = _mapped(space, z, kind, "second")
    squares = vectors.square().sum(1, keepdim=True)
    length = float(index.notes.setdefault(NOTE, LONGER * float(squares.max().sqrt())))
    return torch.cat([vectors, (length**2 - squares).clamp(min=0).sqrt()], dim=1)


def vectors_to_find(space: MetricSpace, index: Index, z: Tensor) -> Tensor:
    """The searched form of queries (n, d) in an index: themselves, or their mapped vectors."""
    kind = stored_kind(index)
    if kind is None:
        return z
    vectors = _mapped(space, z, kind, "first")
    return torch.cat([vectors, torch.zeros_like(vectors[:, :1])], dim=1)


def stored_dimension(space: MetricSpace, kind: Kind | None) -> int:
    """The dimension of what an index stores for a kind of score; None for embeddings."""
    dimension = space.prototypes.dimension
    if kind is None:
        return dimension
    with torch.no_grad():
        return _mapped(space, space.prototypes.vectors.new_zeros(0, dimension), kind, "second").shape[1] + 1


def _mapped(space: MetricSpace, z: Tensor, kind: Kind, side: Side) -> Tensor:
    mapped = mapping_of(space.scorer(kind))
    if mapped is None:
        raise SpaceError(f'scores of the kind "{kind}" are no inner products; an index cannot store them')
    return mapped(z, side)


def index_fingerprint(space: MetricSpace, kind: Kind | None = None) -> str:
    """The fingerprint of an index of a space: that of the space and, for mapped vectors, the kind of score
    and the fingerprint of its similarity.
    """
    own = space_fingerprint(space)
    return own if kind is None else f"{own} {kind} {similarity_fingerprint(space, kind)}"


def stored_kind(index: Index) -> Kind | None:
    """The kind of score whose mapped vectors an index holds; None if it holds embeddings."""
    words = index.fingerprint.split(" ")
    return words[1] if len(words) == 3 and words[1] in MAPPED_KINDS else None


def is_of(index: Index, space: MetricSpace) -> bool:
    """Whether an index was made with this space and, if its vectors are mapped, this similarity."""
    kind = stored_kind(index)
    return (kind is None or kind in space.kinds) and index.fingerprint == index_fingerprint(space, kind)


def check_stored(index: Index, kind: Kind) -> Kind | None:
    """The kind of score whose mapped vectors an index holds. Raises SpaceError if that is another one."""
    stored = stored_kind(index)
    if stored not in (None, kind):
        raise SpaceError(
            f'this index holds vectors for the score "{stored}" and finds by nothing else; ask for it, '
            f'or build an index for "{kind}"'
        )
    return stored


def similarity_fingerprint(space: MetricSpace, kind: Kind) -> str:
    """A fingerprint of what scores a kind: mapped vectors and shortlists are valid for it alone."""
    digest = hashlib.sha256(kind.encode())
    # The cosine of two vectors is the same in every space.
    if kind != "cosine":
        own = kind if kind in MAPPED_KINDS else "similarity"
        part = getattr(space, own)
        description = describe(part) if room_of(part) is not None else type(part).__qualname__
        digest.update(json.dumps(description, sort_keys=True).encode())
        for name, tensor in sorted(space.state_dict().items()):
            if name.startswith(f"{own}."):
                digest.update(name.encode())
                digest.update(raw_bytes(tensor))
    return digest.hexdigest()[:16]
