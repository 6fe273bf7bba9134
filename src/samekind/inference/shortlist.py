"""Two-stage search: a shortlist by the index, then the similarity itself over those few.

An index knows its own score alone. It proposes candidates, near the query or where a map of the query points
(`distil`), and the similarity ranks them, the query in the first place. How many candidates that takes is not
guessed but measured (`fit_shortlist`), and kept in the index's notes.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SettingError, SpaceError
from samekind.index import Found, Index
from samekind.index.contract import SCORES, check_wanted
from samekind.inference.distil import QueryMap
from samekind.inference.embed import asking, device_of
from samekind.parts import describe, room_of
from samekind.similarities import Similarity, score_all
from samekind.space import MetricSpace

#: The name of the note.
NOTE = "shortlist"
#: How often a search begins again because candidates were removed by somebody else.
ATTEMPTS = 3
#: Candidates whose vectors are fetched at a time.
MOST_FETCHED = 2**16


@dataclass(frozen=True)
class Shortlist:
    """How many candidates of an index the similarity has to see, and what that finds.

    ``recall`` is the share of the true ``k`` best that is found, measured with ``sample`` stored vectors as
    queries in an index of ``count``, and ``interval`` where it lies at 95 %; its lower end is at least
    ``wanted``. ``size`` None: no shortlist short enough to be worth it does that, so everything is compared.
    ``plain_size`` is what it takes without the map of the query. ``similarity`` tells what it was measured
    for. ``distilled`` and ``seed`` are what was chosen for the measurement: whether a map was tried, and
    which sample was drawn; measuring again keeps to them.
    """

    kind: Kind
    size: int | None
    k: int
    recall: float
    interval: tuple[float, float]
    wanted: float
    sample: int
    count: int
    similarity: str
    plain_size: int | None = None
    query_map: QueryMap | None = None
    distilled: bool = True
    seed: int = 0

    def size_for(self, k: int, count: int) -> int | None:
        """How many candidates to take for the k best of ``count``; None where everything is compared.

        Up to the measured ``k`` and ``count`` it is what was measured. For more nearest, or in an index that
        has grown, the size grows in proportion, and its recall is no longer a measured one. More than half
        of the index is not worth a shortlist.
        """
        if self.size is None:
            return None
        size = math.ceil(self.size * max(1.0, k / self.k) * max(1.0, count / self.count))
        return size if max(size, k) <= count // 2 else None

    def to_note(self) -> dict[str, Any]:
        """As JSON has it."""
        note = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return note | {"query_map": self.query_map.to_note() if self.query_map is not None else None}

    @classmethod
    def from_note(cls, note: Mapping[str, Any]) -> Self:
        """What `to_note` wrote; anything else is refused."""
        try:
            mapped = note["query_map"]
            made = cls(
                **{
                    **note,
                    "interval": tuple(note["interval"]),
                    "query_map": QueryMap.from_note(mapped) if mapped is not None else None,
                }
            )
        except (KeyError, TypeError) as error:
            raise SpaceError(
                f"the index is damaged: its shortlist cannot be read ({error}); make the index again"
            ) from error
        numbers = (made.k, made.count, made.sample, 1 if made.size is None else made.size)
        if not all(type(each) is int and each > 0 for each in numbers):
            raise SpaceError("the index is damaged: its shortlist has no size; make the index again")
        return made


def shortlist_of(space: MetricSpace, index: Index, kind: Kind = "similarity") -> Shortlist | None:
    """The shortlist an index was measured for with this similarity; None where it was not."""
    notes = _notes(index)
    if kind not in notes:
        return None
    found = Shortlist.from_note(notes[kind])
    return found if found.similarity == similarity_fingerprint(space, kind) else None


def keep_shortlist(index: Index, shortlist: Shortlist) -> None:
    """Note a shortlist in the index, beside those of other kinds of score; ``save`` writes it."""
    index.notes[NOTE] = {**_notes(index), shortlist.kind: shortlist.to_note()}


def shortlists_in(index: Index) -> list[Shortlist]:
    """All shortlists an index holds, whatever they were measured for."""
    return [Shortlist.from_note(each) for each in _notes(index).values()]


def _notes(index: Index) -> dict[str, Any]:
    """The notes of the shortlists by their kind of score; none where somebody else used the name."""
    notes = index.notes.get(NOTE)
    return notes if isinstance(notes, dict) else {}


def similarity_fingerprint(space: MetricSpace, kind: Kind) -> str:
    """Tells the similarities of two spaces apart: an index outlives a change of it, a shortlist does not."""
    digest = hashlib.sha256(kind.encode())
    # The cosine of two vectors is the same in every space.
    if kind != "cosine":
        part = space.similarity
        known = describe(part) if room_of(part) is not None else type(part).__qualname__
        digest.update(json.dumps(known, sort_keys=True).encode())
        for name, each in sorted(space.state_dict().items()):
            if name.startswith("similarity."):
                digest.update(name.encode())
                digest.update(each.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:16]


def search_index(
    space: MetricSpace, index: Index, queries: Tensor, k: int, *, kind: Kind = "similarity"
) -> Found:
    """The min(k, n) best stored vectors of each query (q, d) by a kind of the space's scores.

    With a measured shortlist (`fit_shortlist`) the index proposes that many and the similarity chooses among
    them; what it proposes for a ``k`` beyond the measured one is said by `Shortlist.size_for`. Without one,
    the index's own score is its own answer, and any other score is asked of everything that is stored: slow
    in a large index, and right. Equal scores come in the index's order. The index is taken to be that of the
    space: ``open_index(folder, fingerprint=…)`` refuses any other.
    """
    check_wanted(k)
    scorer = space.scorer(kind)
    queries = queries.to(device_of(space))
    with asking(space):
        shortlist = shortlist_of(space, index, kind)
        if shortlist is None and is_own(scorer, index):
            return index.search(queries, k)
        size = shortlist.size_for(k, len(index)) if shortlist is not None else None
        if shortlist is not None and size is not None and len(queries):
            points = mapped(shortlist.query_map, queries)
            for _ in range(ATTEMPTS):
                candidates = index.search(points, max(size, k)).ids
                if min(map(len, candidates)) < k:
                    break  # fewer are left than there were
                with suppress(SettingError):  # others may take a candidate out of a shared index meanwhile
                    return reranked(index, scorer, queries, candidates, k)
        return index.search(queries, k, scorer=scorer)


def is_own(scorer: Similarity, index: Index) -> bool:
    """Whether a scorer is what the index goes by."""
    return type(scorer) is SCORES[index.score]


def mapped(query_map: QueryMap | None, queries: Tensor) -> Tensor:
    """Where the index is asked."""
    if query_map is None:
        return queries
    points: Tensor = query_map.to(queries.device)(queries)
    return points


def reranked(
    index: Index, scorer: Similarity, queries: Tensor, candidates: Sequence[Sequence[str]], k: int
) -> Found:
    """The k best candidates (q, at least k) of each query, by the scorer."""
    strip = max(1, MOST_FETCHED // max(1, max(map(len, candidates))))
    scores, ids = [], []
    for top in range(0, len(queries), strip):
        here = candidates[top : top + strip]
        names = list(dict.fromkeys(each for row in here for each in row))
        place = {name: number for number, name in enumerate(names)}
        vectors = index.vectors(names).to(queries.device)
        for query, row in zip(queries[top : top + strip], here, strict=True):
            own = vectors[torch.tensor([place[each] for each in row], device=queries.device)]
            found = score_all(scorer, query[None], own)[0].float().cpu()
            if found.isnan().any():
                raise SpaceError("a score is not a number (NaN); look at the vectors and at the similarity")
            best = found.sort(descending=True, stable=True)
            scores.append(best.values[:k])
            ids.append([row[each] for each in best.indices[:k].tolist()])
    return Found(torch.stack(scores), ids)
