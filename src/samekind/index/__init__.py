"""Nearest stored embeddings: vectors kept under names, and the best of them for a query.

An index is made for vectors of one ``dimension`` and, where it is given the ``fingerprint`` of a space,
for that space alone; `Index` is what all of them can do. Ids are texts. A call that is refused changes
nothing, and a search for more than there is gives what there is. An index that was saved to a folder, or
opened from one (`open_index`), lives there: an ``add`` or ``remove`` that returned survives the death of the
process.
"""

from samekind.index.best import best_of
from samekind.index.contract import Found, Index
from samekind.index.exact import Exact
from samekind.index.faiss_index import Faiss
from samekind.index.fingerprint import space_fingerprint
from samekind.index.milvus import Milvus
from samekind.index.opening import open_index
from samekind.index.postgres import Postgres

#: Every kind of index; all keep the contract above.
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
    "open_index",
    "space_fingerprint",
]
