"""Images written as files."""

from io import BytesIO
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor

from samekind.decoding.pixels import MODES
from samekind.errors import DataError
from samekind.storage import write_bytes


def write_image(path: Path, image: Tensor) -> None:
    """Write an image (1 or 3, height, width), bytes or values in [0, 1], as 8-bit PNG.

    `ImageReader` reads back the same, up to rounding to 1/255.
    """
    if image.dim() != 3 or len(image) not in MODES:
        raise DataError(f"an image is (1 or 3, height, width); got {tuple(image.shape)}")
    if image.dtype != torch.uint8:
        # NaN fails too.
        if not ((image >= 0) & (image <= 1)).all():
            raise DataError(
                f"an image has values in [0, 1]; got {float(image.min()):g} to {float(image.max()):g}"
            )
        image = (image.detach().cpu().double() * 255).round().to(torch.uint8)
    pixels = image.cpu().permute(1, 2, 0).numpy()
    encoded = BytesIO()
    Image.fromarray(pixels[:, :, 0] if len(image) == 1 else pixels).save(encoded, format="PNG")
    write_bytes(path, encoded.getvalue())
