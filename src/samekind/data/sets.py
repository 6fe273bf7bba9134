"""The sets of an experiment: for training, for validation, for testing, and of unseen classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from samekind.data.groups import torn_groups
from samekind.data.items import Items, Source
from samekind.data.split_settings import FRACTIONS, By, SplitSettings, split_items
from samekind.data.splits import Split
from samekind.data.words import counted
from samekind.errors import DataError, SettingError, expect, nearest
from samekind.taxonomy import Tree


@dataclass(frozen=True)
class Sets:
    """The sets of an experiment. The first three have the seen classes; ``unseen`` has the others, if any.
    If validation has classes of its own, train and test have the rest of the seen ones. ``test`` is empty if
    only unseen classes are tested. ``source`` is that of the items that were split, None for items that
    exist only in memory.
    """

    train: Items
    validation: Items
    test: Items
    unseen: Items | None
    split: Split
    source: Source | None = None

    @property
    def tree(self) -> Tree | None:
        """The tree of the classes, if there is one."""
        return self.train.tree

    def tests(self) -> dict[str, Items]:
        """The sets that an evaluation measures, by name."""
        seen = {"seen": self.test} if len(self.test) or self.unseen is None else {}
        return seen | ({"unseen": self.unseen} if self.unseen is not None else {})

    def torn(self) -> str:
        """A sentence if groups have items in more than one of the sets, else an empty text."""
        parts = {"train": self.train, "validation": self.validation, **self.tests()}
        torn, every = torn_groups(parts)
        if not torn:
            return ""
        return (
            f"{torn:,} of {counted(every, 'group has', 'groups have')} items in more than one part, so that "
            "test items are nearer to training items than new ones will be; --split group keeps groups "
            "together"
        )


def prepare(
    items: Items,
    settings: SplitSettings | None = None,
    *,
    unseen: Sequence[str] = (),
    fractions: Mapping[str, float] = FRACTIONS,
    seed: int = 0,
) -> Sets:
    """Split items into train, validation and test, with all items of the ``unseen`` classes kept apart.

    By group if items have groups, else at random, or in any other way of `SplitSettings`. Give those or the
    keywords, not both.
    """
    expect(items, Items, "items, such as open_data(source)")
    if settings is None:
        by: By = "random" if items.groups is None else "group"
        names = unseen if isinstance(unseen, str) else tuple(unseen)  # "half", or classes
        settings = SplitSettings.from_dict({"by": by, "unseen": names, "fractions": fractions, "seed": seed})
    elif unseen or fractions is not FRACTIONS or seed:
        raise SettingError(
            "give unseen, fractions and seed in the settings of the split, or give no settings"
        )
    expect(settings, SplitSettings, 'settings such as SplitSettings(by="group")')
    return divide(items, split_items(items, settings))


def divide(items: Items, split: Split) -> Sets:
    """The sets of a split, which also says which classes are unseen or for validation alone."""
    hidden, for_validation = _labels(items, split, "unseen"), _labels(items, split, "validation_classes")
    seen = [name for index, name in enumerate(items.classes) if index not in hidden | for_validation]
    unseen = [name for index, name in enumerate(items.classes) if index in hidden]
    validation = [name for index, name in enumerate(items.classes) if index in for_validation]

    def part(name: str, classes: list[str]) -> Items:
        indices = split.parts.get(name)
        if indices is None and name == "test" and unseen:
            indices = torch.empty(0, dtype=torch.int64)
        if indices is None:
            raise DataError(f'the split has no part "{name}"; {nearest(name, split.parts)}')
        return replace(items.take(indices).only(classes), name=f"{items.name}, {name.partition('_')[0]}")

    return Sets(
        train=part("train", seen),
        validation=part("validation_classes", validation) if validation else part("validation", seen),
        test=part("test", seen),
        unseen=part("unseen", unseen) if unseen else None,
        split=split,
        source=items.source,
    )


def _labels(items: Items, split: Split, part: str) -> set[int]:
    """The classes that have items in a part; none if there is no such part."""
    return set(items.labels[split.parts[part]].tolist()) if part in split.parts else set()
