"""What is most like this? The nearest items of a gallery, for each query."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from samekind.data import Collection
from samekind.data.drawing import at_most
from samekind.decisions import Decision, Kind
from samekind.errors import SettingError, SpaceError
from samekind.index import Exact, Found, Index, space_fingerprint
from samekind.index.folder import check_room, is_index
from samekind.index.mapped import check_stored, stored_kind, vectors_to_find
from samekind.inference import asking, device_of, search_index, with_cohort
from samekind.inference.shortlist import Shortlist, is_own, shortlist_of
from samekind.inference.shortlist_fitting import small_up_to
from samekind.questions.embedded import Embedded, vectors_of
from samekind.questions.galleries import GROWN, fill, open_gallery, path_of, stored_path
from samekind.questions.opening import OpenSpace
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import known_kind
from samekind.questions.shortlists import Advice, advice, reason
from samekind.similarities import Dot
from samekind.space import MetricSpace

#: The most items of a gallery that are its own cohort: each query and each item is compared with all of them.
COHORT = 5_000


class Match(NamedTuple):
    """An item of the gallery; its probability of being the same kind, where the score is calibrated."""

    id: str
    label: str | None
    score: float
    probability: float | None


class Query(NamedTuple):
    """A query and the items most like it, best first."""

    id: str
    label: str | None
    matches: tuple[Match, ...]


class UsedShortlist(NamedTuple):
    """The candidates of a query, and how many of the ``k`` best are among them; None if not measured."""

    size: int
    k: int
    recall: float | None
    interval: tuple[float, float] | None


class How(NamedTuple):
    """How matches were found, in words, and what would make the search quicker or better, if anything."""

    sentence: str
    advice: Advice | None = None


@dataclass(frozen=True)
class Searched:
    """The matches of each query in a gallery of so many items, and how they were found."""

    kind: Kind
    gallery: int
    shortlist: UsedShortlist | None
    queries: tuple[Query, ...]
    skipped: tuple[tuple[str, str], ...]
    how: How

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "gallery": self.gallery,
            "shortlist": None if self.shortlist is None else self.shortlist._asdict(),
            "queries": [
                {"id": query.id, "label": query.label, "found": [_row(match) for match in query.matches]}
                for query in self.queries
            ],
            "skipped": self.skipped,
        }


def gallery_of(space: MetricSpace, items: Collection, *, progress: Progress = silent) -> Index:
    """An exact index of these items, in memory."""
    index = Exact(space.prototypes.dimension, fingerprint=space_fingerprint(space))
    fill(space, index, items, progress=progress)
    return index


def index_among(gallery: Sequence[str], index: Path | None, *, save_to: Path | None = None) -> Path | None:
    """The folder of the index to look in, None if the gallery is not an index.

    Raises SettingError without a gallery, with two, with an index among other sources, and if ``save_to``
    holds something else.
    """
    if bool(gallery) == (index is not None):
        raise SettingError(
            "say where to look: --index FOLDER, or --gallery with files, folders or tables; one of the two"
        )
    among = next((Path(source) for source in gallery if is_index(Path(source))), None)
    if among is not None and len(gallery) > 1:
        raise SettingError(f"{among} is an index, which is searched alone; leave out the rest of the gallery")
    if save_to is not None:
        check_room(save_to)
    return among or index


def search_files(
    opened: OpenSpace,
    queries: Sequence[str],
    *,
    gallery: Sequence[str] = (),
    index: Path | None = None,
    save_to: Path | None = None,
    k: int = 5,
    kind: str | None = None,
    own_cohort: bool = False,
    exhaustive: bool = False,
    label: str | None = None,
    skip_unreadable: bool = False,
    progress: Progress = silent,
) -> Searched:
    """Search for files, folders or tables in the index of a folder or, without one, in a ``gallery`` of such.

    ``save_to`` is a folder to store the searched vectors in. With ``own_cohort`` scores are normalised by the
    gallery itself (`over_gallery`).
    """
    if own_cohort and kind not in (None, "normalised"):
        raise SettingError(f'a cohort is for normalised scores; leave out the kind "{kind}" or the cohort')
    score: Kind | None = None if kind is None or own_cohort else known_kind(opened.space, kind, "neighbours")
    query_items = opened.read(queries, label=label, skip_unreadable=skip_unreadable)
    skipped = query_items.skipped
    if index is not None:
        stored = open_gallery(index, opened.space)
    else:
        items = opened.read(gallery, label=label, skip_unreadable=skip_unreadable)
        stored, skipped = gallery_of(opened.space, items, progress=progress), (*skipped, *items.skipped)
    if save_to is not None:
        stored.save(save_to)
    return search(
        over_gallery(opened.space, stored) if own_cohort else opened.space,
        query_items._replace(skipped=skipped),
        stored,
        k=k,
        kind="normalised" if own_cohort else score,
        exhaustive=exhaustive,
        progress=progress,
    )


def over_gallery(space: MetricSpace, index: Index) -> MetricSpace:
    """The space with normalised scores by the items of an index, or by 5,000 drawn from them (`with_cohort`).

    Raises SpaceError for an empty index, and for one of mapped vectors, which holds no embeddings.
    """
    if stored_kind(index) is not None or not len(index):
        raise SpaceError("the items of this index cannot be a cohort: it is empty, or holds mapped vectors")
    ids = list(index)
    chosen = ids if len(ids) <= COHORT else [ids[row] for row in at_most(len(ids), COHORT, seed=0).tolist()]
    return with_cohort(space, index.vectors(chosen))


def search(
    space: MetricSpace,
    queries: Collection | Embedded,
    index: Index,
    *,
    k: int = 5,
    kind: Kind | None = None,
    exhaustive: bool = False,
    progress: Progress = silent,
) -> Searched:
    """The k items of an index that are most like each query; a file does not find itself.

    Without a ``kind`` of score the one that the index was made for is used or, if it is for any, the space's
    choice for neighbours. ``exhaustive`` compares everything, even if the index has a shortlist.
    """
    kind = kind or stored_kind(index) or space.kind_for("neighbours")
    z = vectors_of(space, queries, title="queries", progress=progress).to(device_of(space))
    # What is embedded already was no file: it may have the name of one by chance.
    own = [None if isinstance(queries, Embedded) else path_of(id) for id in queries.ids]
    shortlist, held = None if exhaustive else shortlist_of(space, index, kind), len(index)
    matches, searched = _matches(space, index, own, z, k, kind, exhaustive=exhaustive)
    used = _used(shortlist, held, k, searched)
    return Searched(
        kind=kind,
        gallery=held,
        shortlist=used,
        queries=tuple(map(Query, queries.ids, queries.labels, matches)),
        skipped=queries.skipped,
        how=_how(space, index, kind, shortlist, used, k, held=held),
    )


def _row(match: Match) -> dict[str, Any]:
    row = match._asdict()
    return row if match.probability is not None else {name: row[name] for name in ("id", "label", "score")}


def _matches(
    space: MetricSpace,
    index: Index,
    own_paths: Sequence[str | None],
    z: Tensor,
    k: int,
    kind: Kind,
    *,
    exhaustive: bool,
) -> tuple[list[tuple[Match, ...]], int]:
    """The k best for each query without the query itself, and how many the index was searched for.

    That is one more than k, because the query may be among them; and more where several ids mean its file.
    """
    searched = k + 1
    while True:
        answers = _best(space, index, z, searched, kind, exhaustive=exhaustive)
        rows = _others(index, own_paths, answers, space.decisions.get(kind))
        fewest, columns = min(map(len, rows), default=k), answers.scores.shape[1]
        if fewest >= k or columns < searched:  # the second: the index has no more
            return [tuple(row[:k]) for row in rows], searched
        searched += k - fewest


def _best(space: MetricSpace, index: Index, z: Tensor, k: int, kind: Kind, *, exhaustive: bool) -> Found:
    if not exhaustive:
        return search_index(space, index, z, k, kind=kind)
    with asking(space):
        if check_stored(index, kind):
            return index.search(vectors_to_find(space, index, z), k, scorer=Dot())
        return index.search(z, k, scorer=space.scorer(kind))


def _others(
    index: Index, own_paths: Sequence[str | None], answers: Found, decision: Decision | None
) -> list[list[Match]]:
    """The matches of each query, without the query itself."""
    # All ids at once: for a server that is one request.
    ids = list(dict.fromkeys(id for row in answers.ids for id in row))
    stored = dict(zip(ids, index.metadata(ids), strict=True))
    paths = {id: stored_path(id, stored[id]) for id in ids}
    calibrated = decision if decision is not None and decision.calibration is not None else None
    return [
        [
            Match(
                id,
                stored[id].get("label"),
                float(score),
                float(calibrated.probability(score)) if calibrated is not None else None,
            )
            for id, score in zip(names, scores, strict=True)
            if paths[id] != own_path
        ]
        for own_path, names, scores in zip(own_paths, answers.ids, answers.scores, strict=True)
    ]


def _used(shortlist: Shortlist | None, held: int, k: int, searched: int) -> UsedShortlist | None:
    """How the shortlist was used; None if everything was compared, or the index went by its own score.

    Its recall is unknown for more nearest than it was measured for, and in an index that has grown much
    since (by others than `add_to_index`, which measures again).
    """
    size = shortlist.size_for(searched, held) if shortlist is not None else None
    if shortlist is None or size is None:
        return None
    measured = k <= shortlist.k and held <= GROWN * shortlist.count
    return UsedShortlist(
        size, shortlist.k, shortlist.recall if measured else None, shortlist.interval if measured else None
    )


def _how(
    space: MetricSpace,
    index: Index,
    kind: Kind,
    shortlist: Shortlist | None,
    used: UsedShortlist | None,
    k: int,
    *,
    held: int,
) -> How:
    """How the matches were found and, if everything was compared, why."""
    if used is not None:
        recall = (
            f"it finds {used.recall:.1%} of the {used.k} best"
            if used.recall is not None
            else f"what it finds was measured for the {used.k} best, and not for this"
        )
        return How(f"Chosen from a shortlist of {used.size:,} a query; {recall}", Advice("exhaustive"))
    whole = "Everything was compared: "
    if shortlist is not None and shortlist.size is None:
        return How(f"{whole}{reason(shortlist, held=held)}", advice(shortlist, index, held=held))
    if shortlist is not None:
        return How(f"{whole}a shortlist for the {k} nearest would be more than half of the index")
    if stored_kind(index) == kind:
        if index.exact:
            return How(f"{whole}the index itself goes by the score {kind}, and is exact")
        return How(f"Found by the index itself, which goes by the score {kind}", Advice("exhaustive"))
    if is_own(space.scorer(kind), index):
        if index.exact:
            return How(f"{whole}the index itself goes by {index.score}, and is exact")
        return How(
            f"Found by the index itself, which goes by {index.score}", Advice("measure recall", kind=kind)
        )
    unmeasured = f"{whole}no shortlist was measured for {kind} with this space"
    if held <= small_up_to(k):
        return How(f"{unmeasured}, and with so few vectors none is needed")
    return How(unmeasured, Advice("measure", kind=kind))
