"""The objective of training: embeddings and labels to the weighted terms of the loss.

It does not change the space, the prototypes, the scales or the memory: these move in `step.observe` before it
and in `step.settle` after it. It does draw: dropout from the global random state, losses and miners from the
context's generator. `Learner.value`, which extras and attacks call, restores these random states.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.auxiliary_head import AuxiliaryHead
from samekind.pairs import class_masks, pair_masks
from samekind.prototypes import from_examples, pool
from samekind.similarities import Dot, Similarity, score_tasks
from samekind.space import MetricSpace
from samekind.training.compatible import is_network
from samekind.training.context import (
    FOR_LOSSES,
    FOR_PENALTIES,
    BuiltTerm,
    Candidates,
    Context,
    LossCall,
    PenaltyCall,
    Scoring,
)
from samekind.training.reduction import reduced


class Value(NamedTuple):
    """The value of an objective: its weighted terms and penalties, and what they were computed from."""

    costs: dict[str, Tensor]
    candidates: dict[str, Candidates]  # by the ``against`` of the terms by the space's own similarity
    projected: Tensor | None  # the embeddings as the auxiliary head takes them, where there is one

    @property
    def total(self) -> Tensor:
        """The loss that training minimises."""
        return functools.reduce(torch.add, self.costs.values())


def objective(
    space: MetricSpace, z: Tensor, y: Tensor, context: Context, *, projected: Tensor | None = None
) -> Value:
    """The value for embeddings (n, d) and labels (n,).

    ``projected`` is z as the auxiliary head takes it, where `step.observe` has computed it already: a second
    projection would draw another dropout.
    """
    if projected is None and space.auxiliary is not None:
        projected = space.auxiliary.project(z)
    # In the order of the terms, never of a set: dropout draws as the scores are made, and the order of a set
    # of texts differs from one process to the next.
    asked: dict[tuple[str, str], None] = dict.fromkeys(
        (built.term.against, built.term.by) for built in context.terms.values()
    )
    candidates = {
        (against, by): _candidates(_scored_by(space, by), z, projected, y, against, context)
        for against, by in asked
    }
    costs = {
        name: _weighted(
            built.term.weight, _cost(built, candidates[built.term.against, built.term.by], context)
        )
        for name, built in context.terms.items()
    }
    for name, penalty in context.penalties.items():
        inputs = {need: FOR_PENALTIES[need](PenaltyCall(space, z, y, context)) for need in penalty.needs}
        costs[name] = _weighted(penalty.weight, penalty.function(**inputs))
    own = {against: scored for (against, by), scored in candidates.items() if by == "similarity"}
    return Value(costs, own, projected)


def _scored_by(space: MetricSpace, by: str) -> MetricSpace:
    """The space, or one that scores its embeddings by their inner products."""
    return space if by == "similarity" else MetricSpace(space.encoder, Dot(), space.prototypes)


def _candidates(
    space: MetricSpace, z: Tensor, projected: Tensor | None, y: Tensor, against: str, context: Context
) -> Candidates:
    """The candidates a term asks for; those of the memory come after the batch itself."""
    if against == "prototypes":
        scores = _scored(space.similarity, lambda: space.score_classes(z), context.scoring)
        return _classes(space, z, y, scores)
    if against == "auxiliary":
        head = space.auxiliary
        assert head is not None
        assert projected is not None
        return _classes(
            head,
            projected,
            y,
            _scored(head.similarity, lambda: head.score_projected(projected), context.scoring),
        )
    if against == "support":
        return _support(space, z, context)
    vectors, labels = z, y
    if against == "memory":
        assert context.memory is not None
        past, past_labels = context.memory.content()
        vectors, labels = torch.cat([z, past.to(z.dtype)]), torch.cat([y, past_labels])
    scores = _scored(space.similarity, lambda: space.similarity.score_all(z, vectors), context.scoring)
    return Candidates(space.similarity, z, vectors, labels, y, scores, None)


def _support(space: MetricSpace, z: Tensor, context: Context) -> Candidates:
    """The classes of each query's own task, made of the examples as the prototypes of the space say. The
    gradient reaches queries and examples.
    """
    layout, prototypes = context.layout, space.prototypes
    assert layout is not None
    examples, queries = layout.split(z)
    vectors = from_examples(prototypes, examples).flatten(1, 2)  # (tasks, way * k, d)
    asked = queries.flatten(1, 2)  # (tasks, way * queries, d)

    def scored() -> Tensor:
        return score_tasks(space.similarity, vectors, asked).transpose(1, 2)

    several = vectors.shape[1] // layout.way
    scores = _scored(space.similarity, scored, context.scoring).reshape(-1, layout.way, several)
    pooled = pool(scores, prototypes.pooling, temperature=prototypes.temperature)
    truth, classes = layout.truth(z.device), torch.arange(layout.way, device=z.device)
    masks = class_masks(truth, layout.way)
    return Candidates(
        space.similarity, asked.flatten(0, 1), vectors.flatten(0, 1), classes, truth, pooled, masks
    )


def _classes(owner: MetricSpace | AuxiliaryHead, anchors: Tensor, y: Tensor, scores: Tensor) -> Candidates:
    """The prototypes of a space, or of its auxiliary head, as candidates."""
    labels = torch.arange(len(owner.prototypes.classes), device=y.device)
    vectors = owner.prototypes.vectors.flatten(0, 1)
    masks = class_masks(y, len(labels))
    return Candidates(owner.similarity, anchors, vectors, labels, y, scores, masks)


def _scored(similarity: Similarity, score: Callable[[], Tensor], scoring: Scoring) -> Tensor:
    """The scores; those of a network are computed within ``scoring``, and in float32 at least."""
    if not is_network(similarity):  # distances and cosines have no digits to lose
        return score()
    with scoring():
        scores = score()
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


def _cost(built: BuiltTerm, candidates: Candidates, context: Context) -> Tensor:
    """The cost of one term, from its shares; 0, with a graph, where mining left no row."""
    scores, rows = candidates.scores, None
    positive, negative = _masks(built, candidates)
    # Where nothing is mined the rows are all rows: taking them, and the gradient back, is work for nothing.
    if built.term.miner != "everything":
        rows, positive, negative = built.miner(
            scores.detach(), positive, negative, generator=context.generator
        )
        scores = scores[rows]
    call = LossCall(built.term, candidates, context, rows)
    inputs = {name: FOR_LOSSES[name](call) for name in built.needs}
    shares = built.loss(scores, positive, negative, **inputs)
    if not len(shares):
        return candidates.scores.sum() * 0
    return reduced(shares, built, rows=rows, labels=candidates.anchor_labels)


def _weighted(weight: float, cost: Tensor) -> Tensor:
    """A term as it counts; at a weight of 1 a GPU has nothing to multiply."""
    return cost if weight == 1 else weight * cost


def _masks(built: BuiltTerm, candidates: Candidates) -> tuple[Tensor, Tensor]:
    if candidates.masks is not None:
        return candidates.masks
    y = candidates.anchor_labels
    positive, negative = pair_masks(y, order=built.term.order)
    past = candidates.labels[len(y) :]
    if not len(past):
        return positive, negative
    same = y[:, None] == past
    return torch.cat([positive, same], dim=1), torch.cat([negative, ~same], dim=1)
