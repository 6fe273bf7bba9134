"""Images and chances for the augmentations."""

import pytest
import torch


@pytest.fixture
def images():
    """Images as a file has them, in 256 levels: (count, channels, height, width)."""

    def make(count=6, channels=3, height=12, width=10, *, seed=0):
        levels = torch.randint(
            256, (count, channels, height, width), generator=torch.Generator().manual_seed(seed)
        )
        return levels.float() / 255

    return make


@pytest.fixture
def chances():
    """A generator for a seed."""
    return lambda seed=0: torch.Generator().manual_seed(seed)


@pytest.fixture
def as_picture():
    """An image (channels, height, width) as Pillow has it, and one of Pillow's back."""
    import numpy as np
    from PIL import Image

    def convert(image):
        if isinstance(image, torch.Tensor):
            levels = (image * 255).round().to(torch.uint8).permute(1, 2, 0).numpy()
            return Image.fromarray(levels[:, :, 0] if levels.shape[2] == 1 else levels)
        levels = torch.from_numpy(np.array(image))
        return (levels[None] if levels.dim() == 2 else levels.permute(2, 0, 1)).float() / 255

    return convert
