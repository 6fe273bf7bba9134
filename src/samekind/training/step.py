"""One training step: embeddings, what moves before the loss, and the terms of the loss.

This is the only place that calls the hooks of prototypes and scales, and the only place that takes the mean
of shares.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor

from samekind.pairs import class_masks, pair_masks
from samekind.similarities import Similarity
from samekind.space import AuxiliaryHead, MetricSpace
from samekind.training.build import BuiltPenalty, BuiltTerm
from samekind.training.compatible import is_network
from samekind.training.memory import Memory

#: What makes a context to compute in, such as Fabric's autocast.
Scoring = Callable[[], AbstractContextManager[Any]]


class Candidates(NamedTuple):
    """What the anchors of a batch are compared with, and how alike they are."""

    similarity: Similarity
    vectors: Tensor  # (candidates, d)
    labels: Tensor  # (candidates,)
    scores: Tensor  # (anchors, candidates)
    masks: tuple[Tensor, Tensor] | None  # where the candidates are classes: which one is an anchor's, or not


class Step(NamedTuple):
    """The weighted terms of the loss, whose sum is what training descends, and what they were made of."""

    costs: dict[str, Tensor]
    candidates: dict[str, Candidates]
    projected: Tensor | None  # the embeddings as the auxiliary head takes them, where there is one


def loss_terms(
    space: MetricSpace,
    z: Tensor,
    y: Tensor,
    terms: Mapping[str, BuiltTerm],
    penalties: Mapping[str, BuiltPenalty],
    *,
    memory: Memory | None = None,
    generator: torch.Generator | None = None,
    scoring: Scoring = nullcontext,
) -> Step:
    """The terms of the loss for embeddings (n, d) and labels (n,). A pairs network scores within a context
    of ``scoring``; what it gives is taken on in float32 at least.
    """
    # Once for all who ask: each time would cost as much again, and draw another dropout.
    projected = space.auxiliary.project(z) if space.auxiliary is not None else None
    _before_loss(space, z, projected, y)
    # In the order of the terms, never of a set: dropout draws as the scores are made, and the order of a set
    # of texts differs from one process to the next.
    kinds: dict[str, None] = dict.fromkeys(each.term.against for each in terms.values())
    candidates = {against: _candidates(space, z, projected, y, against, memory, scoring) for against in kinds}
    costs = {
        name: _weighted(each.term.weight, _cost(each, candidates[each.term.against], y, generator))
        for name, each in terms.items()
    }
    offered = {"z": z, "y": y, "prototypes": space.prototypes.vectors}
    for name, penalty in penalties.items():
        cost = penalty.function(**{each: offered[each] for each in penalty.needs})
        costs[name] = _weighted(penalty.weight, cost)
    return Step(costs, candidates, projected)


@torch.no_grad()
def after_step(space: MetricSpace, z: Tensor, y: Tensor, step: Step, *, memory: Memory | None = None) -> None:
    """What moves once the optimiser has stepped, all of it by what the step saw before: the embeddings, and
    for the scales the class scores.
    """
    z, candidates = z.detach(), step.candidates
    space.prototypes.after_step(z, y)
    if space.auxiliary is not None and step.projected is not None:
        space.auxiliary.prototypes.after_step(step.projected.detach(), y)
    for against in ("prototypes", "auxiliary"):
        if against in candidates:
            scored = candidates[against]
            assert scored.masks is not None
            scored.similarity.scale.after_step(scored.scores.detach(), scored.masks[0])
    if memory is not None:
        memory.push(z, y)


@torch.no_grad()
def _before_loss(space: MetricSpace, z: Tensor, projected: Tensor | None, y: Tensor) -> None:
    """What moves before the loss is computed."""
    space.prototypes.before_loss(z.detach(), y)
    if space.auxiliary is not None and projected is not None:
        space.auxiliary.prototypes.before_loss(projected.detach(), y)


def _candidates(
    space: MetricSpace,
    z: Tensor,
    projected: Tensor | None,
    y: Tensor,
    against: str,
    memory: Memory | None,
    scoring: Scoring,
) -> Candidates:
    """The candidates a term asks for; those of the memory come after the batch itself."""
    if against in ("prototypes", "auxiliary"):
        owner: MetricSpace | AuxiliaryHead = space
        if against == "auxiliary":
            assert space.auxiliary is not None
            assert projected is not None
            owner = space.auxiliary
            scores = _scored(owner.similarity, lambda: owner.score_projected(projected), scoring)
        else:
            scores = _scored(space.similarity, lambda: space.score_classes(z), scoring)
        vectors = owner.prototypes.vectors.flatten(0, 1)
        labels = torch.arange(len(owner.prototypes.classes), device=y.device)
        return Candidates(owner.similarity, vectors, labels, scores, class_masks(y, len(labels)))
    vectors, labels = z, y
    if against == "memory":
        assert memory is not None
        past, past_labels = memory.content()
        vectors, labels = torch.cat([z, past.to(z.dtype)]), torch.cat([y, past_labels])
    scores = _scored(space.similarity, lambda: space.similarity.score_all(z, vectors), scoring)
    return Candidates(space.similarity, vectors, labels, scores, None)


def _scored(similarity: Similarity, score: Callable[[], Tensor], scoring: Scoring) -> Tensor:
    """What ``score`` gives, of a network within ``scoring``; distances and cosines have no digits to lose."""
    if not is_network(similarity):
        return score()
    with scoring():
        scores = score()
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


def _cost(built: BuiltTerm, candidates: Candidates, y: Tensor, generator: torch.Generator | None) -> Tensor:
    """The mean share of one term; 0, with a graph, where mining left no row."""
    scores = candidates.scores
    positive, negative = _masks(built, candidates, y)
    # Where nothing is mined the rows are all rows: taking them, and the gradient back, is work for nothing.
    if built.term.miner != "everything":
        rows, positive, negative = built.miner(scores.detach(), positive, negative, generator=generator)
        scores = scores[rows]
    offered: dict[str, Any] = {"generator": generator}
    if "scale" in built.needs:
        offered["scale"] = candidates.similarity.scale()
    if "between" in built.needs:
        offered["between"] = _between(built, candidates)
    if "targets" in built.needs:
        offered["targets"] = _targets(built, y)
    shares = built.loss(scores, positive, negative, **{name: offered[name] for name in built.needs})
    return shares.mean() if len(shares) else candidates.scores.sum() * 0


def _weighted(weight: float, cost: Tensor) -> Tensor:
    """A term as it counts; one that counts as it is costs a GPU nothing more."""
    return cost if weight == 1 else weight * cost


def _masks(built: BuiltTerm, candidates: Candidates, y: Tensor) -> tuple[Tensor, Tensor]:
    if candidates.masks is not None:
        return candidates.masks
    positive, negative = pair_masks(y, order=built.term.order)
    past = candidates.labels[len(y) :]
    if not len(past):
        return positive, negative
    same = y[:, None] == past
    return torch.cat([positive, same], dim=1), torch.cat([negative, ~same], dim=1)


def _targets(built: BuiltTerm, y: Tensor) -> Tensor | None:
    """The class of each anchor, where the candidates are the classes and none was mined away."""
    classes = built.term.against in ("prototypes", "auxiliary")
    return y if classes and built.term.miner == "everything" else None


def _between(built: BuiltTerm, candidates: Candidates) -> Tensor:
    """The scores of candidates with each other; -inf, which is never read, for two of one class."""
    if built.term.against == "batch":
        scores = candidates.scores
    else:
        scores = candidates.similarity.score_all(candidates.vectors, candidates.vectors)
    same = candidates.labels[:, None] == candidates.labels
    return scores.masked_fill(same, -torch.inf)
