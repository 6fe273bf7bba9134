"""Pictures: the same bytes however they were stored; the three ways to bring them to size."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps

from samekind.data import ImageReader
from samekind.decoding.pixels import decode, heading, reason, refit
from samekind.errors import DataError

ORIENTATION = 0x0112  # the EXIF tag


def stored(image, **options):
    stream = io.BytesIO()
    image.save(stream, **{"format": "PNG", **options})
    stream.seek(0)
    return stream


def read(image, height, width, channels=3, fit="stretch", background="white", **options):
    return decode(
        stored(image, **options),
        height=height,
        width=width,
        channels=channels,
        fit=fit,
        background=background,
    )


@pytest.mark.parametrize(("background", "level"), [("white", 255), ("black", 0)])
@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparent_pixels_show_the_background(mode, background, level):
    image = Image.new("RGBA", (2, 1), (40, 40, 40, 255))
    image.putpixel((1, 0), (0, 0, 0, 0))
    shown = read(image.convert(mode), 1, 2, background=background)
    assert shown[0, 0].tolist() == [40, 40, 40]
    assert shown[0, 1].tolist() == [level] * 3


def test_half_transparent_is_half_background():
    shown = read(Image.new("RGBA", (1, 1), (0, 100, 200, 128)), 1, 1)
    by_hand = [round(255 * (1 - 128 / 255) + value * 128 / 255) for value in (0, 100, 200)]
    assert np.abs(shown[0, 0].astype(int) - by_hand).max() <= 1


def test_one_transparent_colour_shows_the_background():
    image = Image.new("RGB", (2, 1), (10, 20, 30))
    image.putpixel((1, 0), (1, 2, 3))
    shown = read(image, 1, 2, transparency=(1, 2, 3))
    assert shown[0].tolist() == [[10, 20, 30], [255, 255, 255]]


def test_an_animation_gives_its_first_frame():
    frames = [Image.new("RGB", (3, 2), colour) for colour in ("red", "lime", "blue")]
    shown = read(frames[0], 2, 3, format="GIF", save_all=True, append_images=frames[1:])
    assert shown.tolist() == [[[255, 0, 0]] * 3] * 2


def test_cmyk_becomes_rgb():
    shown = read(Image.new("CMYK", (2, 2), (0, 255, 255, 0)), 2, 2, format="TIFF")
    assert np.abs(shown.astype(int) - [255, 0, 0]).max() <= 1


def test_a_single_pixel_fills_any_size():
    for fit in ("stretch", "crop"):
        assert (read(Image.new("RGB", (1, 1), (9, 8, 7)), 4, 5, fit=fit) == [9, 8, 7]).all()


def test_padding_keeps_a_small_picture_and_sets_it_in_the_middle():
    shown = read(Image.new("L", (2, 1), 7), 5, 6, channels=1, fit="pad", background="white")[:, :, 0]
    by_hand = np.full((5, 6), 255)
    by_hand[2, 2:4] = 7
    assert shown.tolist() == by_hand.tolist()


def test_padding_shrinks_a_large_picture_in_proportion():
    shown = read(Image.new("L", (40, 20), 0), 10, 10, channels=1, fit="pad")[:, :, 0]
    assert (shown == 0).sum() == 10 * 5
    assert (shown[:2] == 255).all()
    assert (shown[-2:] == 255).all()


def test_cropping_keeps_the_middle_in_proportion():
    stripes = np.zeros((4, 12, 3), dtype=np.uint8)
    stripes[:, 4:8] = 200  # the middle third is bright
    assert (read(Image.fromarray(stripes), 4, 4, fit="crop") == 200).all()


@settings(max_examples=25)
@given(
    st.integers(1, 20),
    st.integers(1, 20),
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from(["stretch", "crop", "pad"]),
    st.sampled_from([1, 3]),
)
def test_every_picture_comes_in_the_size_asked(height, width, wanted_height, wanted_width, fit, channels):
    image = Image.new("RGB", (width, height), (200, 200, 200))
    shown = read(image, wanted_height, wanted_width, channels, fit)
    assert shown.shape == (wanted_height, wanted_width, channels)
    assert shown.dtype == np.uint8
    if fit != "pad":
        assert (shown == 200).all()


def smooth(height, width):
    """A picture without fine detail, which survives every filter."""
    down, right = np.mgrid[0:height, 0:width] / max(height, width)
    return np.stack([255 * down, 255 * right, 255 * (1 - down)], axis=-1).astype(np.uint8)


@pytest.mark.parametrize("channels", [1, 3])
def test_a_jpeg_that_is_shrunk_while_decoded_looks_the_same(channels):
    image = Image.fromarray(smooth(400, 640))
    quick = read(image, 20, 32, channels, format="JPEG", quality=95)
    full = np.asarray(
        image.convert("L" if channels == 1 else "RGB").resize((32, 20), Image.Resampling.BILINEAR)
    )
    assert np.abs(quick.astype(int) - full.reshape(20, 32, channels)).max() <= 4


@pytest.mark.parametrize("turn", range(1, 9))
def test_a_large_jpeg_is_turned_as_a_small_one_is(turn):
    exif = Image.Exif()
    exif[ORIENTATION] = turn
    quick = read(Image.fromarray(smooth(320, 480)), 24, 16, format="JPEG", exif=exif, quality=95)
    full = read(Image.fromarray(smooth(320, 480)), 24, 16, format="PNG", exif=exif)
    assert np.abs(quick.astype(int) - full.astype(int)).max() <= 6


@pytest.mark.parametrize(("turn", "size"), [(1, (4, 6)), (3, (4, 6)), (6, (6, 4)), (8, (6, 4))])
def test_the_heading_has_the_size_as_shown(turn, size):
    exif = Image.Exif()
    exif[ORIENTATION] = turn
    read = heading(stored(Image.new("RGB", (6, 4)), exif=exif))
    assert (read.height, read.width) == size
    assert not read.grey


@pytest.mark.parametrize("format", ["AVIF", "JPEG", "MPO", "PNG", "TIFF", "WEBP"])
def test_every_format_is_turned_as_pillow_turns_it(format):
    for turn in range(1, 9):
        exif = Image.Exif()
        exif[ORIENTATION] = turn
        stream = stored(Image.fromarray(smooth(8, 12)), format=format, exif=exif)
        shown = np.asarray(ImageOps.exif_transpose(Image.open(stream)).convert("RGB"))
        height, width, _ = shown.shape
        stream.seek(0)
        assert heading(stream)[:2] == (height, width), turn
        stream.seek(0)
        read_back = decode(stream, height=height, width=width, channels=3, fit="stretch", background="white")
        assert np.array_equal(read_back, shown), turn


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize(
    "exif",
    [
        pytest.param(b"Exif\0\0no such thing", id="something else"),
        pytest.param(b"Exif\0\0II*\0", id="cut short"),
        pytest.param(
            b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x02\0\x03\0\0\0up\0\0\0\0\0\0", id="a text for the turn"
        ),
    ],
)
def test_broken_exif_data_do_not_spoil_a_picture(exif, format):
    image = Image.fromarray(smooth(8, 12))
    assert heading(stored(image, format=format, exif=exif))[:2] == (8, 12)
    assert np.array_equal(read(image, 8, 12, format=format, exif=exif), read(image, 8, 12, format=format))


@pytest.mark.parametrize(
    ("mode", "grey"), [("L", True), ("1", True), ("LA", True), ("RGB", False), ("P", False)]
)
def test_the_heading_says_whether_a_picture_is_grey(mode, grey):
    assert heading(stored(Image.new(mode, (2, 2)))).grey is grey


def test_sixteen_bits_are_grey():
    assert heading(stored(Image.fromarray(np.zeros((2, 2), dtype=np.uint16)))).grey


@pytest.mark.parametrize("fit", ["stretch", "crop", "pad"])
@pytest.mark.parametrize("channels", [1, 3])
def test_refitting_is_what_reading_does(fit, channels):
    image = smooth(9, 14)
    ready = refit(image, height=5, width=6, channels=channels, fit=fit, background="black")
    assert np.array_equal(ready, read(Image.fromarray(image), 5, 6, channels, fit, "black"))


def test_refuses_too_many_pixels(tmp_path, monkeypatch):
    Image.new("L", (30, 30)).save(tmp_path / "huge.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(DataError, match=r"huge\.png: it has more pixels than the 200 that are decoded"):
        ImageReader(height=2, width=2).read(tmp_path / "huge.png")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (ValueError("two\n lines"), "two lines"),
        (KeyError(), "KeyError"),
    ],
)
def test_every_reason_is_one_line(error, says):
    assert reason(error) == says


@pytest.mark.parametrize("highest", [255, 1023, 65535])
@pytest.mark.parametrize("plain", [False, True])
def test_portable_greys_of_any_depth_are_scaled(highest, plain):
    """A PGM says how bright white is; above 255 a pixel takes two bytes, or is written out in digits."""
    pixels = np.linspace(0, highest, 12).round().astype(">u2" if highest > 255 else "u1").reshape(3, 4)
    content = " ".join(map(str, pixels.flatten().tolist())).encode() if plain else pixels.tobytes()
    stream = io.BytesIO(b"P%d 4 3 %d\n" % (2 if plain else 5, highest) + content)
    assert heading(stream).grey
    stream.seek(0)
    shown = decode(stream, height=3, width=4, channels=1, fit="stretch", background="white")
    assert np.abs(shown[:, :, 0] - pixels / highest * 255).max() <= 0.51
