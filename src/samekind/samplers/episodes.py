"""Few-shot tasks: a few labelled items of a few classes, and others of the same classes to recognise.

Vinyals et al., "Matching Networks for One Shot Learning", NeurIPS 2016.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data.words import counted
from samekind.errors import SettingError
from samekind.samplers.epochs import epoch_generator
from samekind.samplers.members import members_by_class, too_small

#: Numbers that are drawn at a time, at most, to choose classes and items by.
DRAWN = 2**22
#: Tasks whose items are looked up together.
LOOKED_UP = 100


class Episode(NamedTuple):
    """One task; ``support`` and ``query`` are item indices, one row per class, and share no item. Several
    tasks of one size may be one value, with a dimension of tasks before the others.
    """

    classes: Tensor  # (way,) labels
    support: Tensor  # (way, shot)
    query: Tensor  # (way, queries)


class Layout(NamedTuple):
    """How the items of several tasks lie in a batch: task by task, in it class by class, and of a class first
    its ``shot`` examples, then its ``queries``.
    """

    tasks: int
    way: int
    shot: int
    queries: int

    def split(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Examples and queries of a batch (n, …): (tasks, way, shot, …) and (tasks, way, queries, …)."""
        parts = rows.reshape(self.tasks, self.way, self.shot + self.queries, *rows.shape[1:])
        return parts[:, :, : self.shot], parts[:, :, self.shot :]

    def support(self, device: torch.device | str = "cpu") -> Tensor:
        """Which items of a batch are examples: (n,)."""
        places = torch.arange(self.shot + self.queries, device=device) < self.shot
        return places.repeat(self.tasks * self.way)

    def task(self, device: torch.device | str = "cpu") -> Tensor:
        """Which task each item of a batch is of: (n,)."""
        size = self.way * (self.shot + self.queries)
        return torch.arange(self.tasks * size, device=device) // size

    def truth(self, device: torch.device | str = "cpu") -> Tensor:
        """The class of each query within its task, from 0 up: (tasks * way * queries,)."""
        classes = torch.arange(self.way, device=device)
        return classes[None, :, None].expand(self.tasks, self.way, self.queries).flatten()


class Episodes:
    """``steps`` batches an epoch, each of ``tasks`` few-shot tasks of ``way`` classes, with ``shot`` examples
    and ``queries`` other items of each. See `Layout` for their order.

    Classes and items are drawn without replacement within a task and anew for every task, so an item may be
    in two tasks of a batch. A class with fewer than ``shot + queries`` items is refused, by its name in
    ``names``. Groups of items are not looked at. Nothing is drawn item by item: an epoch is a few operations
    on tensors.
    """

    def __init__(
        self,
        labels: Tensor,
        *,
        way: int = 5,
        shot: int = 1,
        queries: int = 5,
        tasks: int = 1,
        steps: int = 100,
        seed: int,
        names: Sequence[str] = (),
    ) -> None:
        if steps < 1:
            raise SettingError(f"an epoch has at least 1 step; got steps {steps}")
        members = _members(labels, way=way, shot=shot, queries=queries, tasks=tasks, names=names)
        self._members = _ByClass.of(members)
        self.labels = labels
        self.way = way
        self.shot = shot
        self.queries = queries
        self.tasks = tasks
        self.steps = steps
        self.seed = seed
        self.names = names

    @property
    def layout(self) -> Layout:
        """The order of the items in a batch."""
        return Layout(self.tasks, self.way, self.shot, self.queries)

    def __len__(self) -> int:
        return self.steps

    def batches(self, epoch: int) -> list[Tensor]:
        """The index tensors of an epoch, each (tasks * way * (shot + queries),)."""
        drawn = self._members.drawn(
            way=self.way,
            shot=self.shot,
            queries=self.queries,
            tasks=self.tasks * self.steps,
            generator=epoch_generator(self.seed, epoch),
        )
        items = torch.cat([drawn.support, drawn.query], dim=2)
        return list(items.reshape(self.steps, -1))


def episodes(
    labels: Tensor, *, way: int, shot: int, queries: int, tasks: int, generator: torch.Generator
) -> Iterator[Episode]:
    """``tasks`` random tasks: ``way`` classes, ``shot`` support and ``queries`` query items of each.

    Classes and items are drawn without replacement within a task and anew for every task. Every class must
    have enough items: leaving one out would make the tasks easier or harder.
    """
    members = _members(labels, way=way, shot=shot, queries=queries, tasks=tasks)
    # A second function, so that errors come at the call and not at the first task.
    return _draw(members, way=way, shot=shot, queries=queries, tasks=tasks, generator=generator)


