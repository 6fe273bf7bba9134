"""An index of a gallery: built, added to, removed from, and described."""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any, NamedTuple

from samekind.data import Collection
from samekind.errors import SettingError
from samekind.index import Index
from samekind.index.folder import check_room
from samekind.index.making import FOLDER_TYPES, SERVER_TYPES, check_type, server_url
from samekind.index.mapped import stored_kind
from samekind.inference.shortlist import shortlists_in
from samekind.questions import galleries, shortlists
from samekind.questions.opening import OpenSpace
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import known_kind
from samekind.space import MetricSpace

#: The facts about an index that are reported unchanged.
DESCRIBED = ("backend", "structure", "server", "name", "items", "dimension", "score", "fingerprint")


class IndexPlace(NamedTuple):
    """How vectors are kept, and for a type on a server its address and the name of the index there."""

    type: str = "auto"
    server: str | None = None
    name: str | None = None

    def check(self, folder: Path) -> None:
        """Refuse an unknown type, a server that is missing or has no use, and a folder that holds something
        else.
        """
        check_type(self.type)
        on_server = self.type in SERVER_TYPES
        if on_server and (not server_url(self.server) or not self.name):
            raise SettingError(
                f"an index of the type {self.type} is on a server: say where with --server URL "
                "(or SAMEKIND_INDEX_URL in the environment), and what to call it with --name"
            )
        if not on_server and (self.server or self.name):
            raise SettingError(
                f"--server and --name are for the types {' and '.join(SERVER_TYPES)}; "
                f"{self.type} is kept in --out"
            )
        check_room(folder)


def refuse_types(kinds: Sequence[str]) -> None:
    """Refuse a type of index that is given as a kind of score."""
    for name in {*FOLDER_TYPES, *SERVER_TYPES} & set(kinds):
        raise SettingError(f"--kind is the kind of score; the type of the index is --type {name}")


class ShortlistInfo(NamedTuple):
    """A shortlist: as plain values, in a sentence, with a warning if it is slow, and what to do about it."""

    kind: str
    content: dict[str, Any]
    sentence: str
    warning: str | None
    advice: shortlists.Advice | None


@dataclass(frozen=True)
class IndexInfo:
    """A description of an index, its place and its content; for a change, the numbers of added and removed
    items.
    """

    backend: str
    structure: str | None
    server: str | None
    name: str | None
    items: int
    dimension: int
    score: str
    fingerprint: str
    shortlists: tuple[ShortlistInfo, ...]
    added: int | None = None
    removed: int | None = None
    skipped: tuple[tuple[str, str], ...] | None = None  # None if nothing was read

    def to_json(self) -> dict[str, Any]:
        counts = {"added": self.added, "removed": self.removed}
        return {
            **{name: count for name, count in counts.items() if count is not None},
            **{name: getattr(self, name) for name in DESCRIBED},
            "shortlists": {known.kind: known.content for known in self.shortlists},
            **({} if self.skipped is None else {"skipped": self.skipped}),
        }


def index_info(index: Index) -> IndexInfo:
    """The description of an index, with its shortlists."""
    held = len(index)
    return IndexInfo(
        backend=index.backend,
        structure=index.built,
        server=index.url,
        name=index.name,
        items=held,
        dimension=index.dimension,
        score=stored_kind(index) or index.score,
        fingerprint=index.fingerprint,
        shortlists=tuple(
            ShortlistInfo(
                known.kind,
                shortlists.to_json(known, index, held=held),
                shortlists.sentence(known, held=held),
                shortlists.warning(known, held=held),
                shortlists.advice(known, index, held=held),
            )
            for known in shortlists_in(index)
        ),
    )


def build_index(
    space: MetricSpace,
    index: Index,
    items: Collection,
    folder: Path,
    *,
    settings: galleries.ShortlistSettings | None = None,
    thumbnails: bool = False,
    progress: Progress = silent,
) -> IndexInfo:
    """Embed a gallery into an empty index (`galleries.new_index`), save it and measure shortlists for it.

    ``thumbnails`` keeps a small picture of every item, for those who search from elsewhere.
    """
    settings = settings or galleries.ShortlistSettings()
    if index.remote:
        # What is added is there at once. If this is interrupted, `add_to_index` can go on by this folder; the
        # note of an empty index tells it what to measure for.
        galleries.measure(space, index, settings, progress=progress)
        index.save(folder)
    galleries.fill(space, index, items, thumbnails=thumbnails, progress=progress)
    if index.remote:
        index.save(folder)  # a server now makes its own index: measured is what will be searched
    galleries.measure(space, index, settings, progress=progress)
    index.save(folder)
    index.close()
    return replaced(index_info(index), skipped=items.skipped)


def build_gallery(
    opened: OpenSpace,
    gallery: Sequence[str],
    folder: Path,
    *,
    place: IndexPlace,
    scores: Sequence[str] = (),
    settings: galleries.ShortlistSettings,
    thumbnails: bool = False,
    label: str | None = None,
    skip_unreadable: bool = False,
    progress: Progress = silent,
) -> IndexInfo:
    """Read a gallery, and build an index of it in a folder or on a server. It is measured for these kinds of
    score, or for the space's choice.
    """
    wanted: Sequence[str | None] = scores or [None]
    kinds = tuple(known_kind(opened.space, kind, "neighbours") for kind in wanted)
    items = opened.read(gallery, label=label, skip_unreadable=skip_unreadable)
    empty = galleries.new_index(
        opened.space,
        count=len(items.ids),
        index_type=place.type,
        scores=kinds,
        url=place.server,
        name=place.name,
    )
    return build_index(
        opened.space,
        empty,
        items,
        folder,
        settings=replaced(settings, kinds=kinds),
        thumbnails=thumbnails,
        progress=progress,
    )


def add_to_index(
    space: MetricSpace,
    index: Index,
    items: Collection,
    folder: Path,
    *,
    replace: bool = False,
    thumbnails: bool = False,
    progress: Progress = silent,
) -> IndexInfo:
    """Add items to the index of a folder; one that has grown much is measured again."""
    if not replace:
        galleries.check_new(index, items.ids)
    before = len(index)
    added = galleries.fill(space, index, items, replace=replace, thumbnails=thumbnails, progress=progress)
    outgrown = galleries.outgrown(space, index)
    if outgrown and index.remote:
        index.save(folder)  # as in `build_index`: the server's own index before the measurement
    for known in outgrown:
        settings = galleries.ShortlistSettings(
            known.wanted, known.k, (known.kind,), known.distilled, known.seed
        )
        galleries.measure(space, index, settings, progress=progress)
    # Otherwise the additions stay in the journal, and are read from there: a few need no new snapshot.
    if outgrown or len(index) > galleries.GROWN * before:
        index.save(folder)
    index.close()
    return replaced(index_info(index), added=added, skipped=items.skipped)


def remove_from_index(index: Index, ids: Sequence[str]) -> IndexInfo:
    """Remove items, all of them or, if one is not there, none."""
    distinct = list(dict.fromkeys(ids))
    index.remove(distinct)
    index.close()
    return replaced(index_info(index), removed=len(distinct))
