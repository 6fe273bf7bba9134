"""Small pictures of items: kept with them, or made of their files."""

import base64
import io

import pytest
import torch
from PIL import Image

from samekind.data import ImageReader, SoundReader, VectorReader, write_image
from samekind.questions.thumbnails import KEPT, has_thumbnail, png_of, text_of, thumbnail_of


@pytest.fixture
def reader():
    return ImageReader(height=8, width=8, channels=1)


def size(png):
    return Image.open(io.BytesIO(png)).size


def test_large_pictures_are_made_small(reader):
    assert size(png_of(torch.rand(3, 300, 150), reader)) == (48, 96)
    assert size(png_of(torch.rand(1, 8, 8), reader)) == (8, 8)


def test_sounds_are_shown_as_spectrograms_and_vectors_not_at_all():
    assert size(png_of(torch.randn(1, 16000), SoundReader())) == (64, 40)
    assert png_of(torch.rand(2), VectorReader(dimension=2)) is None
    assert text_of(torch.rand(2), VectorReader(dimension=2)) is None


def test_what_is_kept_goes_before_the_file(reader, tmp_path):
    path = tmp_path / "a.png"
    write_image(path, torch.rand(1, 20, 20))
    kept = {KEPT: text_of(torch.rand(1, 5, 7), reader)}
    assert size(thumbnail_of(str(path), kept, reader)) == (7, 5)
    assert size(thumbnail_of("a", {"path": str(path)}, reader)) == (8, 8)
    assert size(thumbnail_of(str(path), {}, reader)) == (8, 8)
    assert has_thumbnail("a", kept, reader)
    assert has_thumbnail(str(path), {}, reader)


@pytest.mark.parametrize("metadata", [{}, {KEPT: "no base64!"}, {"path": "/etc/passwd"}, {"path": 5}])
def test_without_a_picture_there_is_none(reader, metadata):
    assert thumbnail_of("nothing.png", metadata, reader) is None


def test_a_file_that_is_no_picture_any_more_is_none(reader, tmp_path):
    (tmp_path / "a.png").write_text("no picture")
    assert thumbnail_of(str(tmp_path / "a.png"), {}, reader) is None
    assert base64.b64decode(text_of(torch.rand(1, 2, 2), reader)).startswith(b"\x89PNG")
