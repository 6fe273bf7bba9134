"""One measured value: the question, the items, the score, and its interval."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from samekind.measures.catalogue import AUROC, measure_named
from samekind.measures.measure import Measure

#: Which measures a protocol gives: the main ones, or all.
Measures = Literal["main", "all"]

#: The question of rows about spaces without training.
REFERENCE = "reference"
#: The note of rows about items that were also used to choose the epoch.
SELECTED_ON_TEST = "selected on test"
#: The note of rows about items of which some were trained on; results on new items will be worse.
TRAINED_ON = "training items among them"

UPSIDE_DOWN = (
    "unknown items look more familiar than known ones by {kinds} (the AUROC is below 50% by more than "
    'chance): "none of these" and what is new must not be decided by it'
)


class Row(NamedTuple):
    """A line of an evaluation.

    ``low`` and ``high`` are a 95% interval over another draw of as many units (classes, queries, items,
    episodes, domains); None if there are too few. ``note`` is what a reader must know to judge the value,
    such as "selected on test"; every table shows it.
    """

    question: str  # classification, verification, retrieval, few-shot, clustering, …
    items: str  # the items that were measured: seen, unseen
    measure: str  # a `Measure`, which compares and serialises as its name; in rows read from JSON a name
    kind: str  # the score or head that answered: similarity, cosine, fused, auxiliary
    value: float
    low: float | None = None
    high: float | None = None
    unit: str = ""
    note: str = ""

    @property
    def is_reference(self) -> bool:
        """Whether the value needs no training, and is there to be compared with."""
        return self.question == REFERENCE

    @property
    def entry(self) -> Measure:
        """What the catalogue says about the measure."""
        return measure_named(self.measure)

    @property
    def text(self) -> str:
        """The value with its unit, and its interval in brackets: "91.00% (88.2-93.1)"."""
        ends = self.entry.ends(self.low, self.high)
        return self.entry.write(self.value) + (f" ({ends})" if ends else "")

    @property
    def about(self) -> str:
        """The items, with the note where there is one."""
        return f"{self.items}, {self.note}" if self.note else self.items


def described(row: Row) -> dict[str, Any]:
    """The row with what its measure is, for who shows it without the catalogue.

    >>> described(Row("verification", "seen", "EER", "cosine", 0.2))["share"]
    True
    """
    entry = row.entry
    return {**row._asdict(), "share": entry.is_share, "better": entry.better, "meaning": entry.meaning}


def noted(row: Row, note: str) -> Row:
    """The row with a note added to those it has; an empty note adds nothing.

    >>> row = Row("verification", "seen", "Cllr", "cosine", 0.2, note="of 1,000,498 pairs")
    >>> noted(row, SELECTED_ON_TEST).note
    'of 1,000,498 pairs; selected on test'
    """
    return row._replace(note="; ".join(text for text in (row.note, note) if text))


def is_upside_down(row: Row) -> bool:
    """Whether unknown items surely score above known ones: the whole interval of the AUROC is below 0.5.

    >>> is_upside_down(Row("open set", "seen, unseen", "AUROC", "similarity", 0.2, 0.1, 0.3))
    True
    """
    return row.measure == AUROC and row.high is not None and row.high < 0.5


def upside_down(rows: Iterable[Row]) -> str:
    """The warning about rows that are upside down; empty if none is."""
    kinds = list(dict.fromkeys(row.kind for row in rows if is_upside_down(row)))
    names = " and ".join(filter(None, (", ".join(kinds[:-1]), *kinds[-1:])))
    return UPSIDE_DOWN.format(kinds=names) if names else ""
