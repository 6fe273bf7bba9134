"""Make an empty index: its type by name, or by the number of vectors."""

import os
from typing import Literal, cast

from samekind.errors import SettingError, nearest
from samekind.index.contract import Index, Score
from samekind.index.exact import Exact
from samekind.index.faiss_index import Faiss
from samekind.index.milvus import Milvus
from samekind.index.postgres import Postgres
from samekind.index.server import ADDRESS_VARIABLE
from samekind.index.structure_sizes import FLAT_UP_TO

#: The types of index in a folder, and on a server.
FOLDER_TYPES = ("auto", "exact", "flat", "hnsw", "ivf", "pq")
SERVER_TYPES = ("postgres", "milvus")


def check_type(index_type: str) -> None:
    """Raise SettingError for an unknown type of index."""
    known = (*FOLDER_TYPES, *SERVER_TYPES)
    if index_type not in known:
        raise SettingError(f'there is no index type "{index_type}"; {nearest(index_type, known)}')


def server_url(url: str | None) -> str:
    """The given address, or that of the environment, which may hold a password; empty if there is none."""
    return url or os.environ.get(ADDRESS_VARIABLE, "")


def new_index(
    index_type: str,
    dimension: int,
    *,
    count: int,
    score: Score = "cosine",
    fingerprint: str = "",
    url: str | None = None,
    name: str | None = None,
) -> Index:
    """An empty index for about ``count`` vectors; a filled one of that name on a server is an error.

    ``index_type`` is "auto" (by the count), "exact", a structure of `Faiss`, or "postgres" or "milvus", which
    need the ``url`` of a server (or ``SAMEKIND_INDEX_URL`` in the environment) and a ``name``.
    """
    check_type(index_type)
    if index_type in SERVER_TYPES:
        return _on_server(
            index_type, dimension, score=score, fingerprint=fingerprint, url=server_url(url), name=name or ""
        )
    if url or name:
        raise SettingError(
            f"an address and a name are for the types {' and '.join(SERVER_TYPES)}; "
            f"{index_type} is kept in a folder"
        )
    # Up to this size "auto" would choose "flat", which finds the same and needs another package.
    if index_type == "exact" or (index_type == "auto" and count <= FLAT_UP_TO):
        return Exact(dimension, score=score, fingerprint=fingerprint)
    structure = cast(Literal["auto", "flat", "hnsw", "ivf", "pq"], index_type)
    return Faiss(dimension, score=score, structure=structure, fingerprint=fingerprint)


def _on_server(
    index_type: str, dimension: int, *, score: Score, fingerprint: str, url: str, name: str
) -> Index:
    if not url or not name:
        raise SettingError(
            f"an index of the type {index_type} is on a server: give its address "
            f"(here or as {ADDRESS_VARIABLE} in the environment) and a name"
        )
    make = Postgres if index_type == "postgres" else Milvus
    index: Index = make(dimension, score=score, url=url, name=name, fingerprint=fingerprint)
    if filled := len(index):
        raise SettingError(
            f'there is an index "{name}" with {filled:,} vectors on that server; add to it '
            "(with replacement, if its build was interrupted), or choose another name"
        )
    return index
