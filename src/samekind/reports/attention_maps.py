"""A picture, and the maps of where a network looks, laid over it."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch.nn.functional as F
from torch import Tensor

from samekind.data import medium_of
from samekind.reports.panels import Axes, Figure, new_figure, plain, write
from samekind.reports.style import INK, MUTED, SIZE, SMALL

#: Inches: the longer side of a picture, what lies over it, under it and beside it, and the bar below it.
SIDE, ABOVE, BELOW, BESIDE, BAR = 2.3, 0.46, 0.44, 0.22, 0.08
COLUMNS = 5
#: Dots a side of a map, at least.
DOTS = 256
#: How much of the picture is covered where nothing, and where most, is looked at.
LEAST, MOST = 0.2, 0.75


class Overlay(NamedTuple):
    """A map to lay over the picture: values (height, width), 0 or more, and what to say about it."""

    title: str
    note: str
    values: Tensor


def attention_maps(image: Tensor, overlays: Sequence[Overlay], *, title: str = "the picture") -> Figure:
    """A panel with the picture, and one for each map over the picture in grey.

    ``image`` is (1 or 3, height, width), bytes or floats in [0, 1]; other floats are rescaled. A map of any
    size is enlarged to the whole picture by linear interpolation. Each has its own scale, with its least and
    its most value written under it; a constant map is dark. A map with NaN, infinite or negative values is a
    ``ValueError``.
    """
    _expect_maps(overlays)
    picture = _displayable(image)
    height, width = picture.shape[:2]
    across, down = SIDE * width / max(height, width), SIDE * height / max(height, width)
    columns = min(COLUMNS, len(overlays) + 1)
    # A narrow picture still needs room for the words over it.
    step, drop = max(across, SIDE) + BESIDE, down + ABOVE + BELOW
    size = step * columns + BESIDE, drop * (-(-(len(overlays) + 1) // columns))
    figure = new_figure(*size)
    figure.set_layout_engine("none")  # every panel has its place

    def panel(place: int, *, below: float = 0.0, tall: float = down) -> Axes:
        """Axes in the place with this number, ``tall`` and ``below`` the picture in inches."""
        row, column = divmod(place, columns)
        left, bottom = BESIDE + step * column, size[1] - drop * row - ABOVE - down - below
        inches = (left / size[0], bottom / size[1], across / size[0], tall / size[1])
        axes = figure.add_axes(inches)
        axes.set_axis_off()
        return axes

    first = panel(0)
    first.imshow(picture, interpolation="nearest")
    _name(first, title, f"{width} x {height} pixels, as it is read")
    for place, overlay in enumerate(overlays, start=1):
        axes, bar = panel(place), panel(place, below=BAR * 1.8, tall=BAR)
        _name(axes, overlay.title, overlay.note)
        _draw(axes, bar, picture, overlay.values.detach().cpu().double())
    return figure


def _expect_maps(overlays: Sequence[Overlay]) -> None:
    for overlay in overlays:
        if overlay.values.dim() != 2 or not (overlay.values.isfinite() & (overlay.values >= 0)).all():
            raise ValueError(
                f'expected a map (height, width), finite and not below 0, for "{overlay.title}"; got '
                f"{tuple(overlay.values.shape)}"
            )


def enlarged(values: Tensor, size: tuple[int, int]) -> Tensor:
    """A map (height, width) in another size, linear between the middles of its places.

    >>> enlarged(Tensor([[0.0, 1.0]]), (1, 4)).tolist()
    [[0.0, 0.25, 0.75, 1.0]]
    """
    return F.interpolate(values[None, None], size, mode="bilinear", align_corners=False)[0, 0]


def _draw(axes: Axes, bar: Axes, picture: np.ndarray, values: Tensor) -> None:
    """The map over the picture in grey, and its scale below."""
    from matplotlib import colormaps

    colours = colormaps["inferno"]
    height, width = picture.shape[:2]
    times = math.ceil(DOTS / min(height, width))
    low, high = float(values.min()), float(values.max())
    shown = (enlarged(values, (height * times, width * times)).numpy() - low) / ((high - low) or 1.0)
    covering = LEAST + (MOST - LEAST) * shown
    over = np.concatenate([colours(shown)[..., :3], covering[..., None]], axis=2)
    extent = (-0.5, width - 0.5, height - 0.5, -0.5)
    axes.imshow(picture.mean(2), cmap="gray", vmin=0, vmax=1, interpolation="nearest", extent=extent)
    axes.imshow(over, interpolation="nearest", extent=extent)
    bar.imshow(np.linspace(0, 1, DOTS)[None], cmap=colours, aspect="auto", extent=(0, 1, 0, 1))
    for x, side, value in ((0, "left", low), (1, "right", high)):
        write(bar, (x, -0.6), f"{value:.3g}", colour=MUTED, size=SMALL - 1, across=side, up="top")


def _name(axes: Axes, title: str, note: str) -> None:
    axes.set_title(plain(title), fontsize=SIZE, color=INK, pad=15, loc="left")
    axes.annotate(
        plain(note), (0, 1), (0, 4), "axes fraction", textcoords="offset points", color=MUTED, size=SMALL - 1
    )


def _displayable(image: Tensor) -> np.ndarray:
    """A picture (1 or 3, h, w) as (h, w, 3) in [0, 1]."""
    medium = medium_of(image.shape)
    if not medium.shows(image.shape) or not image.numel():
        raise ValueError(
            f"expected a grey or colour picture (1 or 3, height, width); got {tuple(image.shape)}"
        )
    pixels: np.ndarray = medium.thumbnails(image).expand(3, -1, -1).movedim(0, -1).numpy()
    return pixels
