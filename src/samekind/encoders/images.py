"""What an encoder of images asks of its input."""

from torch import Tensor

from samekind.errors import DataError


def expect_images(x: Tensor, *, channels: int, size: int | None = None) -> None:
    """Refuse anything but (n, channels, size, size); with ``size`` None any height and width do."""
    sides = (size, size) if size else x.shape[2:]
    if x.dim() != 4 or x.shape[1:] != (channels, *sides):
        height_and_width = f"{size}, {size}" if size else "height, width"
        raise DataError(
            f"the encoder takes images (n, {channels}, {height_and_width}); got {tuple(x.shape)}. "
            "Build it for these images, or read them in the shape it takes."
        )
