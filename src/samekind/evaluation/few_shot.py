"""A new class, from a few examples? Tasks of N classes with K examples each, prototypes their means."""

from collections.abc import Iterable

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.groups import groups_apart
from samekind.decisions import Kind
from samekind.evaluation.rows import Row, noted
from samekind.evaluation.samples import Sample, mean_sample, rows_of
from samekind.evaluation.tasks import drawn_tasks, task_scores
from samekind.inference import asking, device_of
from samekind.inference.choosing import used_first
from samekind.measures import catalogue
from samekind.samplers import Episode
from samekind.space import MetricSpace


def few_shot(
    space: MetricSpace,
    items: Items,
    z: Tensor,
    *,
    name: str,
    way: int = 5,
    shots: tuple[int, ...] = (1, 5),
    queries: int = 15,
    tasks: int = 600,
    seed: int = 0,
) -> list[Row]:
    """Mean accuracy over tasks with its 95% interval, for each kind of score.

    ``way`` is cut to the number of classes, and ``queries`` to what the smallest class has left beside its
    shots; if none is left there is no row. The fused kind averages the probabilities of the similarity and
    the cosine. If items have groups, no query is of a group that an example of the task is of, and a note
    says so; see `drawn_tasks`.
    """
    samples = few_shot_samples(
        space, items, z, name=name, way=way, shots=shots, queries=queries, tasks=tasks, seed=seed
    )
    return few_shot_rows(samples, tasks, groups_apart(items).note)


def few_shot_rows(samples: Iterable[Sample], tasks: int, note: str) -> list[Row]:
    """The rows of samples over tasks; another note says so if fewer ``tasks`` could be drawn."""
    rows = []
    for sample in samples:
        drawn = tasks if sample.values is None else len(sample.values)
        fewer = "" if drawn == tasks else f"of {drawn:,} of {tasks:,} tasks"
        rows += [noted(row, note) for row in rows_of([sample], note=fewer)]
    return rows


def few_shot_samples(
    space: MetricSpace,
    items: Items,
    z: Tensor,
    *,
    name: str,
    way: int = 5,
    shots: tuple[int, ...] = (1, 5),
    queries: int = 15,
    tasks: int = 600,
    seed: int = 0,
) -> list[Sample]:
    """The same before the intervals are made: the accuracy of each task, in the same order for one seed."""
    z, apart = z.to(device_of(space)), groups_apart(items)
    samples = []
    for shot in shots:
        drawn = drawn_tasks(items, apart, way=way, shot=shot, queries=queries, tasks=tasks, seed=seed)
        if not drawn:
            continue
        with asking(space):
            by_kind = _accuracies(space, z, drawn)
        for kind in used_first(space, "classes"):
            measure = catalogue.few_shot(len(drawn[0].classes), shot)
            samples.append(mean_sample("few-shot", name, measure, kind, "episodes", by_kind[kind]))
    return samples


def _accuracies(space: MetricSpace, z: Tensor, drawn: list[Episode]) -> dict[Kind, Tensor]:
    """The accuracy of each task (tasks,), by kind of score."""
    tasks = [(episode.support, episode.query.flatten()) for episode in drawn]
    logits: dict[Kind, list[Tensor]] = {
        kind: [space.scorer(kind).scale() * scores.T for scores in task_scores(space, z, tasks, kind=kind)]
        for kind in space.kinds
        if kind != "fused"
    }
    if "fused" in space.kinds:
        both = zip(logits["similarity"], logits["cosine"], strict=True)
        logits["fused"] = [one.softmax(-1) + other.softmax(-1) for one, other in both]
    return {
        kind: torch.stack([_accuracy(*pair) for pair in zip(logits[kind], drawn, strict=True)]).cpu()
        for kind in space.kinds
    }


def _accuracy(logits: Tensor, episode: Episode) -> Tensor:
    """The share of queries whose class has the highest of their logits (queries, way)."""
    truth = torch.arange(logits.shape[1], device=logits.device).repeat_interleave(episode.query.shape[1])
    return (logits.argmax(-1) == truth).double().mean()
