"""The exact index: every query is compared with every stored vector, block by block."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, cast, get_args

import safetensors.torch
import torch
from torch import Tensor

from samekind.errors import SettingError, SpaceError, nearest
from samekind.index import folder as folders
from samekind.index.best import best_of
from samekind.similarities import Cosine, Dot, Euclidean, Similarity, blocks

Score = Literal["cosine", "dot", "euclidean"]
Metadata = Mapping[str, Any]  # what JSON can hold
#: All scores of queries (n, d) and vectors (m, d), as (n, m); or a similarity, such as ``space.scorer()``.
Scorer = Similarity | Callable[[Tensor, Tensor], Tensor]

SCORES: dict[str, type[Cosine] | type[Dot] | type[Euclidean]] = {
    "cosine": Cosine,
    "dot": Dot,
    "euclidean": Euclidean,
}
FILES = ("items.jsonl", "vectors.safetensors")


class Found(NamedTuple):
    """The best stored vectors of each query, best first; equal scores in the order they were added."""

    scores: Tensor  # (queries, k)
    ids: list[list[str]]  # (queries, k)


class Exact:
    """Stored vectors (n, dimension), float32, each under an id, and the best of them for a query.

    ``score`` is what a search goes by: the cosine, the inner product ("dot") or the negative distance
    ("euclidean"). ``fingerprint`` is that of the space the vectors come from (`space_fingerprint`); empty
    where nobody needs to know.

    >>> index = Exact(2, score="dot")
    >>> index.add(["north", "east"], torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    >>> index.search(torch.tensor([[0.1, 0.9]]), 5).ids
    [['north', 'east']]
    """

    def __init__(self, dimension: int, *, score: Score = "cosine", fingerprint: str = "") -> None:
        if score not in get_args(Score):
            raise SettingError(f'there is no score "{score}"; {nearest(str(score), get_args(Score))}')
        if dimension < 1:
            raise SettingError(f"vectors have a dimension of at least 1, got {dimension}")
        self.dimension = dimension
        self.score = score
        self.fingerprint = fingerprint
        self._items: dict[str, Metadata] = {}  # in the order of the vectors
        self._stored = [torch.empty(0, dimension)]  # joined when they are needed, not at every addition

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, id: object) -> bool:
        return id in self._items

    def __iter__(self) -> Iterator[str]:
        """The ids, in the order they were added."""
        return iter(self._items)

    def metadata(self, id: str) -> Metadata:
        """What was stored with an id; empty where nothing was."""
        self._known([id])
        return self._items[id]

    def add(
        self,
        ids: Sequence[str],
        vectors: Tensor,
        metadata: Sequence[Metadata] | None = None,
        *,
        replace: bool = False,
    ) -> None:
        """Store vectors (n, dimension) under n ids that are not there yet, with a JSON object each.

        With ``replace`` an id that is there is removed first: its new vector counts as added last.
        """
        self._check_ids(ids, replace=replace)
        values = checked(vectors, dimension=self.dimension, count=len(ids))
        described = [dict(each) for each in metadata] if metadata is not None else [{} for _ in ids]
        if len(described) != len(ids):
            raise SettingError(f"expected metadata for each of {len(ids)} ids, got {len(described)}")
        if metadata is not None:
            _as_lines(ids, described)  # refuses now what could not be saved later
        if replace:
            self.remove([each for each in ids if each in self._items])
        self._items |= dict(zip(ids, described, strict=True))
        self._stored.append(values.cpu().clone())

    def remove(self, ids: Sequence[str]) -> None:
        """Forget vectors; an id that is not there is an error."""
        self._known(ids)
        gone = set(ids)
        kept = torch.tensor([each not in gone for each in self._items], dtype=torch.bool)
        self._stored = [self.vectors()[kept]]
        self._items = {each: held for each, held in self._items.items() if each not in gone}

    def vectors(self) -> Tensor:
        """All vectors (n, dimension), in the order they were added."""
        if len(self._stored) > 1:
            self._stored = [torch.cat(self._stored)]
        return self._stored[0]

    def search(
        self, queries: Tensor, k: int, *, scorer: Scorer | None = None, memory_budget: int | None = None
    ) -> Found:
        """The min(k, n) best stored vectors of each query (q, dimension), compared on the queries' device.

        ``scorer`` takes the place of the index's own score, the query in the first place: a similarity such
        as ``space.scorer()``, or a function that gives all scores of queries and vectors. A score ties with
        another where the two are equal to the last digit.
        """
        if k < 1:
            raise SettingError(f"asked for the {k} nearest; ask for 1 or more")
        queries = checked(queries, dimension=self.dimension, count=len(queries))
        similarity = _as_similarity(scorer if scorer is not None else SCORES[self.score]())
        with torch.no_grad():
            walk = blocks(similarity, queries, self.vectors().to(queries.device), memory_budget=memory_budget)
            scores, which = best_of(walk, k=k)
        if not scores.numel():
            return Found(torch.empty(len(queries), min(k, len(self))), [[] for _ in range(len(queries))])
        names = list(self._items)
        return Found(scores, [[names[place] for place in row] for row in which.tolist()])

    def save(self, folder: str | Path) -> None:
        """Write the index as a folder, whole or not at all; an older index there is replaced."""
        content = {
            "kind": "Exact",
            "dimension": self.dimension,
            "score": self.score,
            "fingerprint": self.fingerprint,
            "count": len(self),
        }

        def fill(draft: Path) -> None:
            lines = _as_lines(self._items, list(self._items.values()))
            (draft / "items.jsonl").write_text(lines, encoding="utf-8")
            safetensors.torch.save_file({"vectors": self.vectors()}, draft / "vectors.safetensors")

        folders.write(Path(folder), content, files=FILES, fill=fill)

    @classmethod
    def open(cls, folder: str | Path, *, fingerprint: str | None = None) -> Self:
        """Read an index; one that is damaged, or was made with another space than that of the
        ``fingerprint``, is refused.
        """
        header = folders.read(Path(folder), kind="Exact", files=FILES)
        try:
            index = cls(header["dimension"], score=header["score"], fingerprint=header["fingerprint"])
            text = (Path(folder) / "items.jsonl").read_text(encoding="utf-8")
            items = [json.loads(line) for line in text.split("\n")[:-1]]
            vectors = safetensors.torch.load_file(Path(folder) / "vectors.safetensors")["vectors"]
            index.add([each["id"] for each in items], vectors, [each["metadata"] for each in items])
        except (KeyError, TypeError, ValueError, SettingError) as error:
            raise SpaceError(f"{folder} is damaged: {error}; restore it or make the index again") from error
        if fingerprint is not None and fingerprint != index.fingerprint:
            raise SpaceError(
                f"{folder} was made with another space: their vectors cannot be compared; "
                "use that space, or make the index again with this one"
            )
        return index

    def _check_ids(self, ids: Sequence[str], *, replace: bool) -> None:
        if isinstance(ids, str) or not all(isinstance(each, str) and each for each in ids):
            raise SettingError(f"ids are a list of texts, none of them empty; got {str(ids)[:80]}")
        if len(set(ids)) < len(ids):
            twice = next(each for place, each in enumerate(ids) if each in ids[:place])
            raise SettingError(f'the id "{twice}" comes twice; give every vector its own')
        known = [] if replace else [each for each in ids if each in self._items]
        if known:
            more = f" and {len(known) - 1} more" if len(known) > 1 else ""
            raise SettingError(f'the id "{known[0]}"{more} is already there; ask to replace it')

    def _known(self, ids: Sequence[str]) -> None:
        for each in ids:
            if each not in self._items:
                raise SettingError(f'there is no id "{each}"; {nearest(each, self._items)}')


class _Function:
    """A function that gives all scores, with as much of a similarity as blocks need."""

    def __init__(self, score_all: Callable[[Tensor, Tensor], Tensor]) -> None:
        self.score_all = score_all

    def pair_bytes(self, dimension: int) -> int:
        """A function says nothing about its memory: as if it laid every pair's two vectors side by side."""
        return 8 * dimension


def _as_similarity(scorer: Scorer) -> Similarity:
    return cast(Similarity, scorer if hasattr(scorer, "score_all") else _Function(scorer))


def checked(vectors: Tensor, *, dimension: int, count: int) -> Tensor:
    """Vectors (count, dimension) as float32, finite all of them."""
    if vectors.ndim != 2 or vectors.shape != (count, dimension):
        raise SettingError(f"expected vectors ({count}, {dimension}), got {tuple(vectors.shape)}")
    vectors = vectors.detach().float()
    if not vectors.isfinite().all():
        raise SettingError("a vector is not finite (NaN or infinity); look at the item it came from")
    return vectors


def _as_lines(ids: Sequence[str] | Mapping[str, Any], metadata: Sequence[Metadata]) -> str:
    """One JSON object a line, for each id."""
    try:
        lines = [
            json.dumps({"id": each, "metadata": held}, allow_nan=False)
            for each, held in zip(ids, metadata, strict=True)
        ]
    except (TypeError, ValueError) as error:
        raise SettingError(f"metadata is what JSON can hold: {error}") from error
    return "".join(f"{line}\n" for line in lines)
