"""The inputs of an objective apart from the embeddings, and what a loss or a penalty may ask for by name.

A loss asks by a keyword, a penalty by the name of a parameter. A new thing to offer is one line in
`FOR_LOSSES` or `FOR_PENALTIES`.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from samekind.samplers import Layout
from samekind.similarities import Similarity
from samekind.similarities.distances import exact
from samekind.space import MetricSpace
from samekind.training.class_tree import ClassTree
from samekind.training.memory import Memory
from samekind.training.tables import Term

#: The candidates that are classes, each anchor with one of them as its own.
AGAINST_CLASSES = ("prototypes", "auxiliary", "support")

#: Makes a context manager to score in, such as Fabric's autocast.
Scoring = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class BuiltTerm:
    """A term with its names looked up and its arguments checked."""

    term: Term
    loss: Callable[..., Tensor]
    miner: Callable[..., tuple[Tensor, Tensor, Tensor]]
    needs: tuple[str, ...]  # of FOR_LOSSES
    class_weights: Tensor | None = None  # (classes,), where the term weighs classes


@dataclass(frozen=True)
class BuiltPenalty:
    """A penalty looked up, with its settings filled in."""

    weight: float
    function: Callable[..., Tensor]
    needs: tuple[str, ...]  # of FOR_PENALTIES


@dataclass(frozen=True)
class Context:
    """The inputs of an objective, apart from the embeddings.

    ``memory`` holds the candidates of terms against the memory. ``generator`` draws for miners and losses.
    A pairs network scores within ``scoring``. ``tree`` has the classes in their tree, where there is one.
    ``layout`` says where the tasks are in a batch of few-shot tasks.
    """

    terms: Mapping[str, BuiltTerm] = field(default_factory=dict)
    penalties: Mapping[str, BuiltPenalty] = field(default_factory=dict)
    memory: Memory | None = None
    generator: torch.Generator | None = None
    scoring: Scoring = nullcontext
    tree: ClassTree | None = None
    layout: Layout | None = None


class Candidates(NamedTuple):
    """The candidates that the anchors of a batch are compared with, and the scores."""

    similarity: Similarity
    anchors: Tensor  # (anchors, d)
    vectors: Tensor  # (candidates, d)
    labels: Tensor  # (candidates,)
    anchor_labels: Tensor  # (anchors,)
    scores: Tensor  # (anchors, candidates)
    masks: tuple[Tensor, Tensor] | None  # positive and negative, where the candidates are the classes


class LossCall(NamedTuple):
    """A term whose loss is about to be called; ``rows`` (rows,) are the anchors of mined rows."""

    term: Term
    candidates: Candidates
    context: Context
    rows: Tensor | None = None


class PenaltyCall(NamedTuple):
    """The embeddings (n, d) and labels (n,) that a penalty is about to be called for."""

    space: MetricSpace
    z: Tensor
    y: Tensor
    context: Context


def _between(call: LossCall) -> Tensor:
    """The scores of candidates with each other; -inf, which no loss reads, for two of one class."""
    candidates = call.candidates
    if call.term.against == "batch":
        scores = candidates.scores
    else:
        scores = candidates.similarity.score_all(candidates.vectors, candidates.vectors)
    same = candidates.labels[:, None] == candidates.labels
    return scores.masked_fill(same, -torch.inf)


def _targets(call: LossCall) -> Tensor | None:
    """The class of each anchor, where the candidates are the classes and no row was mined."""
    classes = call.term.against in AGAINST_CLASSES
    return call.candidates.anchor_labels if classes and call.term.miner == "everything" else None


def _lengths(call: LossCall) -> Tensor:
    """The product of the lengths of anchor and candidate, for each score of the rows."""
    candidates = call.candidates
    anchors = candidates.anchors if call.rows is None else candidates.anchors[call.rows]
    lengths: list[Tensor] = [
        torch.linalg.vector_norm(exact(vectors, normalise=False), dim=1)
        for vectors in (anchors, candidates.vectors)
    ]
    return lengths[0][:, None] * lengths[1]


def _tree(call: LossCall | PenaltyCall) -> ClassTree:
    """The tree of the classes; a run that needs a tree and has none is refused when it is built."""
    assert call.context.tree is not None
    return call.context.tree


#: What a loss may ask for by keyword.
FOR_LOSSES: dict[str, Callable[[LossCall], Any]] = {
    "scale": lambda call: call.candidates.similarity.scale(),
    "generator": lambda call: call.context.generator,
    "between": _between,
    "targets": _targets,
    "lengths": _lengths,
    "distances": lambda call: _tree(call).distances,
    "lineage": lambda call: _tree(call).lineage,
}

#: What a penalty may ask for by the name of a parameter.
FOR_PENALTIES: dict[str, Callable[[PenaltyCall], Tensor]] = {
    "z": lambda call: call.z,
    "y": lambda call: call.y,
    "prototypes": lambda call: call.space.prototypes.vectors,
    "distances": lambda call: _tree(call).distances,
}
