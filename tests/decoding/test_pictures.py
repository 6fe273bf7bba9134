"""Pictures as items: what the reader of the training gives."""

import io

import numpy as np
import pytest
from PIL import Image

from samekind.data import ImageReader
from samekind.decoding.pictures import PictureForm

FORMS = [
    {"height": 6, "width": 5},
    {"height": 6, "width": 5, "channels": 3, "fit": "crop"},
    {"height": 4, "width": 4, "channels": 3, "fit": "pad", "background": "black"},
    {"height": 4, "width": 4, "cut_from": (8, 6)},
    {"height": 4, "width": 6, "channels": 3, "original_size": True},
]


@pytest.mark.parametrize("form", FORMS)
def test_agrees_with_the_reader(form):
    pixels = np.random.default_rng(0).integers(0, 256, (12, 9, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    picture = PictureForm(**form).read(io.BytesIO(stream.getvalue()))
    reader = ImageReader(**form)
    assert picture.shape == PictureForm(**form).shape == reader.shape
    assert (picture == reader.pixels(stream.getvalue()).numpy()).all()


def test_the_middle_is_cut_out():
    image = np.arange(6 * 4, dtype=np.uint8).reshape(6, 4, 1)
    cut = PictureForm(height=2, width=2, cut_from=(6, 4)).middle(image)
    assert cut[:, :, 0].tolist() == [[9, 10], [13, 14]]
