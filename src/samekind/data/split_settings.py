"""How items are divided into sets: plain values, so that a run can write them down, and the split itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import torch
from torch import Tensor

from samekind.data.groups import cut_whole
from samekind.data.held_out import by_domain, by_group, by_part, remaining
from samekind.data.items import Items
from samekind.data.splits import Split, check_fractions, cut, stratified
from samekind.data.words import counted
from samekind.errors import DataError, SettingError, nearest
from samekind.settings import Between, Natural, check, read, write

By = Literal["random", "group", "domain", "part"]
Half = Literal["half", "random-half"]

#: Names of classes that one sentence lists.
MOST_NAMED = 10

FRACTIONS = {"train": 0.6, "validation": 0.2, "test": 0.2}


@dataclass(frozen=True, kw_only=True)
class SplitSettings:
    """How items become the sets of an experiment.

    ``by`` is "random" (each class cut at random), "group" (no group in two parts), "domain" (the
    ``test_domains`` are the test set) or "part" (as published). ``fractions`` are for train, validation and
    test; test may be left out where there are unseen classes.

    ``unseen`` classes are kept apart whole: their names, "half" for the second half in the order of the
    classes (the first is the larger where the number is odd), or "random-half" for half of them by ``seed``.
    ``validation_classes`` cuts classes out of the seen ones to choose by, so many or, below 1, such a share:
    their items are the validation set, and train and test share the rest. They are drawn by ``seed``.
    """

    by: By = "random"
    unseen: tuple[str, ...] | Half = ()
    test_domains: tuple[str, ...] = ()
    validation_classes: Annotated[int | float, Between(0)] = 0
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
    """The split that the settings ask for: parts train, validation and test, "unseen" where classes are kept
    apart, and "validation_classes" in place of validation where it has classes of its own.

    Dealt by group a class may come to have nothing to train on: this is refused. A part or a domain may have
    classes of its own: to test on other classes than were trained on is how retrieval is usually published.
    """
    if not settings.unseen and not settings.validation_classes:
        split = replace(_whole(items, settings), settings=settings.to_dict())
        expect_trained(items, split.parts, settings)
        return split
    labels = items.labels.cpu()
    unseen = unseen_classes(items, settings)
    held_back = torch.isin(labels, items.class_indices(unseen).cpu())
    if held_back.all() or (settings.unseen and not held_back.any()):
        raise SettingError(
            f"a split by class needs items of seen and of unseen classes; "
            f"{int(held_back.sum())} of {len(items)} items are unseen "
            f"({counted(len(set(unseen)), 'class', 'classes')})"
        )
    seen = (~held_back).nonzero().flatten()
    parts = _seen_parts(items, seen, settings)
    if settings.unseen:
        parts["unseen"] = held_back.nonzero().flatten()
    _keep_groups_whole(items, parts, settings)
    expect_trained(items, parts, settings)
    return Split(parts=parts, fingerprint=items.fingerprint(), settings=settings.to_dict())


def unseen_classes(items: Items, settings: SplitSettings) -> list[str]:
    """The names of the classes that are kept apart; of a half only classes that have items count."""
    if not isinstance(settings.unseen, str):
        return list(settings.unseen)
    present = sorted(set(items.labels.tolist()))
    if len(present) < 2:
        raise DataError(f"half of the classes cannot be kept apart: {items.name} has {len(present)}")
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
    """The items of the seen classes, divided as if there were no others."""
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
    classes = torch.unique(labels[seen])
    wanted = settings.validation_classes
    count = max(1, round(wanted * len(classes))) if wanted < 1 else int(wanted)
    if wanted >= 1 and count != wanted:
        raise SettingError(f"split.validation_classes: expected a whole number of classes, got {wanted}")
    if count >= len(classes):
        raise SettingError(
            f"split.validation_classes: {count} of {len(classes)} seen classes leaves none to train with"
        )
    lots = torch.randperm(len(classes), generator=torch.Generator().manual_seed(settings.seed))
    chosen = torch.isin(labels[seen], classes[lots[:count]])
    rest = remaining(settings.fractions, without="validation")
    if settings.by == "group":
        parts = cut_whole(items, rest, seen[~chosen], settings.seed)
    else:
        parts = cut(labels, rest, seen[~chosen], settings.seed)
    return {**parts, "validation_classes": seen[chosen]}


def _keep_groups_whole(items: Items, parts: Mapping[str, Tensor], settings: SplitSettings) -> None:
    """Refuse a group with items of classes that are kept apart and of others: it would be in two parts."""
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
                f"{words} classes, or do not split by group (--split random tears them)"
            )


def expect_trained(items: Items, parts: Mapping[str, Tensor], settings: SplitSettings) -> None:
    """Refuse classes that would be tested or chosen by, and whose groups leave nothing to train on.

    A class cut at random has, unless it is smaller than the parts are many and the training part is not the
    largest; `problems_of` speaks of classes that small.
    """
    if settings.by != "group":
        return
    labels = items.labels.cpu()
    asked = torch.cat([parts[name] for name in ("validation", "test") if name in parts] or [parts["train"]])
    missing = sorted(set(labels[asked].tolist()) - set(labels[parts["train"]].tolist()))
    if missing:
        names = [f"{items.classes[label]} ({int((labels == label).sum()):,} items)" for label in missing]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        raise DataError(
            f"split by {settings.by}, {counted(len(names), 'class of', 'classes of')} {items.name} would be "
            f"tested and have no item to train on, for too few groups have items of them: "
            f"{', '.join(names[:MOST_NAMED])}{more}; keep them apart as unseen classes, leave them out "
            "(data.classes), draw with another seed, or tear the groups: --split random"
        )
