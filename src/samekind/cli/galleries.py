"""What the commands about indexes share: making one, filling it, opening it, and what is said about it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from samekind.errors import SettingError, SpaceError, nearest

if TYPE_CHECKING:
    from torch import Tensor

    from samekind.data import Collection
    from samekind.index import Index
    from samekind.index.contract import Metadata
    from samekind.inference import Shortlist
    from samekind.space import Kind, MetricSpace

#: What --kind can be: in the folder itself, or on a server.
FOLDER_KINDS = ("auto", "exact", "flat", "hnsw", "ivf", "pq")
SERVER_KINDS = ("postgres", "milvus")
#: Vectors that are added at a time: every addition is made durable, which takes its time.
ADDED_AT_ONCE = 8_192
#: Ids a server is asked about one by one.
MOST_ASKED = 100
#: An index that has grown by this factor since its shortlist was measured is measured again.
GROWN = 1.25


def check_kind(kind: str, url: str | None, name: str | None) -> None:
    """Refuse a kind there is not, and a server where none is meant or none is named."""
    known = (*FOLDER_KINDS, *SERVER_KINDS)
    if kind not in known:
        raise SettingError(f'there is no kind "{kind}" of index; {nearest(kind, known)}')
    if kind in SERVER_KINDS and (not server_url(url) or not name):
        raise SettingError(
            f"an index of the kind {kind} is on a server: say where with --server URL "
            "(or SAMEKIND_INDEX_URL in the environment), and what to call it with --name"
        )
    if kind not in SERVER_KINDS and (url or name):
        raise SettingError(
            f"--server and --name are for the kinds {' and '.join(SERVER_KINDS)}; {kind} is kept in --out"
        )


def server_url(given: str | None) -> str:
    """The address that was given, or that of the environment, which may hold a password."""
    from samekind.index.server import ADDRESS_VARIABLE

    return given or os.environ.get(ADDRESS_VARIABLE, "")


def new_index(
    kind: str, dimension: int, *, count: int, fingerprint: str, url: str | None, name: str | None
) -> "Index":
    """An empty index for ``count`` vectors; one on a server that holds some already is refused."""
    from samekind.index import Exact, Faiss, Milvus, Postgres
    from samekind.index.kinds import FLAT_UP_TO

    if kind in SERVER_KINDS:
        address, called = server_url(url), name or ""
        made: Index = (
            Postgres(dimension, url=address, name=called, fingerprint=fingerprint)
            if kind == "postgres"
            else Milvus(dimension, url=address, name=called, fingerprint=fingerprint)
        )
        if held := len(made):
            raise SettingError(
                f'there is an index "{called}" with {held:,} vectors on that server; '
                "add to it with samekind index add (and --replace, where its build was cut short), "
                "or choose another name"
            )
        return made
    # Up to there "flat" would be chosen, which finds the same and needs another package.
    if kind == "exact" or (kind == "auto" and count <= FLAT_UP_TO):
        return Exact(dimension, fingerprint=fingerprint)
    structure = cast(Literal["auto", "flat", "hnsw", "ivf", "pq"], kind)
    return Faiss(dimension, kind=structure, fingerprint=fingerprint)


def open_gallery(folder: Path, space: "MetricSpace | None" = None) -> "Index":
    """The index of a folder; refused where it was made with another space than this one."""
    from samekind.index import open_index, space_fingerprint
    from samekind.index.folder import is_index

    if folder.exists() and not is_index(folder) and (folder / "space.json").exists():
        raise SpaceError(f"{folder} is a space, not an index; samekind index build makes one")
    return open_index(folder, fingerprint=space_fingerprint(space) if space is not None else None)


def fill(space: "MetricSpace", index: "Index", items: "Collection", *, replace: bool = False) -> int:
    """Embed items and add them, with a bar while it lasts; gives how many.

    An item that two sources name is added once. Its label is kept with it and, where the id alone does not
    tell, its place.
    """
    from samekind.cli.asking import BATCH, bar
    from samekind.inference import embed

    first = {id: place for place, id in reversed(list(enumerate(items.ids)))}
    waiting: list[tuple[int, Tensor]] = []

    def add() -> None:
        import torch

        places = [place for place, _ in waiting]
        index.add(
            [items.ids[each] for each in places],
            torch.stack([vector for _, vector in waiting]),
            [_metadata(items.ids[each], items.labels[each]) for each in places],
            replace=replace,
        )
        waiting.clear()

    with bar("index", len(items.ids)) as advance:
        for start in range(0, len(items.ids), BATCH):
            z = embed(space, items.inputs[start : start + BATCH])
            waiting += [
                (place, vector) for place, vector in enumerate(z, start) if first[items.ids[place]] == place
            ]
            if len(waiting) >= ADDED_AT_ONCE:
                add()
            advance(len(z))
        if waiting:
            add()
    return len(first)


def place_of(id: str) -> str:
    """What an id means, whichever folder a command is called from: its path, absolute and without links, and
    behind it the row or item, if any. Data that are known by a name are the same everywhere.
    """
    from samekind.data.opening import NAMED

    source = id.partition(", ")[0]
    return id if source in NAMED and not Path(source).exists() else os.path.realpath(id)


def place_held(id: str, metadata: "Metadata") -> str:
    """The place of an item in an index. One that was put in without it, by an older samekind or from Python,
    is taken to be where its id says from here.
    """
    path = metadata.get("path")
    return place_of(path if isinstance(path, str) else id)


def _metadata(id: str, label: str | None) -> dict[str, str | None]:
    place = place_of(id)
    return {"label": label} if place == id else {"label": label, "path": place}


def check_new(index: "Index", ids: Sequence[str]) -> None:
    """Refuse items that are there already, before the work of embedding them.

    Of a server only a few are asked, each of which is a journey; it refuses the rest as they come.
    """
    asked = ids[:MOST_ASKED] if index.remote else ids
    there = next((each for each in asked if each in index), None)
    if there is not None:
        raise SettingError(f'the id "{there}" is already there; add --replace to put it in anew')


def measure(
    space: "MetricSpace",
    index: "Index",
    kind: "Kind",
    *,
    recall: float,
    k: int,
    distilled: bool = True,
    seed: int = 0,
) -> "Shortlist":
    """Measure how long a shortlist has to be, with a bar while it lasts, and note it in the index."""
    from samekind.cli.asking import bar
    from samekind.inference import fit_shortlist
    from samekind.inference.shortlist_fitting import sample_for

    with bar(f"measuring the shortlist ({kind})", min(sample_for(recall), len(index))) as advance:
        return fit_shortlist(
            space, index, kind=kind, recall=recall, k=k, distilled=distilled, seed=seed, advance=advance
        )


def outgrown(space: "MetricSpace", index: "Index") -> "list[Shortlist]":
    """The shortlists that were measured when the index was much smaller."""
    from samekind.inference import shortlist_of

    known, held = [shortlist_of(space, index, kind) for kind in space.kinds], len(index)
    return [each for each in known if each is not None and held > GROWN * each.count]
