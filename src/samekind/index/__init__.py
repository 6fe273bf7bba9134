"""Nearest stored embeddings: vectors kept under names, and the best of them for a query.

An index is made for vectors of one ``dimension`` and, where it is given the ``fingerprint`` of a space,
for that space alone. It has ``add(ids, vectors, metadata)``, ``remove(ids)``,
``search(queries, k) -> Found``, ``metadata(id)``, ``save(folder)`` and ``open(folder)``, a length, and
``id in index``. Ids are texts. A call that is refused changes nothing, and a search for more than there
is gives what there is.
"""

from samekind.index.best import best_of
from samekind.index.exact import Exact, Found
from samekind.index.fingerprint import space_fingerprint

#: Every kind of index; all keep the contract above.
INDEXES = ("Exact",)

__all__ = ["INDEXES", "Exact", "Found", "best_of", "space_fingerprint"]
