"""What every index is, and what all of them refuse in the same words."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, Protocol, Self, cast, get_args

import torch
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
#: Among more ids than these nobody waits for the nearest one to be found.
MOST_COMPARED = 10_000


class Found(NamedTuple):
    """The best stored vectors of each query, best first; equal scores in the order they were added."""

    scores: Tensor  # (queries, k)
    ids: list[list[str]]  # (queries, k)


class Index(Protocol):
    """Vectors kept under ids, and the best of them for a query.

    Ids are texts, in the order they were added; replacing one moves it to the end. ``notes`` are whatever
    JSON others want to keep with the index, by name; they are written by ``save``. A call that is refused
    changes nothing.
    """

    dimension: int
    score: Score
    fingerprint: str  # of the space the vectors come from; empty where nobody needs to know
    notes: dict[str, Any]

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
        """What was stored with each of these ids, in their order; empty where nothing was."""

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
        """Store vectors (n, dimension) under n ids that are not there yet, with a JSON object each.

        With ``replace`` an id that is there is removed first: its new vector counts as added last. Once the
        index lives in a folder or on a server, an addition that returned survives the death of the process.
        """

    def remove(self, ids: Sequence[str]) -> None:
        """Forget vectors; an id that is not there is an error. As durable as an addition."""

    def search(self, queries: Tensor, k: int, *, scorer: Scorer | None = None) -> Found:
        """The min(k, n) best stored vectors of each query (q, dimension).

        ``scorer`` takes the place of the index's own score, the query in the first place: a similarity such
        as ``space.scorer()``, or a function that gives all scores. All stored vectors are then compared.
        """

    def save(self, folder: str | Path) -> None:
        """Write the index as a folder, whole or not at all; from now on it lives there."""

    @classmethod
    def open(cls, folder: str | Path, *, fingerprint: str | None = None) -> Self:
        """Read an index; one that is damaged, or of another space than ``fingerprint``, is refused."""

    def close(self) -> None:
        """Give back files, locks and connections; what was added is kept."""


def check_made(dimension: int, score: str) -> None:
    """Refuse what no index can be made with."""
    if score not in get_args(Score):
        raise SettingError(f'there is no score "{score}"; {nearest(str(score), get_args(Score))}')
    if dimension < 1:
        raise SettingError(f"vectors have a dimension of at least 1, got {dimension}")


def check_wanted(k: int) -> None:
    """Refuse to look for nothing."""
    if k < 1:
        raise SettingError(f"asked for the {k} nearest; ask for 1 or more")


def check_new_ids(ids: Sequence[str], held: Container[str]) -> None:
    """Refuse ids that cannot be added to those that are ``held`` (nothing, where they may be replaced)."""
    if isinstance(ids, str) or not all(isinstance(each, str) and each for each in ids):
        raise SettingError(f"ids are a list of texts, none of them empty; got {str(ids)[:80]}")
    if len(set(ids)) < len(ids):
        twice, _ = Counter(ids).most_common(1)[0]
        raise SettingError(f'the id "{twice}" comes twice; give every vector its own')
    if any("\0" in each for each in ids):
        raise SettingError("an id holds the character NUL (0), which not every store can keep; take it out")
    known = [each for each in ids if each in held]
    if known:
        more = f" and {len(known) - 1} more" if len(known) > 1 else ""
        raise SettingError(f'the id "{known[0]}"{more} is already there; ask to replace it')


def check_list(ids: Sequence[str]) -> None:
    """Refuse one id where a list of them is expected: it would be read letter by letter."""
    if isinstance(ids, str):
        raise SettingError(f'ids are a list of texts; for one id give a list of one, ["{ids[:80]}"]')


def refuse_unknown(id: str, held: Collection[str]) -> NoReturn:
    """Say that an id is not among those that are held, with the nearest where there are few."""
    few = len(held) <= MOST_COMPARED
    raise SettingError(f'there is no id "{id}"; ' + (nearest(id, held) if few else f"{len(held)} others are"))


def refuse_another_space(where: object) -> NoReturn:
    """Say that vectors of two spaces cannot be compared."""
    raise SpaceError(
        f"{where} was made with another space: their vectors cannot be compared; "
        "use that space, or make the index again with this one"
    )


def checked(vectors: Tensor, *, dimension: int, count: int) -> Tensor:
    """Vectors (count, dimension) as float32, finite all of them."""
    if vectors.ndim != 2 or vectors.shape != (count, dimension):
        raise SettingError(f"expected vectors ({count}, {dimension}), got {tuple(vectors.shape)}")
    vectors = vectors.detach().float()
    if not vectors.isfinite().all():
        raise SettingError("a vector is not finite (NaN or infinity); look at the item it came from")
    return vectors


def as_texts(metadata: Sequence[Metadata] | None, *, count: int) -> list[str]:
    """The metadata of ``count`` ids as JSON objects, one line each; empty objects where there is none."""
    if metadata is None:
        return ["{}"] * count
    if len(metadata) != count:
        raise SettingError(f"expected metadata for each of {count} ids, got {len(metadata)}")
    try:
        return [json.dumps(dict(each), allow_nan=False) for each in metadata]
    except (TypeError, ValueError) as error:
        raise SettingError(f"metadata is what JSON can hold: {error}") from error


class _Function:
    """A function that gives all scores, with as much of a similarity as blocks need."""

    def __init__(self, score_all: Callable[[Tensor, Tensor], Tensor]) -> None:
        self.score_all = score_all

    def pair_bytes(self, dimension: int) -> int:
        """A function says nothing about its memory: as if it laid every pair's two vectors side by side."""
        return 8 * dimension


def as_similarity(scorer: Scorer | None, *, score: Score) -> Similarity:
    """What blocks are scored with: the scorer or, where there is none, the index's own score."""
    if scorer is None:
        return cast(Similarity, SCORES[score]())
    return cast(Similarity, scorer if hasattr(scorer, "score_all") else _Function(scorer))


def nothing_found(queries: int, columns: int) -> Found:
    """The answer where there are no queries, or nothing to be found."""
    return Found(torch.empty(queries, columns), [[] for _ in range(queries)])
