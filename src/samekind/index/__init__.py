"""Nearest stored embeddings: vectors under ids, and the best of them for a query.

`Index` is the protocol of every index. An index holds vectors of one ``dimension`` and, if it is given the
``fingerprint`` of a space, of that space alone. Ids are texts. A refused call changes nothing. A search for
more than there are returns all.

An index that was saved to a folder, or opened from one (`open_index`), lives there. An ``add`` or ``remove``
that returned survives the death of the process; one that was interrupted (Ctrl-C) was made wholly or not at
all, in memory and on the disk alike. ``save`` compacts the folder. There is one writer at a time and any
number of readers, and a reader sees whole states. A forked process is a reader until it changes something.
"""

from samekind.index.best import best_of
from samekind.index.contract import Found, Index
from samekind.index.exact import Exact
from samekind.index.faiss_index import Faiss
from samekind.index.fingerprint import space_fingerprint
from samekind.index.making import new_index
from samekind.index.milvus import Milvus
from samekind.index.opening import open_index
from samekind.index.postgres import Postgres

#: Every class of index.
INDEXES = ("Exact", "Faiss", "Milvus", "Postgres")

__all__ = [
    "INDEXES",
    "Exact",
    "Faiss",
    "Found",
    "Index",
    "Milvus",
    "Postgres",
    "best_of",
    "new_index",
    "open_index",
    "space_fingerprint",
]
