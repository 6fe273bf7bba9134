"""The answers of a space to clean and to attacked items, and their logits side by side."""

from typing import NamedTuple

import torch
from torch import Tensor

from samekind.space import MetricSpace
from samekind.training.context import AGAINST_CLASSES, Candidates
from samekind.training.objective import Value


class Answers(NamedTuple):
    """The embeddings (n, d) of items, and the objective of the run for them."""

    z: Tensor
    value: Value


class Both(NamedTuple):
    """The items of a step, clean and attacked; ``y`` (n,) are their labels."""

    space: MetricSpace
    clean: Answers
    attacked: Answers
    y: Tensor


def paired_logits(both: Both) -> list[tuple[Tensor, Tensor]]:
    """Logits (rows, candidates) of clean and of attacked items, of each head that a term trains: the classes
    by the similarity or by the auxiliary head, or those of a few-shot task. Without such a term the
    candidates are the clean items of the batch, an item itself left out.
    """
    clean, attacked = both.clean.value.candidates, both.attacked.value.candidates
    heads = [against for against in clean if against in AGAINST_CLASSES]
    if heads:
        return [(logits_of(clean[head]), logits_of(attacked[head])) for head in heads]
    similarity = both.space.similarity
    others = ~torch.eye(len(both.y), dtype=torch.bool, device=both.y.device)
    one, other = (
        (similarity.scale() * similarity.score_all(z, both.clean.z))[others].reshape(len(z), -1)
        for z in (both.clean.z, both.attacked.z)
    )
    return [(one, other)]


def logits_of(candidates: Candidates) -> Tensor:
    """Scores (rows, candidates) times the scale, as a softmax takes them."""
    return candidates.similarity.scale() * candidates.scores
