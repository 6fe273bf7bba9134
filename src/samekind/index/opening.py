"""Open an index whatever its kind is: the folder says it."""

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
    """The index a folder holds, or the folder names on a server.

    One that is damaged, of a kind this version does not know, or made with another space than that of the
    ``fingerprint``, is refused with a sentence. What a kind needs beyond samekind is imported when an index
    of that kind is opened.
    """
    kind = folders.read(Path(folder)).get("kind")
    if kind not in CLASSES:
        hint = nearest(str(kind), CLASSES)
        raise SpaceError(f'{folder} is an index of the kind "{kind}", which this samekind has not; {hint}')
    return CLASSES[kind].open(folder, fingerprint=fingerprint)
