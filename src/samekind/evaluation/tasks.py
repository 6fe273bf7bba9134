"""The few-shot tasks of an evaluation, and their scores. If items have groups, queries are from other groups
than examples.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.groups import Apart
from samekind.decisions import Kind
from samekind.samplers import Episode, episodes
from samekind.samplers.members import members_by_class
from samekind.similarities import prepared_enrolments, score_all
from samekind.space import MetricSpace

#: Draws for one task at most: groups that span classes can make a draw fail.
MOST_DRAWS = 10
#: Tasks whose examples and items are mapped together.
TOGETHER = 200


def drawn_tasks(
    items: Items, apart: Apart, *, way: int, shot: int, queries: int, tasks: int, seed: int
) -> list[Episode]:
    """Tasks of at most ``way`` classes with ``shot`` examples each; fewer tasks, or none, if no more can be
    drawn.

    Each class has as many queries as the smallest has left beside its examples, at most ``queries``. With
    groups, the classes of a task have enough items in two groups or more, and no query is of a group that any
    example of the task is of: groups are dealt anew for every task. Where they are shared by classes so that
    no task of ``way`` classes can be drawn, tasks have as many classes as they can.
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
    grouped = {
        label: _Grouped(places, Counter(apart.groups[places].tolist()), apart.groups)
        for label, places in members.items()
    }
    # A class with one group, or too few items beside its smallest, can be in no task.
    several = {
        label: one for label, one in grouped.items() if len(one.places) - min(one.held.values()) >= shot
    }
    for classes in range(min(way, len(several)), 1, -1):
        drawn = _across_groups(several, classes, shot, queries, MOST_DRAWS * tasks, generator)
        if dealt := list(islice(drawn, tasks)):
            return dealt
    return []


def task_scores(
    space: MetricSpace, z: Tensor, tasks: Sequence[tuple[Tensor, Tensor]], *, kind: Kind
) -> Iterator[Tensor]:
    """The scores of each task, (classes, m).

    A task is the places of its examples (classes, shot) and of the items that are asked about (m,), in the
    embeddings ``z`` (n, d). The scores are those of `MetricSpace.score_enrolled` for the mean of the examples
    of each class. What has to be computed of an item or of a cohort is computed once for many tasks.
    """
    for start in range(0, len(tasks), TOGETHER):
        examples, asked = zip(*tasks[start : start + TOGETHER], strict=True)
        means = torch.cat([z[places.to(z.device)].mean(1) for places in examples])
        counts = torch.cat([torch.full((len(places),), places.shape[1]) for places in examples])
        items, columns = torch.unique(torch.cat(asked).to(z.device), return_inverse=True)
        scorer, first, second = prepared_enrolments(space.scorer(kind), means, z[items], counts.to(z.device))
        parts = torch.split(first, [len(places) for places in examples])
        for part, places in zip(parts, torch.split(columns, [len(places) for places in asked]), strict=True):
            yield score_all(scorer, part, second[places]).to(z.dtype)


class _Grouped(NamedTuple):
    """The items of a class, how many it has in each group, and the group of all items."""

    places: Tensor
    held: dict[int, int]
    groups: Tensor

    def outside(self, groups: Collection[int]) -> Tensor:
        """The items that are of none of these groups."""
        return self.places[~torch.isin(self.groups[self.places], torch.tensor(sorted(groups)))]


def _across_groups(
    members: dict[int, _Grouped], way: int, shot: int, queries: int, draws: int, generator: torch.Generator
) -> Iterator[Episode]:
    """Tasks, fewer than ``draws`` where groups cannot be dealt to the classes that were drawn."""
    labels = torch.tensor(list(members))
    for _ in range(draws):
        classes = labels[torch.randperm(len(labels), generator=generator)[:way]]
        drawn = [members[label] for label in classes.tolist()]
        asked = _dealt(drawn, shot, generator)
        if asked is None:
            continue
        support = torch.stack([_some(grouped.outside(asked), shot, generator) for grouped in drawn])
        shown = set(drawn[0].groups[support.flatten()].tolist())
        left = [_some(grouped.outside(shown), queries, generator) for grouped in drawn]
        fewest = min(map(len, left))
        yield Episode(classes, support, torch.stack([places[:fewest] for places in left]))


def _dealt(drawn: Sequence[_Grouped], shot: int, generator: torch.Generator) -> set[int] | None:
    """The groups of a task that are left to be asked about: one of each class, drawn so that all classes keep
    ``shot`` items in other groups. A group that holds several classes serves them all. None where a class has
    no such group.
    """
    asked: set[int] = set()
    left = [len(grouped.places) for grouped in drawn]
    for grouped in drawn:
        if asked & grouped.held.keys():
            continue
        own = list(grouped.held)
        for place in torch.randperm(len(own), generator=generator).tolist():
            spared = [count - other.held.get(own[place], 0) for count, other in zip(left, drawn, strict=True)]
            if min(spared) >= shot:
                asked.add(own[place])
                left = spared
                break
        else:
            return None
    return asked


def _some(places: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """So many of the items, drawn, or all."""
    return places[torch.randperm(len(places), generator=generator)[:count]]
