"""Heads of few-shot tasks: how the examples of a task answer its queries, all on the same embeddings.

The space is trained once; only what stands for a class changes. Monteiro et al., "Learning Semantic
Similarities for Prototypical Classifiers"; Kim, "On the Significance of Distance in Machine Learning", 2023,
paper II and its appendix D.
"""

from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SettingError
from samekind.samplers import Episode
from samekind.similarities import score_tasks
from samekind.space import MetricSpace

#: What stands for a class: the mean of its examples, the example nearest to the query, all of them, each with
#: its part of the softmax (as in matching networks), or the votes of the nearest examples of all classes.
By = Literal["mean", "nearest", "sum", "votes"]


class TaskHead(NamedTuple):
    """``kind`` is the kind of score. ``by`` "votes" lets the ``shot // 2 + 1`` nearest examples vote, as a
    nearest-neighbour classifier by 1 - σ(score) does; of equal votes the nearest decides.

    ``centre`` subtracts the mean of the queries from queries and prototypes, in batches of so many queries of
    a task, whose classes take turns; 0 does not. That is transductive: the answer about a query depends on
    the others. Where a batch has queries of one or two classes alone, it takes away what these have in
    common: on birds 9 to 13 points were lost.
    """

    kind: Kind = "similarity"
    by: By = "mean"
    centre: int = 0

    @property
    def name(self) -> str:
        """The head in words.

        >>> TaskHead("cosine", "nearest").name, TaskHead(centre=24).name
        ('cosine, nearest', 'similarity, centred')
        """
        words = [self.kind, *([] if self.by == "mean" else [self.by]), *(["centred"] if self.centre else [])]
        return ", ".join(words)


#: The head of the space's own similarity and the means of the examples.
OWN = TaskHead()


def expect_head(head: TaskHead) -> None:
    """Raises SettingError for an unknown way to make a class, and for queries that cannot be centred."""
    if head.by not in get_args(By):
        raise SettingError(f'a class is made by "mean", "nearest", "sum" or "votes"; got "{head.by}"')
    if head.centre < 0 or head.centre == 1:
        raise SettingError(f"centre is how many queries have one mean: 2 or more, or 0; got {head.centre}")


def head_scores(space: MetricSpace, z: Tensor, tasks: Episode, head: TaskHead = OWN) -> Tensor:
    """How alike each query and each class of its task are, for several tasks at once: embeddings (n, d) of
    all items -> (tasks, way * queries, way).

    The scores of a kind are times its scale. The fused kind averages the probabilities of the similarity and
    the cosine.
    """
    expect_head(head)
    if head.kind == "fused":
        parts = [head_scores(space, z, tasks, head._replace(kind=kind)) for kind in ("similarity", "cosine")]
        return 0.5 * (parts[0].softmax(-1) + parts[1].softmax(-1))
    examples, query_places = z[tasks.support], tasks.query.flatten(1)
    vectors = examples.mean(2, keepdim=True) if head.by == "mean" else examples
    if not head.centre:
        return _scored(space, vectors, z, query_places, head, shot=examples.shape[2])
    way, count = tasks.query.shape[1:]
    turns = torch.arange(query_places.shape[1], device=z.device).reshape(way, count).T.flatten()
    parts = []
    for turn_places in torch.split(query_places[:, turns], head.centre, dim=1):
        queries = z[turn_places]
        middle = queries.mean(1, keepdim=True)
        moved, own = (queries - middle).flatten(0, 1), torch.arange(turn_places.numel(), device=z.device)
        centred = vectors - middle[:, None]
        parts.append(
            _scored(space, centred, moved, own.reshape(turn_places.shape), head, shot=examples.shape[2])
        )
    return torch.cat(parts, dim=1)[:, turns.argsort()]


def _scored(
    space: MetricSpace, vectors: Tensor, z: Tensor, places: Tensor, head: TaskHead, *, shot: int
) -> Tensor:
    """Vectors (tasks, way, k, d) and the places (tasks, n) of queries in z -> (tasks, n, way)."""
    similarity = space.scorer(head.kind)
    way, several = vectors.shape[1:3]
    examples = shot if several == 1 else 1
    scores = score_tasks(similarity, vectors.flatten(1, 2), z, places=places, examples=examples)
    scores = scores.transpose(1, 2)
    scores = similarity.scale().to(scores) * scores.reshape(*scores.shape[:2], way, several)
    match head.by:
        case "mean" | "nearest":
            return scores.amax(3)
        case "sum":
            return scores.logsumexp(3)
    return _votes(scores, shot // 2 + 1)


def _votes(scores: Tensor, voters: int) -> Tensor:
    """The votes of the best examples for each class; of equal votes those with the nearest example win."""
    several = scores.shape[3]
    best = scores.flatten(2).topk(voters, dim=2).indices // several
    # A half, a quarter, …: less than one vote in all, and each more than all after it.
    parts = 1 + 0.5 ** torch.arange(1, voters + 1, device=scores.device, dtype=torch.double)
    votes = torch.zeros_like(scores[..., 0], dtype=torch.double)
    return votes.scatter_add_(2, best, parts.expand(best.shape))


def task_accuracies(space: MetricSpace, z: Tensor, tasks: Episode, head: TaskHead = OWN) -> Tensor:
    """The share of queries that are named rightly in each task: (tasks,)."""
    scores = head_scores(space, z, tasks, head)
    way, queries = tasks.query.shape[1:]
    truth = torch.arange(way, device=scores.device).repeat_interleave(queries)
    return (scores.argmax(-1) == truth).double().mean(1)
