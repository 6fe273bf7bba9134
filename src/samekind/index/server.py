"""Shared by indexes on a server: names, addresses without passwords, a folder, a search by walking.

Such an index lives on the server, for many clients at once. Its folder holds only ``index.json``, which says
where and what it is. A password is never written; it comes from the address given, from the environment
variable `ADDRESS_VARIABLE`, or from where the server's own tools look for it.
"""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import torch
from torch import Tensor

from samekind.errors import SettingError, SpaceError
from samekind.index import contract
from samekind.index import folder as folders
from samekind.index.best import best_of
from samekind.index.contract import Found, Metadata, Score, Scorer
from samekind.settings import Between, typed
from samekind.similarities import score_all

T = TypeVar("T")

#: An address in this variable replaces the one in the folder, if it is for the same kind of server.
ADDRESS_VARIABLE = "SAMEKIND_INDEX_URL"
#: Without quotes, capitals or dots a name means the same in every server.
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
#: In bytes; a B-tree of PostgreSQL takes up to a third of a page.
LONGEST_ID = 2000


#: What a header says about an index on a server.
HEADER: dict[str, Any] = {
    "dimension": Annotated[int, Between(1)],
    "score": Score,
    "fingerprint": str,
    "url": str,
    "name": str,
}


class Purpose(NamedTuple):
    """The purpose of an index; stored on the server, so that no client adds other vectors."""

    dimension: int
    score: Score
    fingerprint: str


def check_name(name: str) -> None:
    """Raise SettingError for a name that would need quoting."""
    if not NAME.fullmatch(name):
        raise SettingError(
            f'"{name}" cannot be the name of an index on a server: expected a small letter, then up to 39 '
            "small letters, digits and underscores"
        )


def check_dimension(dimension: int, most: int, *, what: str) -> None:
    """Raise SettingError for more numbers a vector than a server (``what``) keeps."""
    if dimension > most:
        raise SettingError(f"{what} keeps vectors of up to {most:,} numbers, not {dimension:,}")


def check_same(wanted: Purpose, held: Purpose, *, where: str) -> None:
    """Raise SpaceError if an index was made for something else."""
    other = ""
    if wanted.dimension != held.dimension:
        other = f"holds vectors of dimension {held.dimension}, not {wanted.dimension}"
    elif wanted.score != held.score:
        other = f"was made for the score {held.score}, not {wanted.score}"
    if other:
        raise SpaceError(f"{where} {other}; choose another name for the new index")
    if wanted.fingerprint != held.fingerprint:
        contract.refuse_another_space(where)


def check_storable(ids: Sequence[str], texts: Sequence[str]) -> None:
    """Raise SettingError for ids and metadata (JSON texts) that a server cannot keep."""
    for id in ids:
        if not _writable(id):
            raise SettingError(f"the id {id!r} holds a character that a server cannot store; remove it")
        if (size := len(id.encode())) > LONGEST_ID:
            raise SettingError(f'the id "{id[:40]}..." has {size} bytes; a server keeps up to {LONGEST_ID}')
    for line in texts:
        # json.dumps writes non-ASCII characters as \\uXXXX: only such lines need a look.
        if "\\u" in line and not all(_writable(text) for text in _texts_in(json.loads(line))):
            raise SettingError(
                "metadata holds a character that a server cannot store (NUL, or half of a pair)"
            )


def checked_rows(
    ids: Sequence[str], vectors: Tensor, metadata: Sequence[Metadata] | None, *, dimension: int
) -> tuple[Tensor, list[str]]:
    """Vectors (n, dimension) and metadata (JSON texts) of new ids, once a server can keep all of it."""
    contract.check_new_ids(ids, ())
    values = contract.checked(vectors, dimension=dimension, count=len(ids))
    texts = contract.as_texts(metadata, count=len(ids))
    check_storable(ids, texts)
    return values, texts


def storable(id: object) -> bool:
    """Whether something can be an id on a server."""
    return isinstance(id, str) and id != "" and _writable(id)


def in_order_of(ids: Sequence[str], held: Mapping[str, T], known: Collection[str]) -> list[T]:
    """The values held under ids, in their order; a missing id is refused, with the nearest ``known`` one."""
    for id in ids:
        if id not in held:
            contract.refuse_unknown(id, known)
    return [held[id] for id in ids]


