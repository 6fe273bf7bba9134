"""How a kind of score did on held-out items, compared with the space's own similarity."""

from dataclasses import dataclass
from typing import Annotated

from samekind.settings import Between

Share = Annotated[float, Between(0, 1)]


@dataclass(frozen=True)
class Standing:
    """Error and recall of a kind of score, and how much better they are than those of the space's own.

    ``equal_error`` is over all pairs of the items, ``recall`` the share of items whose most similar other
    item is of their class, ``named`` the share that is named rightly: the harmonic mean of known classes and
    of classes enrolled from a few items, or one of the two. The gains are intervals (low, high) at 95 %,
    paired over the same items: how much lower the error is, how much higher the shares. They are None for the
    own similarity, and with too few items. ``measured_on`` names the items.
    """

    equal_error: Share
    recall: Share
    measured_on: str
    error_gain: tuple[float, float] | None = None
    recall_gain: tuple[float, float] | None = None
    named: Share | None = None
    named_gain: tuple[float, float] | None = None

    @property
    def errs_less(self) -> bool:
        """Whether its error is significantly lower than that of the own similarity."""
        return self.error_gain is not None and self.error_gain[0] > 0

    @property
    def finds_more(self) -> bool:
        """Whether its recall is significantly higher than that of the own similarity."""
        return self.recall_gain is not None and self.recall_gain[0] > 0

    @property
    def names_more(self) -> bool:
        """Whether it names significantly more items rightly than the own similarity."""
        return self.named_gain is not None and self.named_gain[0] > 0
