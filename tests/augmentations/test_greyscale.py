"""Colour taken away from some."""

import pytest
import torch

from samekind.augmentations import Greyscale


def test_every_image_is_itself_or_grey(images, chances):
    x = images(count=400, height=3, width=3)
    changed = Greyscale(probability=0.3)(x, generator=chances())
    grey = (changed == changed[:, :1]).flatten(1).all(1)
    assert torch.equal(changed[~grey], x[~grey])
    assert grey.double().mean().item() == pytest.approx(0.3, abs=0.07)
    luma = (x[grey] * torch.tensor([0.299, 0.587, 0.114]).reshape(1, 3, 1, 1)).sum(1)
    torch.testing.assert_close(changed[grey][:, 0], luma)
