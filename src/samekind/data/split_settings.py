"""How items are divided into sets: the settings, as plain values that a run writes down, and the split."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import torch
from torch import Tensor

from samekind.data.branches import whole_branches
from samekind.data.groups import cut_whole
from samekind.data.held_out import by_domain, by_group, by_part, remaining
from samekind.data.items import Items
from samekind.data.splits import Split, check_fractions, cut, of_classes, stratified
from samekind.data.words import counted, listed
from samekind.errors import DataError, SettingError, nearest
from samekind.settings import Between, Natural, check, read, write

By = Literal["random", "group", "domain", "part"]
Half = Literal["half", "random-half"]

FRACTIONS = {"train": 0.6, "validation": 0.2, "test": 0.2}


@dataclass(frozen=True, kw_only=True)
class SplitSettings:
    """How items become the sets of an experiment.

    ``by`` is "random" (each class is cut at random), "group" (no group in two parts), "domain" (the
    ``test_domains`` are the test set) or "part" (as published). ``fractions`` are those of train, validation
    and test; test may be missing if there are unseen classes.

    ``unseen`` classes are held back whole: a list of names, "half" for the second half in class order (the
    smaller one if the number is odd), or "random-half" for half of them by ``seed``. The items of
    ``validation_classes`` are the validation set: a list of names, or a number of seen classes to draw by
    ``seed``, below 1 a share of them; train and test share the rest. A name may be that of a branch: "Greek"
    for all classes "Greek/…".
    """

    by: By = "random"
    unseen: tuple[str, ...] | Half = ()
    test_domains: tuple[str, ...] = ()
    validation_classes: Annotated[int | float, Between(0)] | tuple[str, ...] = 0
    fractions: Mapping[str, float] = field(default_factory=lambda: dict(FRACTIONS))
    seed: Natural = 0

    def __post_init__(self) -> None:
        check(self, where="split")
        if (self.by == "domain") != bool(self.test_domains):
            raise SettingError(
                'split.test_domains: name one or more where split.by is "domain", and only there'
            )
        if self.validation_classes and self.by not in ("random", "group"):
            raise SettingError('split.validation_classes: only where split.by is "random" or "group"')
        for name in self.fractions:
            if name not in FRACTIONS:
                raise SettingError(f'split.fractions: no part "{name}"; {nearest(name, FRACTIONS)}')

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON has them."""
        return write(self)

    @staticmethod
    def from_dict(table: Mapping[str, Any]) -> "SplitSettings":
        """The settings of a table; the rest have their defaults. Raises SettingError for an unknown key."""
        return read(SplitSettings, table, where="split")


def split_items(items: Items, settings: SplitSettings) -> Split:
    """The split of the settings: parts train, validation and test, "unseen" if classes are held back, and
    "validation_classes" in place of validation if it has classes of its own.

    Raises DataError if a split by group leaves a class nothing to train on. A published part or a domain may
    have classes of its own: retrieval is usually tested on other classes than were trained on.
    """
    if not settings.unseen and not settings.validation_classes:
        split = replace(_whole(items, settings), settings=settings.to_dict())
        expect_trained(items, split.parts, settings)
        return split
    unseen = unseen_classes(items, settings)
    held_back = of_classes(items, unseen) if unseen else torch.zeros(len(items), dtype=torch.bool)
    seen = (~held_back).nonzero().flatten()
    parts = _seen_parts(items, seen, settings)
    if settings.unseen:
        parts["unseen"] = held_back.nonzero().flatten()
    _keep_groups_whole(items, parts, settings)
    expect_trained(items, parts, settings)
    return Split(parts=parts, fingerprint=items.fingerprint(), settings=settings.to_dict())