def _draw(
    members: dict[int, Tensor], *, way: int, shot: int, queries: int, tasks: int, generator: torch.Generator
) -> Iterator[Episode]:
    """The tasks, from checked settings. The same seed gives the same tasks since the first version."""
    labels, counts, starts, items = _ByClass.of(members)
    sizes, drawn = counts.tolist(), shot + queries
    for first in range(0, tasks, LOOKED_UP):
        classes, places = [], []
        for _ in range(min(LOOKED_UP, tasks - first)):
            classes.append(torch.randperm(len(sizes), generator=generator)[:way])
            places += [
                torch.randperm(sizes[label], generator=generator)[:drawn] for label in classes[-1].tolist()
            ]
        chosen = torch.stack(classes)
        rows = items[starts[chosen][..., None] + torch.stack(places).reshape(*chosen.shape, drawn)]
        yield from map(Episode, labels[chosen], rows[..., :shot], rows[..., shot:])


def stacked(tasks: Sequence[Episode]) -> list[tuple[Tensor, Episode]]:
    """Tasks as values of several tasks of one size each, with the places of these in the list."""
    by_size: dict[tuple[int, ...], list[int]] = {}
    for place, task in enumerate(tasks):
        by_size.setdefault((*task.support.shape, *task.query.shape), []).append(place)
    return [
        (
            torch.tensor(places),
            Episode(*map(torch.stack, zip(*(tasks[place] for place in places), strict=True))),
        )
        for places in by_size.values()
    ]


def episodes_at_once(
    labels: Tensor, *, way: int, shot: int, queries: int, tasks: int, generator: torch.Generator
) -> Episode:
    """Such tasks as one value, drawn by a few operations on tensors, and otherwise than by `episodes`."""
    members = _ByClass.of(_members(labels, way=way, shot=shot, queries=queries, tasks=tasks))
    return members.drawn(way=way, shot=shot, queries=queries, tasks=tasks, generator=generator)


class _ByClass(NamedTuple):
    """The items of all classes, to draw from: the labels, the numbers of items, where those of a class begin,
    and the items, class after class. Not a table as wide as the largest class.
    """

    labels: Tensor  # (classes,)
    counts: Tensor  # (classes,)
    starts: Tensor  # (classes,)
    items: Tensor  # (n,)

    @classmethod
    def of(cls, members: dict[int, Tensor]) -> "_ByClass":
        places = list(members.values())
        counts = torch.tensor(list(map(len, places)))
        return cls(torch.tensor(list(members)), counts, counts.cumsum(0) - counts, torch.cat(places))

    def drawn(self, *, way: int, shot: int, queries: int, tasks: int, generator: torch.Generator) -> Episode:
        """So many tasks."""
        at_once = max(1, DRAWN // (len(self.labels) + way * int(self.counts.max())))
        parts = []
        for start in range(0, tasks, at_once):
            some = min(at_once, tasks - start)
            classes = _without_replacement(torch.full((some,), len(self.labels)), way, generator)
            places = _without_replacement(self.counts[classes], shot + queries, generator)
            parts.append((self.labels[classes], self.items[self.starts[classes][..., None] + places]))
        chosen, items = (torch.cat(columns) for columns in zip(*parts, strict=True))
        return Episode(chosen, items[..., :shot], items[..., shot:])


def _without_replacement(counts: Tensor, drawn: int, generator: torch.Generator) -> Tensor:
    """So many different places below each count, in random order: (…) -> (…, drawn)."""
    lots = torch.rand(*counts.shape, int(counts.max()), generator=generator)
    lots.masked_fill_(torch.arange(lots.shape[-1]) >= counts[..., None], 2.0)
    return lots.topk(drawn, dim=-1, largest=False).indices


def _members(
    labels: Tensor, *, way: int, shot: int, queries: int, tasks: int, names: Sequence[str] = ()
) -> dict[int, Tensor]:
    """The items of each class; raises SettingError where there are too few for such tasks."""
    if way < 2 or min(shot, queries, tasks) < 1:
        raise SettingError(
            "a task needs at least 2 classes, 1 shot and 1 query, and there must be 1 task; "
            f"got way {way}, shot {shot}, queries {queries}, tasks {tasks}"
        )
    members = members_by_class(labels)
    if len(members) < way:
        raise SettingError(f"tasks of {way} classes need as many; the items are of {len(members)}")
    if short := too_small(members, shot + queries, names):
        fewest = min(map(len, members.values()))
        if fewest > shot:
            advice = f"lower queries to {fewest - shot}"
        else:
            advice = "lower shot" if shot > 1 else "give them more items"
        raise SettingError(
            f"{counted(shot, 'shot', 'shots')} and {counted(queries, 'query', 'queries')} need "
            f"{shot + queries} items of every class; these have fewer: {short}; {advice}, or leave them out"
        )
    return members
