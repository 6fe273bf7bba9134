"""An index that finds by a fitted or normalised score, at the speed of its own.

Such scores are inner products of mapped vectors (``mapped`` of a similarity). So the index stores the mapped
vectors of the items and goes by the inner product, and a query is mapped the other way. Its fingerprint names
the kind of score: another one needs another index.
"""

import hashlib
import json

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SpaceError
from samekind.index.contract import Index
from samekind.index.fingerprint import space_fingerprint
from samekind.parts import describe, room_of
from samekind.similarities.blocks import Side, mapping_of
from samekind.space import MetricSpace

#: The kinds of score for which mapped vectors may be stored; the cosine needs none.
MAPPED_KINDS: tuple[Kind, ...] = ("fitted", "normalised")


def can_be_stored(space: MetricSpace, kind: Kind) -> bool:
    """Whether a kind of score is an inner product of mapped vectors that an index can store."""
    return kind in MAPPED_KINDS and kind in space.kinds and mapping_of(space.scorer(kind)) is not None


def mapped_vectors(space: MetricSpace, z: Tensor, kind: Kind | None, *, side: Side) -> Tensor:
    """What an index stores of embeddings (n, d) (``side="second"``), and what it is asked for queries
    (``"first"``): for a kind of None the embeddings themselves.
    """
    mapped = None if kind is None else mapping_of(space.scorer(kind))
    return z if mapped is None else mapped(z, side)


def stored_dimension(space: MetricSpace, kind: Kind | None) -> int:
    """The dimension of what an index stores."""
    with torch.no_grad():
        like = space.prototypes.vectors.detach()[:0].reshape(0, space.prototypes.dimension)
        return mapped_vectors(space, like, kind, side="second").shape[1]


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
                digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:16]
