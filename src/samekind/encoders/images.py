"""What an encoder of images asks of its input, and of its settings."""

from collections.abc import Mapping

from torch import Tensor

from samekind.errors import DataError, SettingError


def expect_images(x: Tensor, *, channels: int, size: int | None = None, smallest: int = 1) -> None:
    """Refuse anything but (n, channels, size, size); with ``size`` None any height and width from
    ``smallest`` on do.
    """
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
    """Refuse settings, by name, that are below 1; None is a setting left open.

    >>> expect_sizes({"channels": 3, "dimension": None})
    """
    wrong = {name: each for name, each in sizes.items() if each is not None and each < 1}
    if wrong:
        listed = ", ".join(f"{name} {each}" for name, each in wrong.items())
        raise SettingError(f"{' and '.join(sizes)} must be at least 1; got {listed}")