def unseen_classes(items: Items, settings: SplitSettings) -> list[str]:
    """The names of the classes that are held back; a half is one of the classes that have items."""
    if not isinstance(settings.unseen, str):
        return whole_branches(settings.unseen, items.classes)
    present = sorted(set(items.labels.tolist()))
    if len(present) < 2:
        raise DataError(f"half of the classes cannot be held back: {items.name} has {len(present)}")
    if settings.unseen == "random-half":
        lots = torch.randperm(len(present), generator=torch.Generator().manual_seed(settings.seed))
        present = [present[place] for place in lots.tolist()]
    return [items.classes[label] for label in sorted(present[(len(present) + 1) // 2 :])]


def _whole(items: Items, settings: SplitSettings) -> Split:
    match settings.by:
        case "group":
            return by_group(items, settings.fractions, seed=settings.seed)
        case "domain":
            return by_domain(
                items, test_domains=settings.test_domains, fractions=settings.fractions, seed=settings.seed
            )
        case "part":
            return by_part(items, settings.fractions, seed=settings.seed)
    return stratified(items, settings.fractions, seed=settings.seed)


def _seen_parts(items: Items, seen: Tensor, settings: SplitSettings) -> dict[str, Tensor]:
    """The parts of the items of the seen classes."""
    if settings.validation_classes:
        return _with_validation_classes(items, seen, settings)
    check_fractions(settings.fractions)
    if settings.by == "random":
        return cut(items.labels, settings.fractions, seen, settings.seed)
    if settings.by == "group" and items.groups is not None:
        return cut_whole(items, settings.fractions, seen, settings.seed)
    inside = _whole(items.take(seen), settings)
    return {name: seen[indices] for name, indices in inside.parts.items()}


def _with_validation_classes(items: Items, seen: Tensor, settings: SplitSettings) -> dict[str, Tensor]:
    labels = items.labels.cpu()
    chosen = torch.isin(labels[seen], _validation_labels(items, torch.unique(labels[seen]), settings))
    if chosen.all() or not chosen.any():
        raise SettingError(
            "split.validation_classes: expected some of the seen classes, and others to train with; "
            f"{int(chosen.sum()):,} of {len(seen):,} items of seen classes are of them"
        )
    rest = remaining(settings.fractions, without="validation")
    if settings.by == "group":
        parts = cut_whole(items, rest, seen[~chosen], settings.seed)
    else:
        parts = cut(labels, rest, seen[~chosen], settings.seed)
    return {**parts, "validation_classes": seen[chosen]}


def _validation_labels(items: Items, classes: Tensor, settings: SplitSettings) -> Tensor:
    """The classes of the validation set: those that are named, or some of the seen ``classes``, drawn."""
    number = settings.validation_classes
    if isinstance(number, tuple):
        return items.class_indices(whole_branches(number, items.classes)).cpu()
    count = max(1, round(number * len(classes))) if number < 1 else int(number)
    if number >= 1 and count != number:
        raise SettingError(f"split.validation_classes: expected a whole number of classes, got {number}")
    if count >= len(classes):
        raise SettingError(
            f"split.validation_classes: {count} of {len(classes)} seen classes leaves none to train with"
        )
    lots = torch.randperm(len(classes), generator=torch.Generator().manual_seed(settings.seed))
    return classes[lots[:count]]


def _keep_groups_whole(items: Items, parts: Mapping[str, Tensor], settings: SplitSettings) -> None:
    """Raise DataError for a group with items of classes that are held back and of others."""
    if settings.by != "group" or items.groups is None:
        return
    for apart, words in (("unseen", "unseen"), ("validation_classes", "validation")):
        inside = set(items.groups[parts[apart]].tolist()) if apart in parts else set()
        others = [part for name, part in parts.items() if name != apart]
        torn = inside & set(items.groups[torch.cat(others)].tolist())
        if torn:
            raise DataError(
                f"{counted(len(torn), 'group', 'groups')} of {items.name} "
                f"{'has' if len(torn) == 1 else 'have'} items of seen and of {words} classes; choose other "
                f"{words} classes, or do not split by group: --split random"
            )


def expect_trained(items: Items, parts: Mapping[str, Tensor], settings: SplitSettings) -> None:
    """Raise DataError for classes of the validation or test part that have no items in the training part.

    Only a split by group can leave such classes; `problems_of` reports classes that are too small otherwise.
    """
    if settings.by != "group":
        return
    labels = items.labels.cpu()
    tested = torch.cat([parts[name] for name in ("validation", "test") if name in parts] or [parts["train"]])
    missing = sorted(set(labels[tested].tolist()) - set(labels[parts["train"]].tolist()))
    if missing:
        names = [f"{items.classes[label]} ({int((labels == label).sum()):,} items)" for label in missing]
        raise DataError(
            f"split by {settings.by}, {counted(len(names), 'class of', 'classes of')} {items.name} would be "
            "tested and have no item to train on, because too few groups have items of them: "
            f"{listed(names)}; hold them back as unseen classes, leave them out (data.classes), draw with "
            "another seed, or split the groups: --split random"
        )
