"""Scores within tasks: many small comparisons, such as few-shot tasks, as one batched computation."""

import torch
from torch import Tensor

from samekind.similarities.blocks import Similarity, prepared_enrolments

#: Bytes of working memory, without a gradient. A task is small: on a CPU several share a call.
MEMORY_BUDGET = {"cpu": 32 * 2**20, "other": 2**30}


def score_tasks(
    similarity: Similarity,
    a: Tensor,
    b: Tensor,
    *,
    places: Tensor | None = None,
    examples: int = 0,
    memory_budget: int | None = None,
) -> Tensor:
    """Every a against every b of the same task: (tasks, n, d), (tasks, m, d) -> (tasks, n, m). With
    ``places`` (tasks, m) b is (items, d), and tasks share items: what has to be computed of an item by itself
    is computed once.

    Each a is the mean of ``examples`` items, 0 for very many or an unknown number, for a similarity that asks
    for it. The scores are those of `score_enrolled` task by task. They have a gradient, and on a GPU nothing
    waits for the device. Without a gradient the working memory stays within ``memory_budget`` bytes, with at
    least one task at a time.
    """
    tasks, count = a.shape[:2]
    counts = torch.full((tasks * count,), examples, device=a.device)
    items = b.flatten(0, 1) if places is None else b
    scorer, first, second = prepared_enrolments(similarity, a.flatten(0, 1), items, counts)
    one = first.reshape(tasks, count, -1)
    # Not by places, where every task has its own items: the gradient would be scattered.
    own = second.reshape(tasks, -1, second.shape[1]) if places is None else None
    each = torch.vmap(scorer.score_all, randomness="different")

    def scored(some: slice) -> Tensor:
        asked = own[some] if own is not None else second[places[some]]  # type: ignore[index]
        scores: Tensor = each(one[some], asked)
        return scores.to(a.dtype)

    if torch.is_grad_enabled():
        return scored(slice(None))
    budget = memory_budget or MEMORY_BUDGET.get(a.device.type, MEMORY_BUDGET["other"])
    # A transform computes distances by their differences, a vector for each pair.
    pair = max(similarity.pair_bytes(a.shape[-1]), one.shape[-1] * one.element_size())
    asked = b.shape[1] if places is None else places.shape[1]
    step = max(1, budget // max(1, pair * count * asked))
    return torch.cat([scored(slice(start, start + step)) for start in range(0, tasks, step)])
