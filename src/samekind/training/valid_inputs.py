"""The limits of an attacker: the unit of epsilon, and the range of valid inputs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.attacks import Limits, Region, Relative, Scaled, column_limits
from samekind.data import Items, scaled
from samekind.data.media.attacked import Range
from samekind.encoders import Standardised
from samekind.errors import DataError, SettingError, nearest
from samekind.space import MetricSpace
from samekind.training.statistics import statistics_of

#: The units of epsilon, in words.
COLUMN_UNIT = "in standard deviations of a column"
CHANNEL_UNIT = "in standard deviations of a channel"
PLAIN_UNIT = "in units of the input"
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
    attacked = items.medium.attacked(items.shape)
    if attacked is None:
        name = items.medium.name
        raise DataError(f"{items.name}: attacks change {name}, and these are features; give the {name}")
    # Where there are no deviations to count in, the range is the only unit.
    if attacked.range is not None and (
        items.medium.units(items.shape) is None or _is_inside(x, attacked.range)
    ):
        if fixed:
            raise SettingError(
                f"only the columns of a table can be fixed; these items are {items.medium.name}"
            )
        return _in_range(x, items, attacked.range)
    scale, unit = _scale(space, items, x)
    if x.ndim != 2:
        return ValidInputs(x, scale, unit, Limits(float(x.min()), float(x.max())))
    is_whole = (x == x.round()).all(0)
    is_fixed = _fixed(items, fixed)
    notes = [f"{int(is_whole.sum())} of {x.shape[1]} columns stay whole numbers"] if is_whole.any() else []
    notes += [f"fixed: {', '.join(fixed)}"] if fixed else []
    limits = column_limits(x, integer=is_whole if is_whole.any() else None, fixed=is_fixed)
    return ValidInputs(x, scale, unit, limits, tuple(notes))


def _is_inside(x: Tensor, valid: Range) -> bool:
    return float(x.min()) >= valid.low and float(x.max()) <= valid.high


def _in_range(x: Tensor, items: Items, valid: Range) -> ValidInputs:
    """Items whose values have a range; the plane of the original size stays as it is."""
    seen = items.medium.seen(items.shape)
    is_fixed = torch.arange(items.shape[0]) >= seen[0]
    fixed = is_fixed.view(-1, *[1] * (len(seen) - 1)).expand(items.shape) if is_fixed.any() else None
    return ValidInputs(x, None, valid.unit, Limits(valid.low, valid.high, fixed=fixed, padding=valid.padding))


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
