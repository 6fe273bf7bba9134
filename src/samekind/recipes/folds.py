"""Classes held out in turn, to measure what was fitted without them.

Whole branches are held out where the items have a tree of their classes, or the class names have branches
("Greek/alpha"): random classes leave near relatives on both sides, which is easier than new classes are. Of
few classes without branches, those that are hardest to tell apart are held out together: two random classes
are told apart by anything, so they show no difference.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.words import counted
from samekind.prototypes import class_means
from samekind.recipes.house import FEW_CLASSES

#: Folds at most, and the classes that each must have at least; with fewer classes items are held out.
FOLDS, FEWEST_CLASSES = 4, 2
HARDEST = ", the hardest to tell apart together"


class Fold(NamedTuple):
    """The places of the items to fit on, and of those to measure on."""

    fitted: Tensor
    held_out: Tensor


class Folds(NamedTuple):
    """The folds, what they are in words, and whether whole classes are held out in them; ``few`` if these are
    too few to show what is lost.
    """

    parts: list[Fold]
    words: str
    by_class: bool
    few: bool = False

    def numbers(self, items: int) -> Tensor:
        """The number of the fold that holds out each of so many items (items,); -1 for one in none."""
        numbers = torch.full((items,), -1)
        for number, fold in enumerate(self.parts):
            numbers[fold.held_out] = number
        return numbers


def class_folds(
    items: Items, *, seed: int = 0, features: Tensor | None = None, depth: int | None = None
) -> Folds:
    """Folds over the classes with two items or more: each is held out once, with its whole branch.
    ``depth`` says how many names of a class's path make its branch (the class, order and family of a bird:
    3); None takes the coarsest level that has enough branches of less than half of the classes.

    Of few classes without branches those that overlap most in the ``features`` (n, d) are held out together,
    the hardest first. With fewer than six classes items of known classes are held out instead.
    """
    labels = items.labels.cpu()
    present = (torch.bincount(labels) > 1).nonzero().flatten().tolist()
    count = min(FOLDS, len(present) // FEWEST_CLASSES)
    if count < 3:
        return _item_folds(labels, items.groups, seed)
    groups, few = _branches(items, present, folds=count, depth=depth), len(present) < FEW_CLASSES
    if groups is None and few and features is not None:
        dealt, which = _hardest_together(_distances(features, labels, present), present, count), HARDEST
    else:
        dealt = _dealt(groups or [[label] for label in present], count, seed)
        which = "" if groups is None else f", by whole branches of {len(groups)}"
    parts = [_fold(torch.isin(labels, torch.tensor(held))) for held in dealt]
    held = min(map(len, dealt)), max(map(len, dealt))
    size = counted(held[0], "class", "classes") if held[0] == held[1] else f"{held[0]} to {held[1]} classes"
    return Folds(parts, f"{count} folds of {size} not fitted to{which}", True, few)


def _item_folds(labels: Tensor, groups: Tensor | None, seed: int) -> Folds:
    """Three folds, each with a third of the items of every class, and of each of its groups: items are
    compared with those of other groups.
    """
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    if groups is not None:
        order = order[groups.cpu()[order].argsort(stable=True)]
    turn = torch.empty_like(labels)
    for label in torch.unique(labels):
        members = order[labels[order] == label]
        turn[members] = torch.arange(len(members)) % 3
    classes = len(torch.unique(labels))
    words = f"3 folds of items not fitted to, of {counted(classes, 'class', 'classes')}, too few to hold out"
    return Folds([_fold(turn == part) for part in range(3)], words, False)


def _fold(held_out: Tensor) -> Fold:
    return Fold((~held_out).nonzero().flatten(), held_out.nonzero().flatten())


def _branches(
    items: Items, labels: Sequence[int], *, folds: int, depth: int | None
) -> list[list[int]] | None:
    """The labels of each branch, at a depth, or at the coarsest that has at least twice as many branches as
    folds and none with more than half of the classes; None if there is no such level.
    """
    names = {label: items.classes[label] for label in labels}
    path_of = items.tree.path if items.tree is not None else lambda name: tuple(name.split("/"))
    paths = {label: path_of(name) for label, name in names.items()}
    deepest = max(map(len, paths.values()))
    for level in range(1, deepest) if depth is None else (depth,):
        groups: dict[tuple[str, ...], list[int]] = {}
        for label, path in paths.items():
            groups.setdefault(path[:level], []).append(label)
        if len(groups) >= 2 * folds and max(map(len, groups.values())) <= len(names) / 2:
            return list(groups.values()) if len(groups) < len(names) else None
    return None


def _dealt(groups: Sequence[list[int]], count: int, seed: int) -> list[list[int]]:
    """Groups dealt to so many hands, the largest first and each to the hand with the fewest labels."""
    lots = torch.randperm(len(groups), generator=torch.Generator().manual_seed(seed)).tolist()
    hands: list[list[int]] = [[] for _ in range(count)]
    for place in sorted(lots, key=lambda place: -len(groups[place])):
        min(hands, key=len).extend(groups[place])
    return hands


def _distances(features: Tensor, labels: Tensor, classes: Sequence[int]) -> Tensor:
    """The squared distance of the means of two classes over the sum of their variances: (classes, classes);
    infinite for a class and itself. Features count by their direction.
    """
    z = torch.nn.functional.normalize(features.cpu().float().flatten(1))
    means, _ = class_means(z, labels, int(labels.max()) + 1)
    spread, _ = class_means((z - means[labels]).square().sum(1, keepdim=True), labels, len(means))
    means, spread = means[classes], spread[classes]
    ratio = torch.cdist(means, means).square() / (spread + spread.T).clamp(min=1e-12)
    return ratio.fill_diagonal_(torch.inf)


def _hardest_together(distances: Tensor, classes: Sequence[int], count: int) -> list[list[int]]:
    """So many hands of classes: each begins with the nearest two that are left, and the others go to the
    nearest of the smallest hands.
    """
    left, hands = list(range(len(classes))), list[list[int]]()
    for _ in range(count):
        pairs = distances[left][:, left]
        first, second = divmod(int(pairs.argmin()), len(left))
        hands.append([left[first], left[second]])
        left = [place for place in left if place not in hands[-1]]
    for place in left:
        min(hands, key=lambda hand: (len(hand), float(distances[place, hand].min()))).append(place)
    return [[classes[place] for place in hand] for hand in hands]
