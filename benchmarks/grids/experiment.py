"""A run of a grid in its usual form, and the order in which a grid carries out its runs."""

from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

DataName = TypeVar("DataName", bound=str)
SystemName = TypeVar("SystemName", bound=str)


class SystemOnData(NamedTuple, Generic[DataName, SystemName]):
    """One run: a system on some data, with a seed. Its JSON has its name."""

    data: DataName
    system: SystemName
    seed: int

    @property
    def variant(self) -> str:
        return f"{self.data}-{self.system}"

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.seed}"


def seed_by_seed(variants: Iterable[str], seeds: Iterable[int]) -> list[tuple[str, int]]:
    """All variants with the first seed, then all with the next.

    >>> seed_by_seed(["a", "b"], [0, 1])
    [('a', 0), ('b', 0), ('a', 1), ('b', 1)]
    """
    names = list(variants)
    return [(name, seed) for seed in seeds for name in names]
