"""The same seed means the same on a GPU."""

import pytest
import torch

from samekind import augmentations
from samekind.augmentations import augment

pytestmark = pytest.mark.device

# Whole steps of tone: a pixel that lies on the edge of one may fall to either side.
STEPPED = {"RandAugment"}


@pytest.mark.parametrize("name", augmentations.AUGMENTATIONS)
def test_the_device_gives_what_the_cpu_gives(name, images, chances):
    kind = getattr(augmentations, name)
    x = images(count=64, height=32, width=24) if name in augmentations.IMAGES else torch.randn(64, 8)
    x = torch.randn(64, 1, 4000) / 10 if name in augmentations.SOUNDS else x
    here, there = kind()(x, generator=chances()), kind()(x.cuda(), generator=chances())
    assert there.is_cuda
    apart = (there.cpu() - here).abs()
    assert (apart > 1e-4).double().mean() <= (0.01 if name in STEPPED else 0)


def test_a_chain_on_the_device(images, chances):
    listed = [augmentations.RandomResizedCrop(), augmentations.Flip(), augmentations.ColourJitter()]
    x = images(count=64, height=32, width=32)
    here, there = (augment(images, listed, generator=chances()) for images in (x, x.cuda()))
    torch.testing.assert_close(there.cpu(), here, atol=1e-4, rtol=0)
