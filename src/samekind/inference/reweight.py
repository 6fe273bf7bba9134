"""A space whose principal directions are weighted anew, after training.

Kim, "On the Significance of Distance in Machine Learning", 2023, section 6.2.3: the widest directions tell
classes apart and are what an attack moves along; small weights for them bring out the rest.
"""

import copy

import torch
from torch import Tensor

from samekind.data import Items
from samekind.encoders import MLP, Headed
from samekind.inference.compress import expect_no_weights
from samekind.inference.embed import device_of, embed
from samekind.measures.geometry import evening_weights, principal_directions, reweighted
from samekind.parts import build, describe
from samekind.space import MetricSpace


def reweight(space: MetricSpace, items: Items, *, power: float = 1.0) -> MetricSpace:
    """A new space: embeddings centred on the mean of those of ``items`` (the training items), each principal
    direction divided by its standard deviation to a ``power``: 0 leaves them, 1 makes all alike. Directions
    in which nothing varies are removed. The prototypes go the same way.

    What the space keeps about its scores is not carried over, because they change: fit it anew, as `settle`
    does. The new space is a whole one, to be saved, measured and attacked. Raises SpaceError where the
    similarity or an auxiliary head has weights for embeddings as they are.
    """
    expect_no_weights(space, "re-weighted")
    directions = principal_directions(embed(space, items.inputs).cpu().double())
    weights = evening_weights(directions, power=power)
    size = space.prototypes.dimension

    def moved(z: Tensor) -> Tensor:
        return reweighted(z.cpu().double(), directions, weights)

    head = MLP(inputs=size, dimension=size, hidden=()).requires_grad_(False)
    origin = moved(torch.zeros(1, size))
    head.embedding.weight.copy_((moved(torch.eye(size)) - origin).T)
    head.embedding.bias.copy_(origin[0])
    vectors = space.prototypes.vectors.detach()
    prototypes = build(describe(space.prototypes), room="prototypes")
    mapped = moved(vectors.reshape(-1, size)).reshape(vectors.shape).to(vectors.dtype)
    prototypes.assign(space.classes, mapped, space.prototypes.counts)
    encoder = Headed(encoder=copy.deepcopy(space.encoder), head=head)
    other = MetricSpace(encoder, copy.deepcopy(space.similarity), prototypes, reader=space.reader)
    other.tree = space.tree
    return other.to(device_of(space)).eval()
