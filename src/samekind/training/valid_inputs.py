"""What an attacker may do to items: the unit of epsilon, and the range of valid inputs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.attacks import PICTURES as PIXELS
from samekind.attacks import SOUNDS as SAMPLES
from samekind.attacks import Limits, Region, Relative, Scaled, column_limits
from samekind.data import PICTURES, SOUNDS, Items, scaled
from samekind.data.media.sounds import is_sound
from samekind.encoders import Standardised
from samekind.errors import DataError, SettingError, nearest
from samekind.space import MetricSpace
from samekind.training.statistics import statistics_of

#: The units of epsilon, in words.
PIXEL_UNIT = "in the range of a pixel, 0 to 1"
COLUMN_UNIT = "in standard deviations of a column"
CHANNEL_UNIT = "in standard deviations of a channel"
PLAIN_UNIT = "in units of the input"
SAMPLE_UNIT = "in the range of a sample, -1 to 1"
SHARE_UNIT = "of the size of the item itself (20 dB is 0.1)"


class ValidInputs(NamedTuple):
    """How attacks see items: ``x`` (n, …) as the encoder takes them, the ``scale`` in which epsilon counts
    (in the shape of an item, None for 1), the ``unit`` in words, the ``limits``, and ``notes`` about them.
    """

    x: Tensor
    scale: Tensor | None
    unit: str
    limits: Limits
    notes: tuple[str, ...] = ()

    def in_units(self, region: Region) -> Region:
        """The region, whose size is in these units, around items as they are."""
        if isinstance(region, Relative):
            region = replace(region, padding=self.limits.padding)
        return region if self.scale is None else Scaled(region, self.scale)

    def measured(self, x: Tensor) -> Tensor:
        """Items (n, …) in units of epsilon."""
        return x if self.scale is None else x / self.scale.to(x)

    def to(self, device: torch.device) -> "ValidInputs":
        """The same on a device."""
        scale = None if self.scale is None else self.scale.to(device)
        return self._replace(x=self.x.to(device), scale=scale)


def valid_inputs(space: MetricSpace, items: Items, *, fixed: Sequence[str] = ()) -> ValidInputs:
    """Pictures go from 0 to 1, and epsilon is in that range, whatever the encoder does first; the plane of
    their original size stays as it is. Sounds go from -1 to 1, and their padding stays. Columns of a
    table keep to the range that they have in the items, whole numbers stay whole, ``fixed`` columns stay as
    they are, and epsilon is in the standard deviations that the encoder divides by (where it does not, in
    those of the items).
    """
    x = scaled(items.inputs[:]).float()
    if not len(x):
        raise DataError(f"{items.name}: expected at least one item to attack, got none")
    if items.medium is SOUNDS:
        if fixed:
            raise SettingError("only the columns of a table can be fixed; these items are sounds")
        if not is_sound(items.shape):
            raise DataError(f"{items.name}: attacks change samples, and these are features; give the sounds")
        return ValidInputs(x, None, SAMPLE_UNIT, SAMPLES)
    if items.medium is PICTURES and float(x.min()) >= 0 and float(x.max()) <= 1:
        if fixed:
            raise SettingError("only the columns of a table can be fixed; these items are pictures")
        is_size = torch.arange(x.shape[1]) >= items.medium.seen(items.shape)[0]
        sizes = is_size[:, None, None].expand(items.shape) if is_size.any() else None
        return ValidInputs(x, None, PIXEL_UNIT, replace(PIXELS, fixed=sizes))
    scale, unit = _scale(space, items, x)
    if x.ndim != 2:
        return ValidInputs(x, scale, unit, Limits(float(x.min()), float(x.max())))
    is_whole = (x == x.round()).all(0)
    is_fixed = _fixed(items, fixed)
    notes = [f"{int(is_whole.sum())} of {x.shape[1]} columns stay whole numbers"] if is_whole.any() else []
    notes += [f"fixed: {', '.join(fixed)}"] if fixed else []
    limits = column_limits(x, integer=is_whole if is_whole.any() else None, fixed=is_fixed)
    return ValidInputs(x, scale, unit, limits, tuple(notes))


def _scale(space: MetricSpace, items: Items, x: Tensor) -> tuple[Tensor | None, str]:
    by = items.medium.units(items.shape)
    if by is None:
        return None, PLAIN_UNIT
    if isinstance(space.encoder, Standardised):
        deviations = space.encoder.deviations
    else:
        deviations = statistics_of(items, by).deviations
    shape = (len(deviations), *[1] * (x.ndim - 2))
    return torch.tensor(deviations).reshape(shape), COLUMN_UNIT if by == "features" else CHANNEL_UNIT


def _fixed(items: Items, names: Sequence[str]) -> Tensor | None:
    if not names:
        return None
    columns = list(items.reader.columns) if items.reader is not None else []
    for name in names:
        if name not in columns:
            raise SettingError(f'there is no column "{name}" to keep fixed; {nearest(name, columns)}')
    return torch.tensor([column in names for column in columns])
