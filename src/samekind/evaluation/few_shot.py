"""A new class, from a few examples? Tasks of N classes with K examples each, prototypes their means."""

import torch
from torch import Tensor

from samekind.data import Items
from samekind.evaluation.rows import Row
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
    similarity and the cosine.
    """
    samples = few_shot_samples(
        space, items, z, name=name, way=way, shots=shots, queries=queries, tasks=tasks, seed=seed
    )
    return [row_of(each) for each in samples]


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
    z = z.to(device_of(space))
    sizes = torch.bincount(items.labels)
    way, fewest = min(way, int((sizes > 0).sum())), int(sizes[sizes > 0].min())
    samples = []
    for shot in (each for each in shots if each < fewest):
        generator = torch.Generator().manual_seed(seed)
        left = min(queries, fewest - shot)
        drawn = episodes(items.labels, way=way, shot=shot, queries=left, tasks=tasks, generator=generator)
        with asking(space):
            accuracies = torch.stack([_task(space, z, episode) for episode in drawn], dim=1)
        for kind, values in zip(space.kinds, accuracies, strict=True):
            values = values.cpu()
            measure = f"{way}-way {shot}-shot"
            samples.append(Sample("few-shot", name, measure, kind, "episodes", float(values.mean()), values))
    return samples


def _task(space: MetricSpace, z: Tensor, episode: Episode) -> Tensor:
    """The accuracy of one task with each kind of score (kinds,)."""
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
    return torch.stack([(logits[kind].argmax(-1) == truth).double().mean() for kind in space.kinds])
