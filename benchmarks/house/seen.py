"""Items as a space embeds them. Several rungs share their networks: each network sees an item once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.data import Items, Sets, VectorReader
from samekind.encoders import Compressed, Headed, SideBySide
from samekind.inference import feature_items
from samekind.inference.embed import embed_by
from samekind.space import MetricSpace


def embedded(space: MetricSpace, items: Items, cache: Path | None) -> Tensor:
    """The embeddings (n, d) of items. What a network makes of them is kept in the folder ``cache``."""
    return _vectors(space.encoder, items, cache)


def embedded_sets(space: MetricSpace, sets: Sets, cache: Path | None) -> Sets:
    """The sets with their embeddings as inputs."""

    def part(items: Items) -> Items:
        z = embedded(space, items, cache)
        return replace(items, inputs=z, reader=VectorReader(dimension=z.shape[1]), source=None)

    return replace(
        sets,
        train=part(sets.train),
        validation=part(sets.validation),
        test=part(sets.test),
        unseen=None if sets.unseen is None else part(sets.unseen),
    )


def _vectors(encoder: nn.Module, items: Items, cache: Path | None) -> Tensor:
    below: Any = getattr(encoder, "encoder", None)
    if isinstance(encoder, Headed):
        return embed_by(encoder.head, _vectors(below, items, cache))
    if isinstance(encoder, Compressed):
        return embed_by(encoder.embedding, _vectors(below, items, cache))
    if isinstance(encoder, SideBySide) and encoder.sizes is None:
        return torch.cat([F.normalize(_vectors(one, items, cache)) for one in encoder.encoders], dim=1)
    vectors = feature_items(encoder, items, cache=cache).inputs
    assert isinstance(vectors, Tensor)
    return vectors
