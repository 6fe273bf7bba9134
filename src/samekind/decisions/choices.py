"""The kind of score that answers a question when the user names none."""

from dataclasses import dataclass
from typing import Literal

from samekind.decisions.decision import Kind

#: Two items compared, the most alike items of a gallery, the class of an item.
Question = Literal["pairs", "neighbours", "classes"]


@dataclass(frozen=True)
class Choices:
    """The best kind of score for each question, as measured on items that were not trained on.

    ``measured_on`` names those items.
    """

    pairs: Kind
    neighbours: Kind
    classes: Kind
    measured_on: str

    def of(self, question: Question) -> Kind:
        """The kind of score for a question."""
        match question:
            case "pairs":
                return self.pairs
            case "neighbours":
                return self.neighbours
        return self.classes
