"""Open an index of any kind; its folder names the kind."""

from pathlib import Path

from samekind.errors import SpaceError, nearest
from samekind.index import folder as folders
from samekind.index.contract import Index
from samekind.index.exact import Exact
from samekind.index.faiss_index import Faiss
from samekind.index.milvus import Milvus
from samekind.index.postgres import Postgres

CLASSES: dict[str, type[Index]] = {"Exact": Exact, "Faiss": Faiss, "Milvus": Milvus, "Postgres": Postgres}


def open_index(folder: str | Path, *, fingerprint: str | None = None) -> Index:
    """The index in a folder, or the one on a server that the folder names.

    Raises SpaceError if it is damaged, of an unknown kind, or of another space than ``fingerprint``.
    Libraries that a kind needs are imported when an index of that kind is opened.
    """
    kind = folders.read(Path(folder)).get("kind")
    if not isinstance(kind, str) or kind not in CLASSES:
        hint = nearest(str(kind), CLASSES)
        raise SpaceError(f'{folder} is an index of the unknown kind "{kind}"; {hint}')
    return CLASSES[kind].open(folder, fingerprint=fingerprint)
