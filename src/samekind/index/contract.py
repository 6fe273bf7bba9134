"""The protocol of every index, and the checks that all of them share."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, Protocol, Self, cast, get_args

from torch import Tensor

from samekind.errors import SettingError, SpaceError, nearest
from samekind.similarities import Cosine, Dot, Euclidean, Similarity

Score = Literal["cosine", "dot", "euclidean"]
Metadata = Mapping[str, Any]  # what JSON can hold
#: All scores of queries (n, d) and vectors (m, d), as (n, m); or a similarity, such as ``space.scorer()``.
Scorer = Similarity | Callable[[Tensor, Tensor], Tensor]

SCORES: dict[str, type[Cosine] | type[Dot] | type[Euclidean]] = {
    "cosine": Cosine,
    "dot": Dot,
    "euclidean": Euclidean,
}
#: With more ids than these, an unknown id is refused without naming the nearest.
MOST_COMPARED = 10_000


class Found(NamedTuple):
    """The best stored vectors of each query, best first; equal scores in the order they were added."""

    scores: Tensor  # (queries, k)
    ids: list[list[str]]  # (queries, k)


class Index(Protocol):
    """Vectors under ids, and the best of them for a query.

    Ids are texts, in the order they were added; replacing one moves it to the end. ``notes`` is any JSON to
    keep with the index, by name; ``save`` writes it. A refused call changes nothing.
    """

    dimension: int
    score: Score
    fingerprint: str  # of the space the vectors come from; may be empty
    notes: dict[str, Any]

    @property
    def backend(self) -> str:
        """The name of its class in folders and answers, such as "Exact" or "Faiss"."""

    @property
    def exact(self) -> bool:
        """Whether every search compares all vectors, so that it misses nothing."""

    @property
    def remote(self) -> bool:
        """Whether the vectors are on a server; a folder then holds the address alone."""

    @property
    def built(self) -> str | None:
        """The structure that finds candidates, such as "hnsw"; None if there is none, or it is a server's."""

    @property
    def url(self) -> str | None:
        """The address of the server, without its password; None for an index in a folder."""

    @property
    def name(self) -> str | None:
        """The name of the index on its server; None for an index in a folder."""

    def __len__(self) -> int: ...

    def __contains__(self, id: object) -> bool: ...

    def __iter__(self) -> Iterator[str]:
        """The ids, in the order they were added."""

    def metadata(self, ids: Sequence[str]) -> list[Metadata]:
        """The metadata of these ids, in their order; empty if none was given."""

    def vectors(self, ids: Sequence[str] | None = None) -> Tensor:
        """The vectors (n, dimension) of these ids, in their order; of all, in the order added, if None."""

    def add(
        self,
        ids: Sequence[str],
        vectors: Tensor,
        metadata: Sequence[Metadata] | None = None,
        *,
        replace: bool = False,
    ) -> None:
        """Store vectors (n, dimension) under n new ids, with a JSON object each.

        With ``replace`` an id may be known: its old vector is removed, and the new one counts as added last.
        Once the index lives in a folder or on a server, the addition is durable when this returns.
        """

    def remove(self, ids: Sequence[str]) -> None:
        """Remove vectors, as durably as they are added; an unknown id is an error."""

    def search(self, queries: Tensor, k: int, *, scorer: Scorer | None = None) -> Found:
        """The min(k, n) best stored vectors of each query (q, dimension).

        ``scorer`` replaces the index's own score: a similarity such as ``space.scorer()``, or a function of
        queries and vectors that returns all scores. All stored vectors are then compared.
        """

    def save(self, folder: str | Path) -> None:
        """Write the index to a folder, whole or not at all; from now on it lives there."""

    @classmethod
    def open(cls, folder: str | Path, *, fingerprint: str | None = None) -> Self:
        """Read an index; raises SpaceError if it is damaged, or of another space than ``fingerprint``."""

    def close(self) -> None:
        """Give back files, locks and connections; nothing is lost."""


def check_made(dimension: int, score: str) -> None:
    """Raise SettingError for a dimension or score that no index has."""
    if score not in get_args(Score):
        raise SettingError(f'there is no score "{score}"; {nearest(str(score), get_args(Score))}')
    if dimension < 1:
        raise SettingError(f"vectors have a dimension of at least 1, got {dimension}")


