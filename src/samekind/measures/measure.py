"""A measure as a value: its name, which way is better, how its values are written, what they mean."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Better = Literal["lower", "higher"]


class Sentence(NamedTuple):
    """How a report words a value: ``part`` has ``{value}`` and ``{items}``; ``whole`` joins the parts."""

    part: str
    whole: str


class Measure(str):
    """The name of a measure, such as "EER", with its direction, unit and meaning.

    It is a string so that rows compare, hash and serialise by the name. ``is_share`` tells whether values
    are written in per cent. ``meaning`` explains the measure under the ``family``, which all members of a
    family share ("Recall@k"). ``sentences`` say a value in words, by the question of the row.

    >>> nmi = Measure("NMI", is_share=False)
    >>> nmi.key, nmi.write(0.7935), Measure("EER", better="lower").write(0.0163)
    ('nmi', '0.793', '1.63%')
    """

    better: Better
    is_share: bool
    family: str
    meaning: str
    sentences: Mapping[str, Sentence]

    def __new__(
        cls,
        name: str,
        meaning: str = "",
        *,
        better: Better = "higher",
        is_share: bool = True,
        family: str = "",
        sentences: Mapping[str, Sentence] | None = None,
    ) -> "Measure":
        measure = super().__new__(cls, name)
        measure.better = better
        measure.is_share = is_share
        measure.family = family or name
        measure.meaning = meaning
        measure.sentences = sentences or {}
        return measure

    @property
    def key(self) -> str:
        """Its name in run files and in the records of training: "eer", "recall@1 cosine"."""
        return self.lower()

    @property
    def unit(self) -> str:
        """The sign behind a value: "%" for a share, nothing for other measures."""
        return "%" if self.is_share else ""

    def variant(self, variant_name: str) -> "Measure":
        """The same measure by another score, or of something else: "EER" and "cosine" to "EER cosine"."""
        return Measure(
            f"{self} {variant_name}",
            self.meaning,
            better=self.better,
            is_share=self.is_share,
            family=self.family,
        )

    def number(self, value: float, *, fewer: int = 0, sign: str = "") -> str:
        """A value without its unit: shares times 100 with two decimals, others with three, minus ``fewer``.
        ``sign="+"`` writes the plus of a difference.
        """
        factor, decimals = (100, 2) if self.is_share else (1, 3)
        return f"{factor * value:{sign}.{decimals - fewer}f}"

    def write(self, value: float) -> str:
        """A value with its unit."""
        return f"{self.number(value)}{self.unit}"

    def ends(self, low: float | None, high: float | None, *, dash: str = "-", sign: str = "") -> str:
        """An interval without its unit and with one decimal less than the value; empty if there is none."""
        if low is None or high is None:
            return ""
        ends = (self.number(end, fewer=1, sign=sign).replace("100.0", "100") for end in (low, high))
        return dash.join(ends)
