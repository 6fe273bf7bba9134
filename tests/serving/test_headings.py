"""Bombs and foreign files are refused before they are decoded."""

import io
import struct
import wave
import zlib

import pytest
from PIL import ImageFile

from samekind.serving.engine import Upload
from samekind.serving.headings import check
from samekind.serving.refusal import Refusal
from samekind.serving.settings import Limits


def bomb(width, height):
    """A PNG file of a few bytes that claims a size; its pixels are missing."""

    def chunk(name, content):
        return (
            struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        )

    heading = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", heading)
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )


def sound(seconds, rate=8000):
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(b"\0\0" * int(seconds * rate))
    return content.getvalue()


def refusal(name, content, medium, **limits):
    with pytest.raises(Refusal) as refused:
        check([Upload(name, content)], medium, Limits(**limits))
    return refused.value.status


@pytest.mark.parametrize("sides", [(8000, 8000), (60000, 60000), (2**31 - 1, 2**31 - 1)])
def test_a_picture_of_too_many_pixels_is_not_decoded(monkeypatch, sides):
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda _: pytest.fail("it was decoded"))
    assert refusal("a.png", bomb(*sides), "pictures") in (400, 413)


def test_the_limit_is_exact():
    check([Upload("a.png", bomb(10, 10))], "pictures", Limits(pixels=100))
    assert refusal("a.png", bomb(10, 11), "pictures", pixels=100) == 413


def test_only_formats_for_strangers_are_read():
    assert refusal("a.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n", "pictures") == 415
    assert refusal("a.png", b"no picture at all", "pictures") == 415
    assert refusal("a.png", bomb(10, 10)[:20], "pictures") in (400, 415)
    assert refusal("a.png", b"", "pictures") == 400


def test_a_long_sound_is_refused_by_its_heading():
    check([Upload("a.wav", sound(1))], "sounds", Limits(seconds=2))
    assert refusal("a.wav", sound(3), "sounds", seconds=2) == 413
    assert refusal("a.wav", b"RIFFxxxx no sound", "sounds") == 415


@pytest.mark.parametrize("name", ["a.parquet", "a.zip", "a.NPZ", "a.csv.gz"])
def test_what_unpacks_to_any_size_is_refused(name):
    assert refusal(name, b"x", "vectors") == 415


def test_over_http_a_bomb_is_an_answer_and_not_an_end(serve, saved_space, png):
    client = serve(saved_space)
    answer = client.post("/classify", files={"files": ("a.png", bomb(50000, 50000))})
    assert answer.status_code == 413
    assert "pixels" in answer.json()["error"]
    cut = client.post("/classify", files={"files": ("a.png", png(1)[:60])})
    assert cut.status_code == 400
    assert client.post("/classify", files={"files": ("a.png", png(1))}).status_code == 200
