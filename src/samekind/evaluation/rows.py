"""One measured value: what was asked, of which items, by which score, and how sure it is."""

from typing import NamedTuple


class Row(NamedTuple):
    """A line of an evaluation. ``low`` and ``high`` are a 95% interval where the protocol has one."""

    question: str  # classification, verification, retrieval, few-shot, clustering
    items: str  # which items were asked about: seen, unseen
    measure: str  # accuracy, EER, AUC, Recall@1, …
    kind: str  # the score or head that answered: similarity, cosine, fused, auxiliary
    value: float
    low: float | None = None
    high: float | None = None