def check_wanted(k: int) -> None:
    """Raise SettingError unless k is 1 or more."""
    if k < 1:
        raise SettingError(f"asked for the {k} nearest; ask for 1 or more")


def check_new_ids(ids: Sequence[str], held: Container[str]) -> None:
    """Raise SettingError for ids that cannot be added to ``held`` (empty if they may be replaced)."""
    if isinstance(ids, str) or not all(isinstance(id, str) and id for id in ids):
        raise SettingError(f"ids are a list of texts, none of them empty; got {str(ids)[:80]}")
    if len(set(ids)) < len(ids):
        twice, _ = Counter(ids).most_common(1)[0]
        raise SettingError(f'the id "{twice}" comes twice; give every vector its own')
    if any("\0" in id for id in ids):
        raise SettingError("an id holds the character NUL (0), which is not allowed in an id; remove it")
    known = [id for id in ids if id in held]
    if known:
        more = f" and {len(known) - 1} more" if len(known) > 1 else ""
        raise SettingError(f'the id "{known[0]}"{more} is already there; ask to replace it')


def check_list(ids: Sequence[str]) -> None:
    """Raise SettingError for one text in place of a list of ids."""
    if isinstance(ids, str):
        raise SettingError(f'ids are a list of texts; for one id give a list of one, ["{ids[:80]}"]')


def refuse_unknown(id: str, held: Collection[str]) -> NoReturn:
    """Refuse an unknown id; names the nearest known one if there are few."""
    few = len(held) <= MOST_COMPARED
    raise SettingError(
        f'there is no id "{id}"; ' + (nearest(id, held) if few else f"the index has {len(held)} other ids")
    )


def refuse_another_space(where: object) -> NoReturn:
    """Refuse an index of another space."""
    raise SpaceError(
        f"{where} was made with another space: their vectors cannot be compared; "
        "use that space, or make the index again with this one"
    )


def checked(vectors: Tensor, *, dimension: int, count: int) -> Tensor:
    """Vectors (count, dimension) as float32; raises SettingError for another shape, NaN or infinity."""
    if vectors.ndim != 2 or vectors.shape != (count, dimension):
        raise SettingError(f"expected vectors ({count}, {dimension}), got {tuple(vectors.shape)}")
    vectors = vectors.detach().float()
    if not vectors.isfinite().all():
        raise SettingError("a vector is not finite (NaN or infinity); look at the item it came from")
    return vectors


def checked_queries(queries: Tensor, k: int, *, dimension: int) -> Tensor:
    """Queries (q, dimension) as `checked` gives them, for the k nearest of each."""
    check_wanted(k)
    return checked(queries, dimension=dimension, count=len(queries))


def as_json(notes: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Notes as JSON; raises SettingError for what JSON cannot hold."""
    try:
        return json.dumps(notes, indent=indent, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SettingError(f"notes are what JSON can hold: {error}") from error


def as_texts(metadata: Sequence[Metadata] | None, *, count: int) -> list[str]:
    """The metadata of ``count`` ids as JSON objects, one line each; "{}" if there is none."""
    if metadata is None:
        return ["{}"] * count
    if len(metadata) != count:
        raise SettingError(f"expected metadata for each of {count} ids, got {len(metadata)}")
    try:
        return [json.dumps(dict(entry), allow_nan=False) for entry in metadata]
    except (TypeError, ValueError) as error:
        raise SettingError(f"metadata is what JSON can hold: {error}") from error


class _Function:
    """A function that returns all scores, as the similarity that blocks need."""

    def __init__(self, score_all: Callable[[Tensor, Tensor], Tensor]) -> None:
        self.score_all = score_all

    def pair_bytes(self, dimension: int) -> int:
        """The memory of a pair: assumed to be its two vectors."""
        return 8 * dimension


def as_similarity(scorer: Scorer | None, *, score: Score) -> Similarity:
    """The scorer or, if None, the index's own score, as a similarity."""
    if scorer is None:
        return cast(Similarity, SCORES[score]())
    return cast(Similarity, scorer if hasattr(scorer, "score_all") else _Function(scorer))
