"""The few-shot tasks of an evaluation, and their scores. If items have groups, queries are from other groups
than examples.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.groups import Apart
from samekind.data.words import counted
from samekind.decisions import Kind
from samekind.evaluation.rows import Row
from samekind.evaluation.samples import Compared
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

    A class without an item beside its examples is in no task; `task_note` counts such classes. Each class has
    as many queries as the smallest of the others has left, at most ``queries``. With groups, the classes of a
    task have enough items in two groups or more, and no query is of a group that any example of the task is
    of: groups are dealt anew for every task. Where they are shared by classes so that no task of ``way``
    classes can be drawn, tasks have as many classes as they can.
    """
    generator = torch.Generator().manual_seed(seed)
    if apart.groups is None:
        return _without_groups(items, generator, way=way, shot=shot, queries=queries, tasks=tasks)
    several = _grouped(items, apart.groups, shot)
    for classes in range(min(way, len(several)), 1, -1):
        episode_list = _across_groups(several, classes, shot, queries, MOST_DRAWS * tasks, generator)
        if dealt := list(islice(episode_list, tasks)):
            return dealt
    return []


def task_note(items: Items, apart: Apart, shot: int) -> str:
    """What to know of tasks with so many examples: what is done about groups, and how many classes are in no
    task because they have too few items. Empty if there is nothing to know.
    """
    if apart.groups is None:
        every, usable = len(members_by_class(items.labels)), len(_large_enough(items, shot))
    else:
        every = len(torch.unique(items.labels.cpu()[apart.queries]))
        usable = len(_grouped(items, apart.groups, shot))
    few = "" if usable == every else f"{usable:,} of {every:,} classes have enough items"
    return "; ".join(filter(None, (apart.note, few)))


def missing_shots(
    rows: Iterable[Row | Compared], sets: Mapping[str, Items], shots: Sequence[int]
) -> list[str]:
    """A sentence for each set of items and number of examples without tasks, because too few classes have
    enough items.

    >>> items = Items(torch.zeros(4, 1), torch.tensor([0, 0, 1, 1]), ("a", "b"), "four")
    >>> missing_shots([], {"seen": items}, (5,))
    ['few-shot, seen: not measured with 5 examples, which takes two classes with 6 items or more']
    """
    measured = {(row.items, str(row.measure).split()[-1]) for row in rows if row.question == "few-shot"}
    return [
        f"few-shot, {name}: not measured with {counted(shot, 'example', 'examples')}, which takes two "
        f"classes with {shot + 1} items or more{'' if items.groups is None else ', their groups kept apart'}"
        for name, items in sets.items()
        for shot in dict.fromkeys(shots)
        if (name, f"{shot}-shot") not in measured
    ]


def _large_enough(items: Items, shot: int) -> dict[int, Tensor]:
    """The items of each class that has one beside its examples."""
    members = members_by_class(items.labels)
    return {label: places for label, places in members.items() if len(places) > shot}


def _grouped(items: Items, groups: Tensor, shot: int) -> "dict[int, _Grouped]":
    """The classes that can be in a task: with items of two groups, and enough beside the smallest of them."""
    grouped = {
        label: _Grouped(places, Counter(groups[places].tolist()), groups)
        for label, places in members_by_class(items.labels).items()
    }
    return {label: own for label, own in grouped.items() if len(own.places) - min(own.held.values()) >= shot}


def _without_groups(
    items: Items, generator: torch.Generator, *, way: int, shot: int, queries: int, tasks: int
) -> list[Episode]:
    members = _large_enough(items, shot)
    if len(members) < 2:
        return []
    places = torch.cat(list(members.values())).sort().values
    drawn = episodes(
        items.labels.cpu()[places],
        way=min(way, len(members)),
        shot=shot,
        queries=min(queries, min(map(len, members.values())) - shot),
        tasks=tasks,
        generator=generator,
    )
    if len(places) == len(items):
        return list(drawn)
    return [Episode(task.classes, places[task.support], places[task.query]) for task in drawn]


def task_scores(
    space: MetricSpace, z: Tensor, tasks: Sequence[tuple[Tensor, Tensor]], *, kind: Kind
) -> Iterator[Tensor]:
    """The scores of each task, (classes, m).

    A task is the places of its examples (classes, shot) and of the queries (m,), in the
    embeddings ``z`` (n, d). The scores are those of `MetricSpace.score_enrolled` for the mean of the examples
    of each class. What has to be computed of an item or of a cohort is computed once for many tasks.
    """
    for start in range(0, len(tasks), TOGETHER):
        examples, queries = zip(*tasks[start : start + TOGETHER], strict=True)
        means = torch.cat([z[places.to(z.device)].mean(1) for places in examples])
        counts = torch.cat([torch.full((len(places),), places.shape[1]) for places in examples])
        items, columns = torch.unique(torch.cat(queries).to(z.device), return_inverse=True)
        scorer, first, second = prepared_enrolments(space.scorer(kind), means, z[items], counts.to(z.device))
        parts = torch.split(first, [len(places) for places in examples])
        for part, places in zip(
            parts, torch.split(columns, [len(places) for places in queries]), strict=True
        ):
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
        task_classes = [members[label] for label in classes.tolist()]
        query_groups = _dealt(task_classes, shot, generator)
        if query_groups is None:
            continue
        support = torch.stack(
            [_at_most(grouped.outside(query_groups), shot, generator) for grouped in task_classes]
        )
        example_groups = set(task_classes[0].groups[support.flatten()].tolist())
        query_places = [
            _at_most(grouped.outside(example_groups), queries, generator) for grouped in task_classes
        ]
        fewest = min(map(len, query_places))
        yield Episode(classes, support, torch.stack([places[:fewest] for places in query_places]))


def _dealt(task_classes: Sequence[_Grouped], shot: int, generator: torch.Generator) -> set[int] | None:
    """The groups that are left for the queries of a task: one of each class, drawn so that all classes keep
    ``shot`` items in other groups. A group that holds several classes serves them all. None where a class has
    no such group.
    """
    query_groups: set[int] = set()
    example_counts = [len(grouped.places) for grouped in task_classes]
    for grouped in task_classes:
        if query_groups & grouped.held.keys():
            continue
        own = list(grouped.held)
        for place in torch.randperm(len(own), generator=generator).tolist():
            spared = [
                count - other.held.get(own[place], 0)
                for count, other in zip(example_counts, task_classes, strict=True)
            ]
            if min(spared) >= shot:
                query_groups.add(own[place])
                example_counts = spared
                break
        else:
            return None
    return query_groups


def _at_most(places: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """At most ``count`` of the items, drawn at random."""
    return places[torch.randperm(len(places), generator=generator)[:count]]
