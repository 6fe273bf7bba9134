"""Two-stage search: a shortlist by the index, then the similarity itself over those few.

An index knows its own score alone. It proposes candidates near the query, or near a mapped query
(`distil`), and the similarity ranks them, with the query as first argument. How many candidates are needed
is measured (`fit_shortlist`), and stored in the index's notes.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self, get_type_hints

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SettingError, SpaceError
from samekind.index import Found, Index
from samekind.index.contract import SCORES, check_wanted
from samekind.index.mapped import check_stored, similarity_fingerprint, vectors_to_find
from samekind.inference.distil import QueryMap
from samekind.inference.embed import asking, device_of
from samekind.settings import typed
from samekind.similarities import Similarity, score_all
from samekind.space import MetricSpace

#: The name of the note.
NOTE = "shortlist"
#: How often a search starts again after another process removed candidates.
ATTEMPTS = 3
#: Candidates whose vectors are fetched at a time.
MOST_FETCHED = 2**16


@dataclass(frozen=True)
class Shortlist:
    """How many candidates of an index the similarity has to rank, and the recall of that.

    ``recall`` is the share of the true ``k`` best that is found, measured with ``sample`` stored vectors as
    queries in an index of ``count``; ``interval`` is its 95 % interval, whose lower end is at least
    ``wanted``. With ``size`` None no shortlist is short enough, and everything is compared. ``plain_size``
    is the size without the map of the query. ``similarity`` is the fingerprint of the similarity.
    ``distilled`` (whether a map was tried) and ``seed`` (of the sample) are the settings of the
    measurement, for the next one.
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
        """How many candidates to take for the k best of ``count``; None if everything is compared.

        Beyond the measured ``k`` and ``count`` the size grows in proportion, and its recall was not measured.
        A list of more than half of the index is not used.
        """
        if self.size is None:
            return None
        size = math.ceil(self.size * max(1.0, k / self.k) * max(1.0, count / self.count))
        return size if max(size, k) <= count // 2 else None

    def to_note(self) -> dict[str, Any]:
        """The shortlist as JSON."""
        note = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return note | {"query_map": self.query_map.to_note() if self.query_map is not None else None}

    @classmethod
    def from_note(cls, note: Mapping[str, Any]) -> Self:
        """The shortlist in the output of `to_note`. Raises SpaceError for anything else."""
        try:
            query_map = note["query_map"]
            hints = {name: hint for name, hint in get_type_hints(cls).items() if name != "query_map"}
            values = {name: typed(hint, note[name], name) for name, hint in hints.items() if name in note}
            if unknown := set(note).difference(hints, ["query_map"]):
                raise TypeError(f"it has {min(unknown)}")
            query_map = QueryMap.from_note(query_map) if query_map is not None else None
            shortlist = cls(**values, query_map=query_map)
        except (KeyError, TypeError, SettingError) as error:
            raise SpaceError(
                f"the index is damaged: its shortlist cannot be read ({error}); make the index again"
            ) from error
        size = 1 if shortlist.size is None else shortlist.size
        numbers = (shortlist.k, shortlist.count, shortlist.sample, size)
        if not all(type(number) is int and number > 0 for number in numbers):
            raise SpaceError("the index is damaged: its shortlist has no size; make the index again")
        return shortlist


def shortlist_of(space: MetricSpace, index: Index, kind: Kind | None = None) -> Shortlist | None:
    """The shortlist that was measured for an index with this similarity, if any."""
    kind = kind or space.kind_for("neighbours")
    notes = _notes(index)
    if kind not in notes:
        return None
    shortlist = Shortlist.from_note(notes[kind])
    return shortlist if shortlist.similarity == similarity_fingerprint(space, kind) else None


def keep_shortlist(index: Index, shortlist: Shortlist) -> None:
    """Note a shortlist in the index, beside those of other kinds of score; ``save`` writes it."""
    index.notes[NOTE] = {**_notes(index), shortlist.kind: shortlist.to_note()}


def shortlists_in(index: Index) -> list[Shortlist]:
    """All shortlists of an index, of any similarity."""
    return [Shortlist.from_note(note) for note in _notes(index).values()]


def _notes(index: Index) -> dict[str, Any]:
    """The notes of the shortlists by their kind of score; empty if something else uses the name."""
    notes = index.notes.get(NOTE)
    return notes if isinstance(notes, dict) else {}


def search_index(
    space: MetricSpace, index: Index, queries: Tensor, k: int, *, kind: Kind | None = None
) -> Found:
    """The min(k, n) best stored vectors of each query (q, d) by a kind of the space's scores.

    With a measured shortlist (`fit_shortlist`) the index proposes candidates and the similarity ranks them;
    see `Shortlist.size_for` for their number. Without one, the index answers by its own score, and for any
    other score everything is compared, which is exact and slow in a large index. An index of mapped vectors
    (`index.mapped`) goes by the kind of score it was made for. Equal scores come in the index's order. The
    index must be one of this space: ``open_index(folder, fingerprint=…)`` checks that.
    """
    kind = kind or space.kind_for("neighbours")
    check_wanted(k)
    scorer = space.scorer(kind)
    queries = queries.to(device_of(space))
    with asking(space):
        if check_stored(index, kind):
            return index.search(vectors_to_find(space, index, queries), k)
        shortlist = shortlist_of(space, index, kind)
        if shortlist is None and is_own(scorer, index):
            return index.search(queries, k)
        size = shortlist.size_for(k, len(index)) if shortlist is not None else None
        if shortlist is not None and size is not None and len(queries):
            points = mapped(shortlist.query_map, queries)
            for _ in range(ATTEMPTS):
                candidates = index.search(points, max(size, k)).ids
                if min(map(len, candidates)) < k:
                    break  # the index has become smaller
                with suppress(SettingError):  # another process may remove a candidate meanwhile
                    return reranked(index, scorer, queries, candidates, k)
        return index.search(queries, k, scorer=scorer)


def is_own(scorer: Similarity, index: Index) -> bool:
    """Whether a scorer is the index's own score."""
    return type(scorer) is SCORES[index.score]


def mapped(query_map: QueryMap | None, queries: Tensor) -> Tensor:
    """The points at which the index is searched."""
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
        names = list(dict.fromkeys(id for row in here for id in row))
        place = {name: number for number, name in enumerate(names)}
        vectors = index.vectors(names).to(queries.device)
        for query, row in zip(queries[top : top + strip], here, strict=True):
            own = vectors[torch.tensor([place[id] for id in row], device=queries.device)]
            row_scores = score_all(scorer, query[None], own)[0].float().cpu()
            if row_scores.isnan().any():
                raise SpaceError("a score is NaN; look at the vectors and at the similarity")
            best = row_scores.sort(descending=True, stable=True)
            scores.append(best.values[:k])
            ids.append([row[index] for index in best.indices[:k].tolist()])
    return Found(torch.stack(scores), ids)
