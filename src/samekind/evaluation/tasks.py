"""The few-shot tasks of an evaluation, and their scores. If items have groups, queries are from other groups
than examples.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

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
    example of the task is of.
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
    several = {
        label: places for label, places in members.items() if len(_spare(apart.groups[places], shot)[0]) > 0
    }
    way = min(way, len(several))
    if way < 2:
        return []
    drawn = _across_groups(several, apart.groups, way, shot, queries, MOST_DRAWS * tasks, generator)
    return list(islice(drawn, tasks))


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
            [_examples(members[label], groups, shot, generator) for label in classes.tolist()]
        )
        shown = groups[support.flatten()]
        queries_by_class = []
        for label in classes.tolist():
            places = members[label]
            places = places[~torch.isin(groups[places], shown)]
            queries_by_class.append(places[torch.randperm(len(places), generator=generator)[:queries]])
        fewest = min(map(len, queries_by_class))
        if fewest:
            yield Episode(classes, support, torch.stack([places[:fewest] for places in queries_by_class]))


def _examples(places: Tensor, groups: Tensor, shot: int, generator: torch.Generator) -> Tensor:
    """So many items of a class, of all its groups but one, drawn first, that is left to be asked about."""
    spare, place = _spare(groups[places], shot)
    left_out = spare[int(torch.randint(len(spare), (1,), generator=generator))]
    others = places[place != left_out]
    return others[torch.randperm(len(others), generator=generator)[:shot]]


def _spare(groups: Tensor, shot: int) -> tuple[Tensor, Tensor]:
    """The groups without which a class still has ``shot`` items, as indices into its groups, and the index of
    each item's group (items,).
    """
    _, place, counts = torch.unique(groups, return_inverse=True, return_counts=True)
    return (len(groups) - counts >= shot).nonzero().flatten(), place
