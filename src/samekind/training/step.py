"""One training step: embeddings, what moves before the loss, and the terms of the loss.

This is the only place that calls the hooks of the prototypes, and the only place that takes the mean of
shares.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from samekind.pairs import class_masks, pair_masks
from samekind.space import MetricSpace
from samekind.training.build import BuiltTerm
from samekind.training.run import Term


def loss_terms(
    space: MetricSpace,
    z: Tensor,
    y: Tensor,
    terms: Mapping[str, BuiltTerm],
    penalties: Mapping[str, tuple[float, Callable[[Tensor], Tensor]]],
    *,
    generator: torch.Generator | None = None,
) -> dict[str, Tensor]:
    """The weighted terms of the loss for embeddings (n, d) and labels (n,): their sum is what training
    descends.
    """
    _before_loss(space, z, y)
    # In the order of the terms, never of a set: dropout draws as the scores are made, and the order of a set
    # of texts differs from one process to the next.
    kinds = dict.fromkeys(each.term.against for each in terms.values())
    scores = {against: _scores(space, z, against) for against in kinds}
    costs = {
        name: each.term.weight * _cost(space, each, scores[each.term.against], y, generator)
        for name, each in terms.items()
    }
    return costs | {name: weight * penalty(z) for name, (weight, penalty) in penalties.items()}


@torch.no_grad()
def _before_loss(space: MetricSpace, z: Tensor, y: Tensor) -> None:
    """What moves before the loss is computed."""
    space.prototypes.before_loss(z.detach(), y)
    if space.auxiliary is not None:
        space.auxiliary.prototypes.before_loss(z.detach(), y)


@torch.no_grad()
def after_step(space: MetricSpace, z: Tensor, y: Tensor) -> None:
    """What moves once the optimiser has stepped."""
    space.prototypes.after_step(z.detach(), y)
    if space.auxiliary is not None:
        space.auxiliary.prototypes.after_step(z.detach(), y)


def _scores(space: MetricSpace, z: Tensor, against: str) -> Tensor:
    match against:
        case "batch":
            return space.similarity.score_all(z, z)
        case "prototypes":
            return space.score_classes(z)
        case _:
            assert space.auxiliary is not None
            return space.auxiliary.score_classes(z)


def _cost(
    space: MetricSpace, built: BuiltTerm, scores: Tensor, y: Tensor, generator: torch.Generator | None
) -> Tensor:
    """The mean share of one term; 0, with a graph, where mining left no row."""
    masks = _masks(built.term, y, scores.shape[1])
    rows, positive, negative = built.miner(scores.detach(), *masks, generator=generator)
    similarity = (
        space.auxiliary.similarity
        if built.term.against == "auxiliary" and space.auxiliary
        else space.similarity
    )
    offered: dict[str, Any] = {"scale": similarity.scale(), "generator": generator}
    handed = {name: offered[name] for name in built.needs}
    shares = built.loss(scores[rows], positive, negative, **handed)
    return shares.mean() if len(shares) else scores.sum() * 0


def _masks(term: Term, y: Tensor, candidates: int) -> tuple[Tensor, Tensor]:
    return pair_masks(y, order=term.order) if term.against == "batch" else class_masks(y, candidates)