def missing(package: str, *, extra: str) -> SettingError:
    """The error for a client library that is not installed."""
    return SettingError(f"this index needs {package}: pip install 'samekind[{extra}]'")


def address(saved: str, schemes: Sequence[str]) -> str:
    """The address in the environment if it has one of these schemes, else the saved one."""
    given = os.environ.get(ADDRESS_VARIABLE, "")
    return given if given.partition("://")[0] in schemes else saved


def without_password(url: str) -> str:
    """An address that may be shown and saved.

    >>> without_password("http://anna:secret@localhost:19530/faces")
    'http://anna@localhost:19530/faces'
    """
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=user.partition(":")[0] + at + host, query="", fragment="").geturl()


def notes_as_text(notes: Mapping[str, Any]) -> str:
    """Notes as JSON; raises SettingError for what a server cannot keep."""
    text = contract.as_json(notes)
    check_storable([], [text])
    return text


def save(folder: str | Path, backend: str, purpose: Purpose, content: Mapping[str, Any]) -> None:
    """Write the folder that says where an index is; ``content`` is what its backend needs besides."""
    folders.write(Path(folder), {"kind": backend, **purpose._asdict(), **content})


def read(folder: str | Path, backend: str, *, fingerprint: str | None) -> tuple[Purpose, dict[str, Any]]:
    """The content that `save` wrote; raises SpaceError for another space than ``fingerprint``."""
    header = folders.read(Path(folder), backend=backend)
    try:
        values = {name: typed(hint, header[name], name) for name, hint in HEADER.items()}
    except KeyError as error:
        raise SpaceError(f"{folder} is damaged: index.json lacks {error}; make the index again") from error
    except SettingError as error:
        raise SpaceError(f"{folder} is damaged: {error}; make the index again") from error
    purpose = Purpose(**{name: values[name] for name in Purpose._fields})
    if fingerprint is not None and fingerprint != purpose.fingerprint:
        contract.refuse_another_space(folder)
    return purpose, header


def rows_at_once(queries: int, dimension: int) -> int:
    """The number of vectors to fetch at a time: some 32 MiB of them, and of scores."""
    return max(64, min(10_000, 2**23 // dimension, 2**23 // max(1, queries)))


def best_while_walking(
    walk: Iterable[tuple[Sequence[str], Tensor]],
    queries: Tensor,
    k: int,
    *,
    scorer: Scorer | None,
    score: Score,
) -> Found:
    """The k best of ids and vectors that come block by block, in the order added.

    Holds one block and the best so far; compares on the queries' device.
    """
    similarity = contract.as_similarity(scorer, score=score)
    every = slice(0, len(queries))
    best, ids = torch.empty(len(queries), 0), [list[str]() for _ in range(len(queries))]
    for names, vectors in walk:
        held = best.shape[1]
        with torch.no_grad():
            scores = score_all(similarity, queries, vectors.to(queries.device))
        # The best so far stand first, so that of equals the one added first stays ahead.
        earlier = [(every, slice(0, held), best)] if held else []
        best, which = best_of([*earlier, (every, slice(held, held + len(names)), scores)], k=k)
        ids = [
            [before[place] if place < held else names[place - held] for place in row]
            for before, row in zip(ids, which.tolist(), strict=True)
        ]
    return Found(best, ids)


def in_order(rows: Sequence[Sequence[tuple[float, Any, str]]], k: int) -> Found:
    """The k best of the (score, place, id) that a server found for each query; equals by their place."""
    ordered = [sorted(row, key=lambda hit: (-hit[0], hit[1]))[:k] for row in rows]
    scores = torch.tensor([[score for score, _, _ in row] for row in ordered], dtype=torch.float32)
    return Found(scores.reshape(len(rows), -1), [[id for _, _, id in row] for row in ordered])


def _writable(text: str) -> bool:
    """Whether a database can hold a text: no half of a surrogate pair, no NUL."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _texts_in(value: object) -> Iterator[str]:
    """Every text in a JSON value, with the keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for entry in value:
            yield from _texts_in(entry)
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield key
            yield from _texts_in(entry)
