"""Features computed once: a frozen encoder's embeddings as items, and a head trained on them put back.

Heads and fitted similarities train on stored features in seconds, because no picture passes through the
encoder again.
"""

import copy
import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from samekind.data import Items, VectorReader, reader_for
from samekind.encoders import Headed, Unchanged
from samekind.errors import SpaceError, expect
from samekind.inference.embed import device_of, embed_by
from samekind.parts import describe, raw_bytes
from samekind.plain_files import read_npy
from samekind.space import MetricSpace
from samekind.storage import write_bytes


def feature_items(encoder: nn.Module, items: Items, *, batch: int = 64, cache: Path | None = None) -> Items:
    """The same items as the vectors an encoder makes of them, in evaluation mode on its own device: same
    labels, classes, groups, domains, parts and ids. They have no source, because no file holds them.

    ``encoder`` has a ``dimension``. A split of the items is a split of their features. ``cache`` is a folder
    to keep the vectors in: the same items by an encoder of ours with the same weights are then read from it.
    An encoder without weights is not cached.
    """
    expect(items, Items, "items to compute the features of")
    if cache is None or not encoder.state_dict():
        vectors = embed_by(encoder, items.inputs, batch=batch)
    else:
        vectors = _cached(encoder, items, cache, batch)
    return replace(items, inputs=vectors, reader=VectorReader(dimension=vectors.shape[1]), source=None)


def without_encoder(space: MetricSpace) -> MetricSpace:
    """The space that is asked about its own embeddings, such as `feature_items` of its encoder: each item is
    then encoded once for all questions. All other parts are shared, and the given space stays as it is.
    """
    other = copy.copy(space)
    other._modules = dict(space._modules)
    other.encoder = Unchanged(inputs=space.prototypes.dimension)
    return other


def _cached(encoder: Any, items: Items, cache: Path, batch: int) -> Tensor:
    """The vectors of a file of the cache; if it is missing or damaged, they are computed and stored."""
    path = cache / f"{_key(encoder, items)}.npy"
    shape = (len(items), int(encoder.dimension))
    try:
        with path.open("rb") as file:
            stored = read_npy(file, size=path.stat().st_size)
        if stored.shape == shape and stored.dtype == np.float32:
            return torch.from_numpy(stored)
    except (OSError, ValueError):
        pass  # it is only a copy
    vectors = embed_by(encoder, items.inputs, batch=batch)
    content = io.BytesIO()
    np.save(content, vectors.numpy(), allow_pickle=False)
    write_bytes(path, content.getvalue())
    return vectors


def _key(encoder: nn.Module, items: Items) -> str:
    """SHA-256 of the encoder with its weights, the kind of device, and the items."""
    heading = [describe(encoder), device_of(encoder).type, items.fingerprint()]
    digest = hashlib.sha256(json.dumps(heading, sort_keys=True).encode())
    for name, tensor in sorted(encoder.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(raw_bytes(tensor))
    return digest.hexdigest()


def headed_space(encoder: nn.Module, space: MetricSpace, items: Items) -> MetricSpace:
    """A space of features, trained on `feature_items`, as a space of the ``items`` themselves: its encoder on
    top of the one that computed the features. All else stays: prototypes, thresholds, what was fitted.

    The space given does not change. Raises SpaceError if its encoder does not take the features.
    """
    inputs = getattr(space.encoder, "inputs", encoder.dimension)
    if inputs != encoder.dimension:
        raise SpaceError(
            f"the space takes items of {inputs} numbers, the encoder gives {encoder.dimension}; give the "
            "encoder that computed the features it was trained on"
        )
    whole = copy.deepcopy(space)
    whole.encoder = (
        encoder if isinstance(space.encoder, Unchanged) else Headed(encoder=encoder, head=whole.encoder)
    )
    whole.reader = reader_for(items)
    return whole.eval()
