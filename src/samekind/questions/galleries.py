"""Galleries: an index for the items of a space is made, filled, opened and measured."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from samekind import index as indexes
from samekind.data import Collection
from samekind.data.sources import is_named
from samekind.decisions import Kind
from samekind.errors import SettingError, SpaceError
from samekind.index import Index, mapped, open_index
from samekind.index.contract import Metadata, refuse_another_space
from samekind.index.folder import is_index
from samekind.inference import asking, device_of, embed, fit_shortlist
from samekind.inference.shortlist import Shortlist, shortlist_of
from samekind.inference.shortlist_fitting import sample_for
from samekind.questions import reading
from samekind.questions.progress import Progress, silent
from samekind.questions.thumbnails import KEPT, text_of
from samekind.space import MetricSpace

#: Vectors that are added at a time: every addition is made durable, which takes time.
ADDED_AT_ONCE = 8_192
#: The most ids that are looked up one by one on a server.
IDS_CHECKED = 100
#: An index that has grown by this factor since its shortlist was measured is measured again.
GROWN = 1.25


@dataclass(frozen=True)
class ShortlistSettings:
    """The purpose of shortlists: the share ``recall`` of the ``k`` best, by these kinds of score; None
    is the space's choice for neighbours.
    """

    recall: float = 0.95
    k: int = 10
    kinds: tuple[Kind, ...] | None = None
    distilled: bool = True
    seed: int = 0


def new_index(
    space: MetricSpace,
    *,
    count: int,
    index_type: str = "auto",
    scores: Sequence[Kind] = (),
    url: str | None = None,
    name: str | None = None,
) -> Index:
    """An empty index for ``count`` vectors of a space (`samekind.index.new_index`).

    If it is for one fitted or normalised kind of ``scores`` alone, it stores vectors mapped for that, and
    finds by it exactly as quickly as by the cosine; else embeddings.
    """
    stored = scores[0] if len(scores) == 1 and mapped.can_be_stored(space, scores[0]) else None
    return indexes.new_index(
        index_type,
        mapped.stored_dimension(space, stored),
        count=count,
        score="cosine" if stored is None else "dot",
        fingerprint=mapped.index_fingerprint(space, stored),
        url=url,
        name=name,
    )


def open_gallery(folder: Path, space: MetricSpace | None = None) -> Index:
    """The index of a folder; one that was made with another space is an error."""
    if folder.exists() and not is_index(folder) and (folder / "space.json").exists():
        raise SpaceError(f"{folder} is a space, not an index; samekind index build makes one")
    index = open_index(folder)
    if space is not None and not mapped.is_of(index, space):
        index.close()
        refuse_another_space(folder)
    return index


def fill(
    space: MetricSpace,
    index: Index,
    items: Collection,
    *,
    replace: bool = False,
    thumbnails: bool = False,
    progress: Progress = silent,
) -> int:
    """Embed items and add them; returns how many.

    An item that comes twice is added once. Its label is stored with it, and its path if that is not the id;
    with ``thumbnails`` a small picture of it, too.
    """
    first = {id: place for place, id in reversed(list(enumerate(items.ids)))}
    waiting: list[_Entry] = []

    def add() -> None:
        if waiting:
            ids, vectors, metadata = zip(*waiting, strict=True)
            index.add(ids, torch.stack(vectors), metadata, replace=replace)
        waiting.clear()

    with progress("index", len(items.ids)) as advance:
        for start in range(0, len(items.ids), reading.BATCH):
            entries = _entries(space, index, items, start, thumbnails=thumbnails)
            waiting += [entry for place, entry in enumerate(entries, start) if first[entry.id] == place]
            if len(waiting) >= ADDED_AT_ONCE:
                add()
            advance(len(entries))
        add()
    return len(first)


class _Entry(NamedTuple):
    """An item as an index stores it."""

    id: str
    vector: Tensor
    metadata: dict[str, str | None]


def _entries(
    space: MetricSpace, index: Index, items: Collection, start: int, *, thumbnails: bool
) -> list[_Entry]:
    """The entries of a batch of items, from the place ``start``."""
    inputs, end = items.inputs[start : start + reading.BATCH], start + reading.BATCH
    z = embed(space, inputs)
    if mapped.stored_kind(index) is not None:
        with asking(space):
            z = mapped.vectors_to_store(space, index, z.to(device_of(space))).cpu()
    pictures: list[str | None] = [None] * len(z)
    if thumbnails and space.reader is not None:
        pictures = [text_of(item, space.reader) for item in inputs]
    rows = zip(items.ids[start:end], z, items.labels[start:end], pictures, strict=True)
    return [_Entry(id, vector, _metadata(id, label, picture)) for id, vector, label, picture in rows]


def path_of(id: str) -> str:
    """An id that means the same in every working folder: its absolute path without links, and the row or item
    after it. Data with a name, such as digits, have no path.
    """
    source = id.partition(", ")[0]
    first = source.partition("/")[0]  # of "characters/Greek" the name
    return id if is_named(source) and not Path(first).exists() else os.path.realpath(id)


def stored_path(id: str, metadata: Metadata) -> str:
    """The path of an item in an index; where none was stored with it, the id from the working folder."""
    path = metadata.get("path")
    return path_of(path if isinstance(path, str) else id)


def _metadata(id: str, label: str | None, picture: str | None) -> dict[str, str | None]:
    path = path_of(id)
    known = {"label": label} if path == id else {"label": label, "path": path}
    return known if picture is None else {**known, KEPT: picture}


def check_new(index: Index, ids: Sequence[str]) -> None:
    """Refuse items that are in the index already, before the work of embedding them.

    Of ids on a server only a few are looked up, because each takes a request; the server itself refuses the
    others when they are added.
    """
    checked = ids[:IDS_CHECKED] if index.remote else ids
    known = next((id for id in checked if id in index), None)
    if known is not None:
        raise SettingError(f'the id "{known}" is already there; ask to replace it (--replace)')


def measure(
    space: MetricSpace, index: Index, settings: ShortlistSettings, *, progress: Progress = silent
) -> None:
    """Measure how long a shortlist must be for each kind of score, and note it in the index.

    An index of mapped vectors goes by its own score, and needs none.
    """
    if mapped.stored_kind(index) is not None:
        return
    total = min(sample_for(settings.recall), len(index))
    for kind in settings.kinds or (space.kind_for("neighbours"),):
        with progress(f"measuring the shortlist ({kind})", total) as advance:
            fit_shortlist(
                space,
                index,
                kind=kind,
                recall=settings.recall,
                k=settings.k,
                distilled=settings.distilled,
                seed=settings.seed,
                advance=advance,
            )


def outgrown(space: MetricSpace, index: Index) -> list[Shortlist]:
    """The shortlists that were measured when the index was much smaller."""
    shortlists, count = [shortlist_of(space, index, kind) for kind in space.kinds], len(index)
    return [known for known in shortlists if known is not None and count > GROWN * known.count]
