"""Images written as files."""

import pytest
import torch

from samekind.data import ImageReader, write_image
from samekind.errors import DataError


def test_writes_bytes_unchanged(tmp_path):
    image = torch.randint(0, 256, (3, 4, 5), dtype=torch.uint8)
    write_image(tmp_path / "image.png", image)
    again = ImageReader(height=4, width=5, channels=3).pixels(tmp_path / "image.png")
    assert torch.equal(again, image)


def test_numbers_are_rounded_to_bytes_and_others_are_refused(tmp_path):
    image = torch.tensor([[[0.0, 0.5, 1.0]]])
    write_image(tmp_path / "image.png", image)
    again = ImageReader(height=1, width=3).pixels(tmp_path / "image.png")
    assert again.tolist() == [[[0, 128, 255]]]
    with pytest.raises(DataError, match="values in"):
        write_image(tmp_path / "image.png", 2 * image)
    with pytest.raises(DataError, match="1 or 3"):
        write_image(tmp_path / "image.png", image[0])
