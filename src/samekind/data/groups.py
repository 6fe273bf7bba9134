"""Items that must stay together: dealt whole to the parts of a split, and not compared with one another."""

from collections import Counter
from collections.abc import Mapping

import torch
from torch import Tensor

from samekind.data.items import Items
from samekind.data.splits import cut
from samekind.errors import DataError

#: What is noted of pairs and neighbours of items that have groups: the own group is passed over; or it could
#: not be, as no class has items of two groups.
OTHER_GROUPS, OWN_GROUPS = "own group left out", "own group among them"


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
    the group's classes. A class of as many groups as there are parts is in every part, and of fewer groups
    in those with the largest fractions, as far as groups of several classes allow it.
    """
    different, counts, held = _cells(groups.cpu()[among], labels.cpu()[among])
    if len(different) < len(fractions):
        raise DataError(
            f"there are {len(different)} groups for {len(fractions)} parts ({', '.join(fractions)}); "
            "every part needs one of its own, or the groups must be torn by name: --split random"
        )
    lots = torch.randperm(len(different), generator=torch.Generator().manual_seed(seed))
    order = lots[counts[lots].argsort(descending=True, stable=True)].tolist()
    dealing = _Dealing(fractions, held)
    dealt: dict[str, list[int]] = {name: [] for name in fractions}
    for place, group in enumerate(order):
        empty = [name for name in fractions if not dealt[name]]
        # The last groups are kept for parts that have none yet.
        names = empty if len(empty) >= len(order) - place else list(fractions)
        dealt[dealing.give(held[group], names)].append(int(different[group]))
    inside = groups.cpu()[among]
    return {name: among[torch.isin(inside, torch.tensor(members))] for name, members in dealt.items()}


class _Dealing:
    """What of each class the parts still lack, while whole groups are dealt to them."""

    def __init__(self, fractions: Mapping[str, float], held: list[dict[int, int]]) -> None:
        self.sizes: dict[int, int] = {}
        self.groups_left: dict[int, int] = {}
        for classes in held:
            for label, count in classes.items():
                self.sizes[label] = self.sizes.get(label, 0) + count
                self.groups_left[label] = self.groups_left.get(label, 0) + 1
        self.behind = {
            name: {label: fraction * size for label, size in self.sizes.items()}
            for name, fraction in fractions.items()
        }
        self.without = {label: set(fractions) for label in self.sizes}
        self.behind_in_all = {
            name: fraction * sum(self.sizes.values()) for name, fraction in fractions.items()
        }

    def give(self, classes: Mapping[int, int], names: list[str]) -> str:
        """The part, of these, that a group with so many items of each class goes to; it is counted there."""

        def wanted(name: str) -> tuple[float, ...]:
            # The last groups of a class are kept for the parts that have nothing of it yet.
            last = sum(
                name in self.without[label] and self.groups_left[label] <= len(self.without[label])
                for label in classes
            )
            behind = sum(
                count * self.behind[name][label] / self.sizes[label] for label, count in classes.items()
            )
            # Rounded, so that equal fractions are equal: then the whole part decides.
            return last, round(behind, 9), round(self.behind_in_all[name], 9)

        chosen = max(names, key=wanted)
        for label, count in classes.items():
            self.groups_left[label] -= 1
            self.without[label].discard(chosen)
            self.behind[chosen][label] -= count
        self.behind_in_all[chosen] -= sum(classes.values())
        return chosen


def groups_apart(items: Items) -> Tensor | None:
    """The group of each item (n,), where no item is to be compared with one of its own group.

    None where items have no groups, or no class has items of two: then nothing of one class would be left to
    compare, and `groups_note` says so.
    """
    if items.groups is None:
        return None
    groups, labels = items.groups.cpu(), items.labels.cpu()
    different, place = torch.unique(groups, return_inverse=True)
    cells = torch.unique(labels * len(different) + place)
    return groups if len(cells) > len(torch.unique(labels)) else None


def groups_note(items: Items) -> str:
    """What is to be noted of pairs and neighbours of these items; nothing where they have no groups."""
    if items.groups is None:
        return ""
    return OTHER_GROUPS if groups_apart(items) is not None else OWN_GROUPS


def named_with_groups(name: str, items: Items) -> str:
    """The name of what pairs are made of, with the note on groups where there is one."""
    return ", ".join(each for each in (name, groups_note(items)) if each)


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
