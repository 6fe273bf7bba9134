"""Open any index; its folder names the backend."""

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

    Raises SpaceError if it is damaged, of an unknown backend, or of another space than ``fingerprint``.
    Libraries that a backend needs are imported when such an index is opened.
    """
    backend = folders.read(Path(folder)).get("kind")
    if not isinstance(backend, str) or backend not in CLASSES:
        hint = nearest(str(backend), CLASSES)
        raise SpaceError(f'{folder} is an index of the unknown backend "{backend}"; {hint}')
    return CLASSES[backend].open(folder, fingerprint=fingerprint)
