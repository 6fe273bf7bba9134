"""Scores within tasks: many small comparisons, such as few-shot tasks, as one batched computation."""

import torch
from torch import Tensor

from samekind.similarities.blocks import Similarity, prepared_enrolments
from samekind.similarities.cosine import Cosine
from samekind.similarities.distances import Euclidean, LogDistance, SquaredEuclidean, unit_vectors
from samekind.similarities.dot import Dot

#: Bytes of working memory, without a gradient. On a CPU what stays in its cache is quickest.
MEMORY_BUDGET = {"cpu": 2 * 2**20, "other": 2**30}

#: What scores all tasks by one product of matrices, where no gradient is wanted.
AT_ONCE = (Dot, Euclidean, LogDistance, SquaredEuclidean)


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
    if isinstance(scorer, Cosine):
        scorer, first, second = Dot(), unit_vectors(first), unit_vectors(second)
    one = first.reshape(tasks, count, -1)
    # Not by places, where every task has its own items: the gradient would be scattered.
    own = second.reshape(tasks, -1, second.shape[1]) if places is None else None
    # Not with a gradient: close pairs are looked for, and a look makes a GPU wait.
    at_once = isinstance(scorer, AT_ONCE) and not torch.is_grad_enabled()
    score_tasks = scorer.score_all if at_once else torch.vmap(scorer.score_all, randomness="different")

    def scored(some: slice) -> Tensor:
        asked = own[some] if places is None else _taken(second, places[some])  # type: ignore[index]
        scores: Tensor = score_tasks(one[some], asked)
        return scores.to(a.dtype)

    if torch.is_grad_enabled():
        return scored(slice(None))
    # A transform computes distances by their differences, a vector for each pair.
    vector, pairs = one.shape[-1] * one.element_size(), similarity.pair_bytes(a.shape[-1]) * count
    bytes_an_item = pairs + vector if at_once else max(pairs, vector * count)
    items_a_task = b.shape[1] if places is None else places.shape[1]
    budget = memory_budget or MEMORY_BUDGET.get(a.device.type, MEMORY_BUDGET["other"])
    step = max(1, budget // max(1, bytes_an_item * items_a_task))
    return torch.cat([scored(slice(start, start + step)) for start in range(0, tasks, step)])


def _taken(z: Tensor, places: Tensor) -> Tensor:
    """``z[places]``, several times as quick on a CPU: (items, d), (tasks, m) -> (tasks, m, d)."""
    return z.index_select(0, places.flatten()).reshape(*places.shape, z.shape[1])
