"""The few-shot tasks of an evaluation: where items have groups, queries are of others than the examples."""

from collections.abc import Iterator
from itertools import islice

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.groups import Apart
from samekind.samplers import Episode, episodes
from samekind.samplers.members import members_by_class

#: So many draws are made for a task at most: groups of several classes can make one fail.
MOST_DRAWS = 10


def drawn_tasks(
    items: Items, apart: Apart, *, way: int, shot: int, queries: int, tasks: int, seed: int
) -> list[Episode]:
    """Tasks of ``way`` classes with ``shot`` examples each, or of as many classes as there are; fewer
    tasks, or none, where no more can be drawn.

    Each class has as many queries as the smallest has left beside its examples, ``queries`` at most. Where
    own groups are left out, the classes of a task are among those with enough items of two groups or more,
    and no query is of a group that any example of the task is of.
    """
    generator = torch.Generator().manual_seed(seed)
    members = members_by_class(items.labels.cpu())
    if apart.groups is None:
        way, fewest = min(way, len(members)), min(map(len, members.values()))
        if shot >= fewest:
            return []
        left = min(queries, fewest - shot)
        drawn = episodes(items.labels, way=way, shot=shot, queries=left, tasks=tasks, generator=generator)
        return list(drawn)
    several = {label: mine for label, mine in members.items() if len(_spare(apart.groups[mine], shot)[0]) > 0}
    way = min(way, len(several))
    if way < 2:
        return []
    drawn = _across_groups(several, apart.groups, way, shot, queries, MOST_DRAWS * tasks, generator)
    return list(islice(drawn, tasks))


def _across_groups(
    members: dict[int, Tensor],
    groups: Tensor,
    way: int,
    shot: int,
    queries: int,
    draws: int,
    generator: torch.Generator,
) -> Iterator[Episode]:
    labels = torch.tensor(list(members))
    for _ in range(draws):
        classes = labels[torch.randperm(len(labels), generator=generator)[:way]]
        support = torch.stack(
            [_examples(members[each], groups, shot, generator) for each in classes.tolist()]
        )
        shown = groups[support.flatten()]
        asked = []
        for label in classes.tolist():
            mine = members[label]
            mine = mine[~torch.isin(groups[mine], shown)]
            asked.append(mine[torch.randperm(len(mine), generator=generator)[:queries]])
        fewest = min(map(len, asked))
        if fewest:
            yield Episode(classes, support, torch.stack([each[:fewest] for each in asked]))


def _examples(mine: Tensor, groups: Tensor, shot: int, generator: torch.Generator) -> Tensor:
    """So many items of a class, of all its groups but one, drawn first, that is left to be asked about."""
    spare, place = _spare(groups[mine], shot)
    kept = spare[int(torch.randint(len(spare), (1,), generator=generator))]
    others = mine[place != kept]
    return others[torch.randperm(len(others), generator=generator)[:shot]]


def _spare(groups: Tensor, shot: int) -> tuple[Tensor, Tensor]:
    """The groups beside which a class has so many items, by their places among its groups, and the place of
    each item's group (items,).
    """
    _, place, counts = torch.unique(groups, return_inverse=True, return_counts=True)
    return (len(groups) - counts >= shot).nonzero().flatten(), place
