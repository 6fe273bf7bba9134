"""Scores within tasks: many small comparisons, such as few-shot tasks, as one batched computation."""

import torch
from torch import Tensor

from samekind.similarities.blocks import (
    Scorer,
    Similarity,
    counts_matter,
    enrolled_vectors,
    prepared,
)
from samekind.similarities.dot import Dot

#: Bytes of working memory, without a gradient. A task is small: on a CPU several share a call.
MEMORY_BUDGET = {"cpu": 32 * 2**20, "other": 2**30}


def score_tasks(
    similarity: Similarity, a: Tensor, b: Tensor, *, examples: int = 0, memory_budget: int | None = None
) -> Tensor:
    """Every a against every b of the same task: (tasks, n, d), (tasks, m, d) -> (tasks, n, m).

    Each a is the mean of ``examples`` items, 0 for very many or an unknown number, for a similarity that asks
    for it. The scores are those of `score_all` task by task. They have a gradient, and on a GPU nothing waits
    for the device. Without a gradient the working memory stays within ``memory_budget`` bytes, with at least
    one task at a time.
    """
    tasks, first, second = len(a), a.flatten(0, 1), b.flatten(0, 1)
    scorer: Scorer
    if counts_matter(similarity):
        counts = torch.full((len(first),), examples, device=a.device)
        scorer, (first, second) = Dot(), enrolled_vectors(similarity, first, second, counts)
    else:
        scorer, first, second = prepared(similarity, first, second)
    one, other = (z.reshape(tasks, -1, z.shape[1]) for z in (first, second))
    chunk = None
    if not torch.is_grad_enabled():
        budget = memory_budget or MEMORY_BUDGET.get(a.device.type, MEMORY_BUDGET["other"])
        # A transform computes distances by their differences, a vector for each pair.
        pair = max(similarity.pair_bytes(a.shape[-1]), one.shape[-1] * one.element_size())
        chunk = max(1, budget // max(1, pair * one.shape[1] * other.shape[1]))
    scored = torch.vmap(scorer.score_all, randomness="different", chunk_size=chunk)
    scores: Tensor = scored(one, other)
    return scores.to(a.dtype)
