"""The ladder of the house recipe: what each rung gave on classes that it was not fitted to."""

from dataclasses import dataclass

from samekind.decisions.decision import Kind
from samekind.decisions.standing import Share
from samekind.errors import SettingError


@dataclass(frozen=True)
class Rung:
    """One way to a space, from no training to a trained encoder, and how it did.

    ``recall`` is the share of items whose most similar other item is of their class, by the kind of score
    ``neighbours``; ``equal_error`` is over all pairs, by the kind ``pairs``. The intervals are (low, high) at
    95 %. ``accuracy`` is the share of held-out items of known classes that were named rightly, if there were
    some. ``seconds`` is what the rung took.
    """

    name: str
    recall: Share
    equal_error: Share
    neighbours: Kind
    pairs: Kind
    seconds: float
    recall_interval: tuple[float, float] | None = None
    error_interval: tuple[float, float] | None = None
    accuracy: Share | None = None

    @property
    def sentence(self) -> str:
        """How it did, in a line."""
        named = "" if self.accuracy is None else f", accuracy {self.accuracy:.1%}"
        return (
            f"{self.name}: Recall@1 {self.recall:.1%} ({self.neighbours}), EER {self.equal_error:.1%} "
            f"({self.pairs}){named}, {self.seconds:.0f} s"
        )


@dataclass(frozen=True)
class Ladder:
    """The rungs that were tried, in order; the name of the one whose space was kept; and on what they were
    measured, such as "3 folds of 20 classes".
    """

    rungs: tuple[Rung, ...]
    kept: str
    measured_on: str

    def __post_init__(self) -> None:
        names = [rung.name for rung in self.rungs]
        if self.kept not in names:
            raise SettingError(f'ladder: the kept rung "{self.kept}" is not one of {", ".join(names)}')

    @property
    def stayed(self) -> bool:
        """Whether the first rung was kept, since no other was better by more than chance."""
        return self.kept == self.rungs[0].name

    def rung(self, name: str) -> Rung:
        """The rung of a name."""
        return next(rung for rung in self.rungs if rung.name == name)
