"""Mean and deviation of the training items, feature by feature or channel by channel."""

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from samekind.data import Items, Stored, scaled
from samekind.data.stored import fetched
from samekind.errors import DataError, SettingError

#: How many stored pictures are read: more would hardly change the numbers, and each has to be decoded.
STATISTICS_LIMIT = 10_000

#: How many items at a time.
CHUNK = 512


class Statistics(NamedTuple):
    """One number for each feature or channel; a constant one has a deviation of 1."""

    means: list[float]
    deviations: list[float]


def statistics_of(items: Items, by: Literal["features", "channels"]) -> Statistics:
    """Means and standard deviations (divided by n) over all items, computed in float64.

    Features are those of vectors (n, d), channels those of images (n, channels, height, width). Of stored
    pictures 10,000, evenly spread over all of them, are read.
    """
    if items.medium.units(items.shape) != by:
        raise SettingError(
            f'run.space.standardise: "{by}" does not fit items of shape {items.shape}; '
            '"features" are those of vectors, "channels" those of images'
        )
    if not len(items):
        raise DataError(f"{items.name}: there are no items to take means and deviations of")
    chunks = [_summary(scaled(chunk)) for chunk in fetched(*_sampled(items.inputs))]
    counts, means, squares, lows, highs = (torch.stack(column) for column in zip(*chunks, strict=True))
    mean = (counts[:, None] * means).sum(0) / counts.sum()
    # The spread within the chunks, and that of their means.
    variance = (squares + counts[:, None] * (means - mean).square()).sum(0) / counts.sum()
    if not variance.isfinite().all():
        place = int((~variance.isfinite()).nonzero()[0])
        raise DataError(
            f"{items.name}: {by.removesuffix('s')} {place} (counted from 0) has values that are not finite; "
            "look for NaN or infinity in the items"
        )
    constant = lows.amin(0) == highs.amax(0)
    return Statistics(mean.tolist(), variance.sqrt().where(~constant, 1.0).tolist())


def _sampled(inputs: Tensor | Stored) -> tuple[Tensor | Stored, list[slice]]:
    """The items to read, and slices of them."""
    if isinstance(inputs, Stored) and len(inputs) > STATISTICS_LIMIT:
        inputs = inputs.take(torch.arange(STATISTICS_LIMIT) * len(inputs) // STATISTICS_LIMIT)
    return inputs, [slice(start, start + CHUNK) for start in range(0, len(inputs), CHUNK)]


def _summary(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Of a chunk (n, d, …): how many numbers there are for each d, their mean, their squared distances from
    it in all, the least and the greatest.
    """
    values = x.double().movedim(1, 0).flatten(1)  # (d, numbers)
    mean = values.mean(1)
    squares = (values - mean[:, None]).square().sum(1)
    count = torch.full((), values.shape[1], dtype=torch.float64, device=values.device)
    return count, mean, squares, *values.aminmax(dim=1)
