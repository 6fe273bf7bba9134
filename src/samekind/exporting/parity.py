"""Whether an exported space gives the same embeddings and scores as the space itself."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from samekind.acoustics import as_samples, lengths_of, padded
from samekind.data import SOUNDS, Reader, scaled
from samekind.errors import SpaceError
from samekind.inference import asking, embed
from samekind.plain_files import Array
from samekind.portable import PortableSpace
from samekind.space import MetricSpace

#: The largest difference that is accepted, as a share of the largest number (of 1, if that is less).
TOLERANCE = 1e-4

#: Seconds of the random sounds that are compared, at most.
LONGEST_SOUND = 3.0


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
    generator = torch.Generator().manual_seed(seed)
    if reader.medium is SOUNDS:
        longest = min(reader.shape[-1], round(LONGEST_SOUND * 16000))
        lengths = torch.randint(longest // 4, longest + 1, (count,), generator=generator).tolist()
        return padded([as_samples(_noise(length, generator)[None]) for length in lengths])
    if reader.medium.units(reader.shape) == "features":
        return torch.randn(count, *reader.shape, generator=generator)
    return torch.randint(0, 256, (count, *reader.shape), dtype=torch.uint8, generator=generator)


def _noise(length: int, generator: torch.Generator) -> Tensor:
    """Noise that is loud, quiet and loud again, so that some of its frames have a voice."""
    loudness = 0.05 + 0.45 * torch.linspace(0, 9, length).sin().abs()
    return (0.3 * loudness * torch.randn(length, generator=generator)).clamp(-1, 1)


def portable_items(reader: Reader | None, items: Tensor) -> list[Array]:
    """Items (n, …) as `PortableSpace.embed` takes them."""
    floats = scaled(items).float()
    if reader is None or reader.medium is not SOUNDS:
        return list(floats.numpy())
    lengths = lengths_of(floats).tolist()
    return [sound[0, :length].numpy() for sound, length in zip(floats, lengths, strict=True)]


def _difference(what: str, numbers: Tensor, others: Array) -> Difference:
    values = numbers.double().numpy()
    if values.shape != others.shape:
        raise SpaceError(f"the export differs from the space: {what} have shape {others.shape}")
    return Difference(what, float(np.abs(values - others).max()), float(np.abs(values).max()))
