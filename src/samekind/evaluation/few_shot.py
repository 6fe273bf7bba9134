"""A new class, from a few examples? Tasks of N classes with K examples each, prototypes their means."""

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.groups import groups_apart, groups_note
from samekind.evaluation.rows import Row, noted
from samekind.evaluation.samples import Sample, row_of
from samekind.inference import asking, device_of
from samekind.samplers import Episode, episodes
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

    ``way`` is at most the classes there are, and ``queries`` at most what the smallest class has left beside
    its shots; where it has none left there is no row. The fused kind averages the probabilities of the
    similarity and the cosine. Where items have groups, a query does not count in a task that has an example
    of its own group, and a note says so.
    """
    samples = few_shot_samples(
        space, items, z, name=name, way=way, shots=shots, queries=queries, tasks=tasks, seed=seed
    )
    return [noted(row_of(each), groups_note(items)) for each in samples]


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
    z, groups = z.to(device_of(space)), groups_apart(items)
    sizes = torch.bincount(items.labels)
    way, fewest = min(way, int((sizes > 0).sum())), int(sizes[sizes > 0].min())
    samples = []
    for shot in (each for each in shots if each < fewest):
        generator = torch.Generator().manual_seed(seed)
        left = min(queries, fewest - shot)
        drawn = episodes(items.labels, way=way, shot=shot, queries=left, tasks=tasks, generator=generator)
        with asking(space):
            accuracies = torch.stack([_task(space, z, episode, groups) for episode in drawn], dim=1)
        for kind, values in zip(space.kinds, accuracies, strict=True):
            values = values.cpu()
            values = values[~values.isnan()]
            if not len(values):
                continue
            measure = f"{way}-way {shot}-shot"
            samples.append(Sample("few-shot", name, measure, kind, "episodes", float(values.mean()), values))
    return samples


def of_other_groups(right: Tensor, episode: Episode, groups: Tensor | None) -> Tensor:
    """Of what is known of the queries of a task (…, way x queries), that of those which count: the task has
    no example of their group.
    """
    if groups is None:
        return right
    counts = ~torch.isin(groups[episode.query.flatten()], groups[episode.support.flatten()])
    return right[..., counts.to(right.device)]


def _task(space: MetricSpace, z: Tensor, episode: Episode, groups: Tensor | None) -> Tensor:
    """The accuracy of one task with each kind of score (kinds,); NaN where no query counts."""
    prototypes = z[episode.support].mean(1)
    queries = z[episode.query].flatten(0, 1)
    truth = torch.arange(len(prototypes), device=z.device).repeat_interleave(episode.query.shape[1])
    # Scores of (queries, way); the fused probabilities need the other two anyway.
    logits: dict[str, Tensor] = {
        kind: (scorer.scale() * scorer.score_all(prototypes, queries)).T
        for kind in space.kinds
        if kind != "fused"
        for scorer in [space.scorer(kind)]
    }
    if "fused" in space.kinds:
        logits["fused"] = logits["similarity"].softmax(-1) + logits["cosine"].softmax(-1)
    right = torch.stack([(logits[kind].argmax(-1) == truth).double() for kind in space.kinds])
    return of_other_groups(right, episode, groups).mean(1)
