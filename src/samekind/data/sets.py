"""The sets one experiment needs: to train on, to choose by, to test on, and classes never shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from samekind.data.items import Items
from samekind.data.splits import Split, by_class, stratified
from samekind.errors import DataError, nearest

FRACTIONS = {"train": 0.6, "validation": 0.2, "test": 0.2}


@dataclass(frozen=True)
class Sets:
    """The sets of an experiment. The first three hold the seen classes alone; ``unseen`` holds the others,
    if any.
    """

    train: Items
    validation: Items
    test: Items
    unseen: Items | None
    split: Split

    def tests(self) -> dict[str, Items]:
        """What an evaluation asks about, by name."""
        return {"seen": self.test} | ({"unseen": self.unseen} if self.unseen is not None else {})


def prepare(
    items: Items,
    *,
    unseen: Sequence[str] = (),
    fractions: Mapping[str, float] = FRACTIONS,
    seed: int = 0,
) -> Sets:
    """Split items at random into train, validation and test, with all items of the ``unseen`` classes kept
    apart.
    """
    if unseen:
        split = by_class(items, unseen=unseen, fractions=fractions, seed=seed)
    else:
        split = stratified(items, fractions, seed=seed)
    return divide(items, split)


def divide(items: Items, split: Split) -> Sets:
    """The sets a split speaks of; which classes are unseen is read off it."""
    kept_apart = split.parts.get("unseen")
    hidden = set(items.labels[kept_apart].tolist()) if kept_apart is not None else set()
    seen = [name for index, name in enumerate(items.classes) if index not in hidden]
    unseen = [name for index, name in enumerate(items.classes) if index in hidden]

    def part(name: str, classes: list[str]) -> Items:
        if name not in split.parts:
            raise DataError(f'the split has no part "{name}"; {nearest(name, split.parts)}')
        chosen = items.take(split.parts[name]).only(classes)
        return replace(chosen, name=f"{items.name}, {name}")

    return Sets(
        train=part("train", seen),
        validation=part("validation", seen),
        test=part("test", seen),
        unseen=part("unseen", unseen) if unseen else None,
        split=split,
    )
