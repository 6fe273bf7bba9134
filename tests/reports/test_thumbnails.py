"""Pictures in a page: the pixels that went in come out."""

import base64
import io
import re

import numpy
import torch
from PIL import Image

from samekind.reports.thumbnails import SIDE, row, thumbnail


def pixels_of(html):
    content = re.search(r'src="data:image/png;base64,([^"]+)"', html)[1]
    return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(content))))


def test_bytes_and_floats_are_shown_as_they_are():
    image = torch.arange(0, 240, 10, dtype=torch.uint8).reshape(1, 4, 6)
    assert pixels_of(thumbnail(image, words="", title="")).tolist() == image[0].tolist()
    assert pixels_of(thumbnail(image / 255, words="", title="")).tolist() == image[0].tolist()


def test_colours_are_in_their_order():
    image = torch.zeros(3, 2, 2)
    image[1] = 1
    assert pixels_of(thumbnail(image, words="", title="")).reshape(-1, 3).tolist() == [[0, 255, 0]] * 4


def test_values_outside_the_range_are_squeezed_into_it():
    image = torch.tensor([[[-2.0, 0.0, 2.0]]])
    assert pixels_of(thumbnail(image, words="", title="")).tolist() == [[0, 128, 255]]
    assert pixels_of(thumbnail(torch.full((1, 2, 2), 5.0), words="", title="")).tolist() == [[0, 0], [0, 0]]


def test_the_longer_side_is_always_the_same():
    html = thumbnail(torch.zeros(1, 10, 20), words="", title="")
    assert f'width="{SIDE}" height="{SIDE // 2}"' in html


def test_words_are_text_and_nothing_else():
    html = row([thumbnail(torch.zeros(1, 2, 2), words="<b>&", title='"><script>')])
    assert "&lt;b&gt;&amp;" in html
    assert "<script>" not in html
    assert "<b>" not in html
