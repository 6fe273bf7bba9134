"""Items that must stay together: dealt whole to the parts of a split, and not compared with one another."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data.items import Items
from samekind.data.splits import cut
from samekind.data.words import counted
from samekind.errors import DataError

#: What is noted of pairs and neighbours of items that have groups: the own group is passed over; or it is
#: not, as too few classes have items of two (or because it cannot be, as in clustering).
OTHER_GROUPS, OWN_GROUPS = "own group left out", "own group among them"

#: So many classes, or all there are, must have two groups, and half of those that have two items: what is
#: told of fewer is told of other classes than are named.
FEWEST_CLASSES = 3


def cut_whole(items: Items, fractions: Mapping[str, float], among: Tensor, seed: int) -> dict[str, Tensor]:
    """The items ``among`` (k,) dealt to the fractions: whole groups where they have any, else one by one."""
    if items.groups is None:
        return cut(items.labels, fractions, among, seed)
    return deal_groups(items.groups, items.labels, fractions, among, seed)


def deal_groups(
    groups: Tensor, labels: Tensor, fractions: Mapping[str, float], among: Tensor, seed: int
) -> dict[str, Tensor]:
    """The items ``among`` (k,) dealt to the fractions, whole groups at a time.

    The largest groups are dealt first, ties by lot, each to the part that is furthest behind its fraction of
    the group's classes. The part "train" has every class, if groups can be dealt so at all. A class of as
    many groups as there are parts is in every part, and of fewer groups in "train" and those with the largest
    fractions, as far as groups of several classes allow it.
    """
    different, counts, held = _cells(groups.cpu()[among], labels.cpu()[among])
    if len(different) < len(fractions):
        raise DataError(
            f"there {'is' if len(different) == 1 else 'are'} {counted(len(different), 'group', 'groups')} "
            f"for {len(fractions)} parts ({', '.join(fractions)}); every part needs one of its own, or the "
            "groups must be torn by name: --split random"
        )
    lots = torch.randperm(len(different), generator=torch.Generator().manual_seed(seed))
    order = lots[counts[lots].argsort(descending=True, stable=True)].tolist()
    dealing = _Dealing(fractions, held)
    if not dealing.deal(order):
        # Begun with a group for every other part that training can spare, it cannot fail.
        spared = _spared(order[::-1], held, len(fractions) - 1)
        dealing = _Dealing(fractions, held)
        dealing.deal(order, dict(zip(spared, dealing.parts[1:], strict=False)))
    inside = groups.cpu()[among]
    return {name: among[torch.isin(inside, different[dealing.dealt[name]])] for name in fractions}


class _Dealing:
    """What of each class the parts still lack, while whole groups are dealt to them."""

    def __init__(self, fractions: Mapping[str, float], held: list[dict[int, int]]) -> None:
        self.held = held
        self.sizes: dict[int, int] = {}
        self.groups_left: dict[int, int] = {}
        for classes in held:
            for label, count in classes.items():
                self.sizes[label] = self.sizes.get(label, 0) + count
                self.groups_left[label] = self.groups_left.get(label, 0) + 1
        self.parts = sorted(fractions, key=lambda name: (name != "train", -fractions[name]))
        self.dealt: dict[str, list[int]] = {name: [] for name in fractions}
        self.behind = {
            name: {label: fraction * size for label, size in self.sizes.items()}
            for name, fraction in fractions.items()
        }
        self.without = {label: set(fractions) for label in self.sizes}
        self.behind_in_all = {
            name: fraction * sum(self.sizes.values()) for name, fraction in fractions.items()
        }

    def deal(self, order: list[int], given: Mapping[int, str] | None = None) -> bool:
        """Deal the groups in this order, those that are ``given`` to a part first; whether the first part
        has every class.
        """
        given = given or {}
        order = [*given, *(group for group in order if group not in given)]
        for place, group in enumerate(order):
            empty = [name for name in self.dealt if not self.dealt[name]]
            # The last groups are kept for parts that have none yet.
            names = empty if len(empty) >= len(order) - place else list(self.dealt)
            self._give(group, [given[group]] if group in given else names)
        return not any(self.parts[0] in missing for missing in self.without.values())

    def _give(self, group: int, names: list[str]) -> None:
        """Deal one group to the part, of these, that needs it most."""
        classes = self.held[group]

        def wanted(name: str) -> tuple[float, ...]:
            needed = sum(
                name == self.parts[0] and name in self.without[label] and self.groups_left[label] == 1
                for label in classes
            )
            # The last groups of a class are kept for the first of the parts that have nothing of it yet.
            last = sum(name in self._waiting(label) for label in classes)
            behind = sum(
                count * self.behind[name][label] / self.sizes[label] for label, count in classes.items()
            )
            # Rounded, so that equal fractions are equal: then the whole part decides.
            return needed, last, round(behind, 9), round(self.behind_in_all[name], 9)

        chosen = max(names, key=wanted)
        for label, count in classes.items():
            self.groups_left[label] -= 1
            self.without[label].discard(chosen)
            self.behind[chosen][label] -= count
        self.behind_in_all[chosen] -= sum(classes.values())
        self.dealt[chosen].append(group)

    def _waiting(self, label: int) -> list[str]:
        """The parts that the last groups of a class are for; none while there are more groups than those."""
        without, left = self.without[label], self.groups_left[label]
        return [name for name in self.parts if name in without][:left] if left <= len(without) else []


def _spared(order: list[int], held: list[dict[int, int]], count: int) -> list[int]:
    """The first so many groups, in this order, without which every class still has one; none if there are
    not so many.
    """
    left = Counter(label for classes in held for label in classes)

    def found(start: int, count: int) -> list[int] | None:
        if not count:
            return []
        for place in range(start, len(order)):
            classes = held[order[place]]
            if all(left[label] > 1 for label in classes):
                left.subtract(dict.fromkeys(classes, 1))
                rest = found(place + 1, count - 1)
                if rest is not None:
                    return [order[place], *rest]
                left.update(dict.fromkeys(classes, 1))
        return None

    return found(0, count) or []


class Apart(NamedTuple):
    """Which items of a set are compared with one another.

    ``groups`` (n,) where no item is compared with one of its own group; None where items have no groups, or
    too few classes have two. ``marks`` (n,) say the same as numbers: an item finds none of its own mark, and
    itself least of all. ``asked`` (k,) are the items that are asked about: those whose class has another
    group. ``note`` is what is to be said of it; nothing where items have no groups.
    """

    groups: Tensor | None
    marks: Tensor
    asked: Tensor
    note: str

    def named(self, name: str) -> str:
        """The name of what pairs are made of, with the note where there is one."""
        return ", ".join(each for each in (name, self.note) if each)


def groups_apart(items: Items) -> Apart:
    """What of these items is compared. The own group is left out where three classes, or all, have items of
    two groups, and half of those that have two items; else nothing is, and the note says so.
    """
    itself = torch.arange(len(items))
    if items.groups is None:
        return Apart(None, itself, itself, "")
    groups, labels = items.groups.cpu(), items.labels.cpu()
    different, place = torch.unique(groups, return_inverse=True)
    cells = torch.unique(labels * len(different) + place)
    groups_of = torch.bincount(cells // max(1, len(different)), minlength=len(items.classes))
    sizes = torch.bincount(labels, minlength=len(items.classes))
    several, of_two, every = (int(each.sum()) for each in (groups_of > 1, sizes > 1, sizes > 0))
    if not several or several < max(min(FEWEST_CLASSES, of_two), of_two / 2):
        return Apart(None, itself, itself, OWN_GROUPS)
    count = "" if several == every else f", {several:,} of {every:,} classes have another"
    return Apart(groups, groups, itself[(groups_of > 1)[labels]], f"{OTHER_GROUPS}{count}")


def torn_groups(parts: Mapping[str, Items]) -> tuple[int, int]:
    """How many groups have items in more than one of the named parts, and of how many."""
    found = [torch.unique(each.groups).tolist() for each in parts.values() if each.groups is not None]
    homes = Counter(group for groups in found for group in groups)
    return sum(count > 1 for count in homes.values()), len(homes)


def _cells(groups: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, list[dict[int, int]]]:
    """The different groups, how many items each has, and how many of each class, group by group."""
    different, place, counts = torch.unique(groups, return_inverse=True, return_counts=True)
    classes, class_ = torch.unique(labels, return_inverse=True)
    cells, sizes = torch.unique(place * len(classes) + class_, return_counts=True)
    held: list[dict[int, int]] = [{} for _ in different]
    for cell, size in zip(cells.tolist(), sizes.tolist(), strict=True):
        group, label = divmod(cell, len(classes))
        held[group][label] = size
    return different, counts, held
