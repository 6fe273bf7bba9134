"""Whether an exported space gives the same embeddings and scores as the space itself."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from samekind.acoustics import unpadded
from samekind.data import Reader, scaled
from samekind.errors import SpaceError
from samekind.inference import asking, embed
from samekind.plain_files import Array
from samekind.portable import PortableSpace
from samekind.space import MetricSpace

#: The largest difference that is accepted, as a share of the largest number (of 1, if that is less).
TOLERANCE = 1e-4


class Difference(NamedTuple):
    """The largest difference of two ways to the same numbers, and the largest of these numbers."""

    what: str
    difference: float
    largest: float

    @property
    def share(self) -> float:
        """The difference as a share of the largest number, or of 1 if that is larger."""
        return self.difference / max(1.0, self.largest)


def differences(space: MetricSpace, portable: PortableSpace, items: Tensor) -> list[Difference]:
    """Embeddings, scores of pairs by each kind, and scores of classes, of the same items (n, …), by both.

    Raises SpaceError if one differs by more than the tolerance.
    """
    z, other = embed(space, items), portable.embed(portable_items(space.reader, items))
    rows = [_difference("embeddings", z, other)]
    half = max(1, len(z) // 2)
    with asking(space):
        for kind in space.kinds:
            scores = space.score_all(z[:half], z[-half:], kind=kind)
            rows.append(
                _difference(f"{kind}, pairs", scores, portable.score(other[:half], other[-half:], kind=kind))
            )
            if space.classes:
                scores = space.score_classes(z, kind=kind)
                rows.append(_difference(f"{kind}, classes", scores, portable.score_classes(other, kind=kind)))
    for row in rows:
        if not row.share <= TOLERANCE:  # NaN too
            raise SpaceError(
                f"the export differs from the space: {row.what} by {row.difference:.2g}, where the largest "
                f"is {row.largest:.2g} and {TOLERANCE:g} of it is allowed; nothing was written"
            )
    return rows


def random_items(reader: Reader, count: int, *, seed: int = 0) -> Tensor:
    """Items (count, …) of the shape that a reader gives: noise."""
    return reader.medium.noise(reader.shape, count, torch.Generator().manual_seed(seed))


def portable_items(reader: Reader | None, items: Tensor) -> list[Array]:
    """Items (n, …) as `PortableSpace.embed` takes them."""
    floats = scaled(items).float()
    if reader is None or not reader.medium.padded:
        return list(floats.numpy())
    return [sound[0].numpy() for sound in unpadded(floats)]


def _difference(what: str, numbers: Tensor, others: Array) -> Difference:
    values = numbers.double().numpy()
    if values.shape != others.shape:
        raise SpaceError(f"the export differs from the space: {what} have shape {others.shape}")
    return Difference(what, float(np.abs(values - others).max()), float(np.abs(values).max()))
