"""Groups of items that stay together: dealt whole to the parts of a split, and not compared."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data.items import Items
from samekind.data.splits import cut
from samekind.data.words import counted
from samekind.errors import DataError

#: The note on pairs and neighbours of items with groups: the own group is left out, or it is not, because too
#: few classes have items of two groups (or because it cannot be, as in clustering).
OTHER_GROUPS, OWN_GROUPS = "own group left out", "own group among them"

#: At least so many classes (or all) must have two groups, and half of those with two items; a measure over
#: fewer classes would not speak for the set.
FEWEST_CLASSES = 3


def cut_whole(items: Items, fractions: Mapping[str, float], among: Tensor, seed: int) -> dict[str, Tensor]:
    """The items ``among`` (k,) dealt to the fractions: in whole groups if they have any, else one by one."""
    if items.groups is None:
        return cut(items.labels, fractions, among, seed)
    return deal_groups(items.groups, items.labels, fractions, among, seed)


def deal_groups(
    groups: Tensor, labels: Tensor, fractions: Mapping[str, float], among: Tensor, seed: int
) -> dict[str, Tensor]:
    """The items ``among`` (k,) dealt to the fractions, whole groups at a time.

    The largest groups are dealt first, ties at random, each to the part that is furthest behind its fraction
    of the group's classes. The part "train" gets every class, if that is possible. A class with as many
    groups as there are parts is in every part; one with fewer is in "train" and the parts with the largest
    fractions, as far as groups of several classes allow it.
    """
    different, counts, held = _cells(groups.cpu()[among], labels.cpu()[among])
    if len(different) < len(fractions):
        raise DataError(
            f"there {'is' if len(different) == 1 else 'are'} {counted(len(different), 'group', 'groups')} "
            f"for {len(fractions)} parts ({', '.join(fractions)}); every part needs one of its own; "
            "to split the groups: --split random"
        )
    lots = torch.randperm(len(different), generator=torch.Generator().manual_seed(seed))
    order = lots[counts[lots].argsort(descending=True, stable=True)].tolist()
    dealing = _Dealing(fractions, held)
    if not dealing.deal(order):
        # This cannot fail: every other part first gets a group that training can spare.
        spared = _spared(order[::-1], held, len(fractions) - 1)
        dealing = _Dealing(fractions, held)
        dealing.deal(order, dict(zip(spared, dealing.parts[1:], strict=False)))
    inside = groups.cpu()[among]
    return {name: among[torch.isin(inside, different[dealing.dealt[name]])] for name in fractions}


class _Dealing:
    """How far each part is behind its fraction of each class, while whole groups are dealt."""

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
        """Deal the groups in this order, after those that are ``given`` to a part. Returns whether the first
        part has every class.
        """
        given = given or {}
        order = [*given, *(group for group in order if group not in given)]
        for place, group in enumerate(order):
            empty = [name for name in self.dealt if not self.dealt[name]]
            # The last groups go to parts that have none yet.
            names = empty if len(empty) >= len(order) - place else list(self.dealt)
            self._give(group, [given[group]] if group in given else names)
        return not any(self.parts[0] in missing for missing in self.without.values())

    def _give(self, group: int, names: list[str]) -> None:
        """Deal one group to that of the named parts that needs it most."""
        classes = self.held[group]

        def need(name: str) -> tuple[float, ...]:
            needed = sum(
                name == self.parts[0] and name in self.without[label] and self.groups_left[label] == 1
                for label in classes
            )
            # The last groups of a class go to the first of the parts that have nothing of it yet.
            last = sum(name in self._waiting(label) for label in classes)
            behind = sum(
                count * self.behind[name][label] / self.sizes[label] for label, count in classes.items()
            )
            # Rounded, so that equal fractions are equal, and the total decides.
            return needed, last, round(behind, 9), round(self.behind_in_all[name], 9)

        chosen = max(names, key=need)
        for label, count in classes.items():
            self.groups_left[label] -= 1
            self.without[label].discard(chosen)
            self.behind[chosen][label] -= count
        self.behind_in_all[chosen] -= sum(classes.values())
        self.dealt[chosen].append(group)

    def _waiting(self, label: int) -> list[str]:
        """The parts that the last groups of a class go to; none while more groups are left."""
        without, left = self.without[label], self.groups_left[label]
        return [name for name in self.parts if name in without][:left] if left <= len(without) else []


def _spared(order: list[int], held: list[dict[int, int]], count: int) -> list[int]:
    """The first ``count`` groups without which every class still has one; [] if there are fewer."""
    left = Counter(label for classes in held for label in classes)

    def search(start: int, count: int) -> list[int] | None:
        if not count:
            return []
        for place in range(start, len(order)):
            classes = held[order[place]]
            if all(left[label] > 1 for label in classes):
                left.subtract(dict.fromkeys(classes, 1))
                rest = search(place + 1, count - 1)
                if rest is not None:
                    return [order[place], *rest]
                left.update(dict.fromkeys(classes, 1))
        return None

    return search(0, count) or []


class Apart(NamedTuple):
    """Which items of a set are compared with one another.

    ``groups`` (n,) if items of one group are not compared; None if there are no groups, or too few classes
    have two. ``marks`` (n,) say the same for all sets: items with the same mark are not compared, and every
    item has its own at least. ``queries`` (k,) are the items whose class has another group. ``note``
    says what is left out; it is empty if there are no groups.
    """

    groups: Tensor | None
    marks: Tensor
    queries: Tensor
    note: str

    def named(self, name: str) -> str:
        """A name of pairs, with the note."""
        return ", ".join(filter(None, (name, self.note)))


def groups_apart(items: Items) -> Apart:
    """Which of these items are compared. The own group is left out if three classes (or all) have items of
    two groups, and half of those with two items; else nothing is, and the note says so.
    """
    itself = torch.arange(len(items))
    if items.groups is None:
        return Apart(None, itself, itself, "")
    groups, labels = items.groups.cpu(), items.labels.cpu()
    different, place = torch.unique(groups, return_inverse=True)
    cells = torch.unique(labels * len(different) + place)
    groups_of = torch.bincount(cells // max(1, len(different)), minlength=len(items.classes))
    sizes = torch.bincount(labels, minlength=len(items.classes))
    several, of_two, every = (int(mask.sum()) for mask in (groups_of > 1, sizes > 1, sizes > 0))
    if not several or several < max(min(FEWEST_CLASSES, of_two), of_two / 2):
        return Apart(None, itself, itself, OWN_GROUPS)
    count = "" if several == every else f", {several:,} of {every:,} classes have another"
    return Apart(groups, groups, itself[(groups_of > 1)[labels]], f"{OTHER_GROUPS}{count}")


def torn_groups(parts: Mapping[str, Items]) -> tuple[int, int]:
    """How many groups have items in more than one of the parts, and how many groups there are."""
    counts = Counter(
        group
        for items in parts.values()
        if items.groups is not None
        for group in torch.unique(items.groups).tolist()
    )
    return sum(count > 1 for count in counts.values()), len(counts)


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
