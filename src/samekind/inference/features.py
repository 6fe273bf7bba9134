"""Features computed once: a frozen encoder's embeddings as items, and a head trained on them put back.

Heads and fitted similarities train on stored features in seconds, because no picture passes through the
encoder again.
"""

import copy
from dataclasses import replace

from torch import nn

from samekind.data import Items, VectorReader, reader_for
from samekind.encoders import Headed, Unchanged
from samekind.errors import SpaceError, expect
from samekind.inference.embed import embed_by
from samekind.space import MetricSpace


def feature_items(encoder: nn.Module, items: Items, *, batch: int = 64) -> Items:
    """The same items as the vectors an encoder makes of them, in evaluation mode on its own device: same
    labels, classes, groups, domains, parts and ids. They have no source, because no file holds them.

    ``encoder`` has a ``dimension``. A split of the items is a split of their features.
    """
    expect(items, Items, "items to compute the features of")
    vectors = embed_by(encoder, items.inputs, batch=batch)
    return replace(items, inputs=vectors, reader=VectorReader(dimension=vectors.shape[1]), source=None)


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
