"""Few-shot tasks: a few labelled items of a few classes, and others of the same classes to recognise.

Vinyals et al., "Matching Networks for One Shot Learning", NeurIPS 2016.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.samplers.members import members_by_class


class Episode(NamedTuple):
    """One task; ``support`` and ``query`` are item indices, one row per class, and share no item."""

    classes: Tensor  # (way,) labels
    support: Tensor  # (way, shot)
    query: Tensor  # (way, queries)


def episodes(
    labels: Tensor, *, way: int, shot: int, queries: int, tasks: int, generator: torch.Generator
) -> Iterator[Episode]:
    """``tasks`` random tasks: ``way`` classes, ``shot`` support and ``queries`` query items of each.

    Classes and items are drawn without replacement within a task and anew for every task. Every class must
    have enough items: leaving one out would make the tasks easier or harder.
    """
    if way < 2 or min(shot, queries, tasks) < 1:
        raise SettingError(
            "a task needs at least 2 classes, 1 shot and 1 query, and there must be 1 task; "
            f"got way {way}, shot {shot}, queries {queries}, tasks {tasks}"
        )
    members = members_by_class(labels)
    if len(members) < way:
        raise SettingError(f"tasks of {way} classes need as many; the items are of {len(members)}")
    label, fewest = min(
        ((label, len(indices)) for label, indices in members.items()), key=lambda pair: pair[1]
    )
    if fewest < shot + queries:
        raise SettingError(
            f"{shot} shots and {queries} queries need {shot + queries} items of every class; "
            f"class {label} has {fewest}"
        )
    # A second function, so that errors come at the call and not at the first task.
    return _draw(members, way=way, shot=shot, queries=queries, tasks=tasks, generator=generator)


def _draw(
    members: dict[int, Tensor],
    *,
    way: int,
    shot: int,
    queries: int,
    tasks: int,
    generator: torch.Generator,
) -> Iterator[Episode]:
    """The tasks, from checked settings."""
    labels = torch.tensor(list(members))
    for _ in range(tasks):
        classes = labels[torch.randperm(len(labels), generator=generator)[:way]]
        rows = []
        for label in classes.tolist():
            order = torch.randperm(len(members[label]), generator=generator)
            rows.append(members[label][order[: shot + queries]])
        support, query = torch.split(torch.stack(rows), [shot, queries], dim=1)
        yield Episode(classes=classes, support=support, query=query)
