"""Checks of the images and the settings of an encoder."""

from collections.abc import Mapping

from torch import Tensor

from samekind.errors import DataError, SettingError


def expect_images(x: Tensor, *, channels: int, size: int | None = None, smallest: int = 1) -> None:
    """Raises DataError unless x is (n, channels, size, size), or with None, ``smallest`` or more a side."""
    sides = (size, size) if size else x.shape[2:]
    if x.dim() == 4 and x.shape[1:] == (channels, *sides) and min(x.shape[2:]) >= smallest:
        return
    height_and_width = f"{size}, {size}" if size else "height, width"
    least = f" of {smallest} pixels or more" if smallest > 1 else ""
    raise DataError(
        f"the encoder takes images (n, {channels}, {height_and_width}){least}; got {tuple(x.shape)}. "
        "Build it for these images, or read them in the shape it takes."
    )


def expect_sizes(sizes: Mapping[str, int | None]) -> None:
    """Raises SettingError for settings, by name, that are below 1; None is allowed.

    >>> expect_sizes({"channels": 3, "dimension": None})
    """
    wrong = [f"{name} {size}" for name, size in sizes.items() if size is not None and size < 1]
    if wrong:
        raise SettingError(f"{' and '.join(sizes)} must be at least 1; got {', '.join(wrong)}")
