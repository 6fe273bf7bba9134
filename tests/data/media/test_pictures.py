"""Readers: one tensor for every way an image can be stored, a sentence for every way it can be bad."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from samekind import data
from samekind.data import PICTURES, ImageReader, TableReader, VectorReader, write_image
from samekind.data.media.brightness import brightest
from samekind.data.media.original_size import log_sides
from samekind.data.media.pictures import is_blank, refitted
from samekind.errors import DataError, SettingError

ORIENTATION = 0x0112  # the EXIF tag


def picture(channels=3, height=4, width=6, seed=0):
    """Random pixels that 8 bits hold exactly."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (channels, height, width), generator=generator) / 255


@pytest.fixture(params=[name for name in data.READERS if name != "SoundReader"])
def reader(request):
    arguments = {
        "ImageReader": {"height": 2, "width": 3, "channels": 3},
        "VectorReader": {"dimension": 4},
        "TableReader": {"columns": ["a", "b", "c"]},
        "ArrayReader": {"shape": [2, 3, 4]},
    }
    return getattr(data, request.param)(**arguments[request.param])


def save_array(path, array):
    np.save(path, array)
    return path


# --- what every reader promises ---------------------------------------------------------------------


def test_reads_an_array_of_its_shape(reader, tmp_path):
    array = np.random.default_rng(0).random(reader.shape)
    read = reader.read(save_array(tmp_path / "item.npy", array))
    assert read.dtype == torch.float32
    assert tuple(read.shape) == reader.shape
    torch.testing.assert_close(read, torch.from_numpy(array).float())


def test_scales_an_array_of_bytes(reader, tmp_path):
    read = reader.read(save_array(tmp_path / "item.npy", np.full(reader.shape, 51, dtype=np.uint8)))
    torch.testing.assert_close(read, torch.full(reader.shape, 0.2))


def test_names_the_file_and_what_it_expected(reader, tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*none\.npy; expected .*shape \("):
        reader.read(tmp_path / "none.npy")
    with pytest.raises(DataError, match=r"flat\.npy does not fit: .*got shape \(7,\)"):
        reader.read(save_array(tmp_path / "flat.npy", np.zeros(7)))
    (tmp_path / "text.npy").write_text("not an array", encoding="utf-8")
    with pytest.raises(DataError, match=r"cannot read .*text\.npy"):
        reader.read(tmp_path / "text.npy")
    (tmp_path / "empty.npy").touch()
    with pytest.raises(DataError, match=r"cannot read .*empty\.npy"):
        reader.read(tmp_path / "empty.npy")


def test_refuses_nan_and_other_types(reader, tmp_path):
    with pytest.raises(DataError, match=r"item\.npy holds values that are not finite"):
        reader.read(save_array(tmp_path / "item.npy", np.full(reader.shape, np.nan)))
    with pytest.raises(DataError, match="floats or uint8, got int64"):
        reader.read(save_array(tmp_path / "item.npy", np.zeros(reader.shape, dtype=np.int64)))


def test_runs_nothing_that_a_file_holds(reader, tmp_path):
    np.save(tmp_path / "item.npy", np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="cannot read"):
        reader.read(tmp_path / "item.npy")


def test_refuses_an_archive_named_as_an_array(reader, tmp_path):
    with (tmp_path / "item.npy").open("wb") as file:
        np.savez(file, np.zeros(reader.shape))
    with pytest.raises(DataError, match="an archive of several arrays"):
        reader.read(tmp_path / "item.npy")


# --- images -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [1, 3])
def test_reads_back_what_was_written(tmp_path, channels):
    image = picture(channels)
    write_image(tmp_path / "image.png", image)
    read = ImageReader(height=4, width=6, channels=channels).read(tmp_path / "image.png")
    assert read.dtype == torch.float32
    torch.testing.assert_close(read, image)


@settings(max_examples=20)
@given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_writing_rounds_by_half_a_level_at_most(tmp_path_factory, values):
    image = torch.tensor(values).reshape(1, 2, 3)
    path = tmp_path_factory.mktemp("images") / "image.png"
    write_image(path, image)
    read = ImageReader(height=2, width=3).read(path)
    assert (read - image).abs().max() <= 0.5 / 255 + 1e-6


@pytest.mark.parametrize(
    ("image", "says"),
    [
        (torch.zeros(4, 6), r"got \(4, 6\)"),
        (torch.zeros(2, 4, 6), r"got \(2, 4, 6\)"),
        (torch.full((1, 2, 2), 255.0), r"values in \[0, 1\]; got 255 to 255"),
        (torch.full((1, 2, 2), -0.5), r"values in \[0, 1\]"),
        (torch.full((1, 2, 2), float("nan")), r"values in \[0, 1\]"),
    ],
)
def test_writes_only_images(tmp_path, image, says):
    with pytest.raises(DataError, match=says):
        write_image(tmp_path / "image.png", image)
    assert list(tmp_path.iterdir()) == []


def test_makes_grey_of_colour_and_colour_of_grey(tmp_path):
    colour, grey = picture(3), picture(1)
    write_image(tmp_path / "colour.png", colour)
    write_image(tmp_path / "grey.png", grey)
    as_grey = ImageReader(height=4, width=6).read(tmp_path / "colour.png")
    by_hand = torch.tensor([0.299, 0.587, 0.114]) @ colour.flatten(1)  # ITU-R 601
    torch.testing.assert_close(as_grey, by_hand.reshape(1, 4, 6), atol=1 / 255, rtol=0)
    as_colour = ImageReader(height=4, width=6, channels=3).read(tmp_path / "grey.png")
    torch.testing.assert_close(as_colour, grey.expand(3, 4, 6))


@pytest.mark.parametrize("mode", ["RGBA", "P", "CMYK", "1", "LA"])
def test_reads_every_common_kind_of_pixel(tmp_path, mode):
    path = tmp_path / "image.tiff"
    Image.new("RGB", (6, 4), (255, 255, 255)).convert(mode).save(path)
    torch.testing.assert_close(ImageReader(height=4, width=6).read(path), torch.ones(1, 4, 6))


def test_reads_a_palette_with_transparency(tmp_path):
    image = Image.new("RGB", (6, 4), (255, 255, 255)).convert("P")
    image.save(tmp_path / "image.png", transparency=bytes([128] * 256))
    torch.testing.assert_close(
        ImageReader(height=4, width=6).read(tmp_path / "image.png"), torch.ones(1, 4, 6)
    )


@pytest.mark.parametrize("channels", [1, 3])
def test_scales_16_bits_without_clipping(tmp_path, channels):
    levels = np.array([[0, 13107], [32768, 65535]], dtype=np.uint16)
    Image.fromarray(levels).save(tmp_path / "deep.png")
    read = ImageReader(height=2, width=2, channels=channels).read(tmp_path / "deep.png")
    by_hand = torch.tensor([[0.0, 0.2], [0.5, 1.0]]).expand(channels, 2, 2)
    torch.testing.assert_close(read, by_hand, atol=0.5 / 255 + 1e-6, rtol=0)


def test_refuses_pixels_of_unknown_range(tmp_path):
    Image.fromarray(np.ones((2, 2), dtype=np.float32)).save(tmp_path / "float.tiff")
    with pytest.raises(DataError, match=r"float\.tiff: it has 32-bit pixels"):
        ImageReader(height=2, width=2).read(tmp_path / "float.tiff")


def test_turns_an_image_the_way_its_camera_was_held(tmp_path):
    image = picture(1, height=4, width=6)
    stored = Image.fromarray((image[0] * 255).round().to(torch.uint8).numpy())
    exif = Image.Exif()
    exif[ORIENTATION] = 6  # to be shown turned clockwise by a quarter
    stored.save(tmp_path / "turned.png", exif=exif)
    read = ImageReader(height=6, width=4).read(tmp_path / "turned.png")
    torch.testing.assert_close(read, image.rot90(-1, dims=(1, 2)))


def test_shrinking_averages_instead_of_skipping(tmp_path):
    board = (torch.arange(32)[:, None] + torch.arange(32)) % 2
    write_image(tmp_path / "board.png", board[None].float())
    read = ImageReader(height=4, width=8).read(tmp_path / "board.png")
    assert read.shape == (1, 4, 8)
    torch.testing.assert_close(read, torch.full((1, 4, 8), 0.5), atol=0.05, rtol=0)


def test_height_and_width_are_not_swapped_by_resizing(tmp_path):
    image = torch.zeros(1, 8, 8)
    image[:, :4] = 1  # the upper half
    write_image(tmp_path / "half.png", image)
    read = ImageReader(height=2, width=4).read(tmp_path / "half.png")
    assert read[0, 0].min() > 0.8
    assert read[0, 1].max() < 0.2


@pytest.mark.parametrize("content", [b"", b"not an image", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0 broken"])
def test_refuses_a_file_that_is_not_an_image(tmp_path, content):
    path = tmp_path / "broken.png"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot read .*broken\.png.*expected an image or .* \(1, 4, 6\)"):
        ImageReader(height=4, width=6).read(path)


def test_refuses_a_truncated_or_missing_file(tmp_path):
    path = tmp_path / "cut.png"
    write_image(path, picture(3, height=64, width=64))
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(DataError, match=r"cannot read .*cut\.png"):
        ImageReader(height=64, width=64, channels=3).read(path)
    with pytest.raises(DataError, match=r"there is no file .*none\.png; expected an image"):
        ImageReader(height=4, width=6).read(tmp_path / "none.png")
    with pytest.raises(DataError, match="cannot read"):
        ImageReader(height=4, width=6).read(tmp_path)


# --- which reader, and its settings -----------------------------------------------------------------


def test_the_bytes_of_a_picture_are_what_is_read_before_scaling(tmp_path):
    write_image(tmp_path / "image.png", picture())
    reader = ImageReader(height=4, width=6, channels=3)
    assert reader.pixels(tmp_path / "image.png").dtype == torch.uint8
    assert torch.equal(
        reader.pixels(tmp_path / "image.png").float() / 255, reader.read(tmp_path / "image.png")
    )


def test_pictures_in_memory_are_resized_to_the_readers_shape():
    images = (picture(height=8, width=10) * 255).round().to(torch.uint8)[None]
    reader = ImageReader(height=4, width=5, channels=1, fit="crop")
    assert refitted(images, reader).shape == (1, 1, 4, 5)
    same = ImageReader(height=8, width=10, channels=3)
    assert refitted(images, same) is images


@pytest.mark.parametrize("form", ["png", "jpg"])
@pytest.mark.parametrize("size", [(40, 40), (90, 61), (24, 30)])
def test_the_middle_is_cut_out_of_a_larger_picture(tmp_path, form, size):
    """As many networks were trained: the shorter side brought to 256, the middle 224 of it; here 32 and 27,
    which leaves 2 above and 3 below.
    """
    path = tmp_path / f"image.{form}"
    pixels = (picture(height=size[0], width=size[1]) * 255).round().byte().permute(1, 2, 0).numpy()
    Image.fromarray(pixels).save(path)
    larger = ImageReader(height=32, width=34, channels=3, fit="crop")
    reader = ImageReader(height=27, width=27, channels=3, fit="crop", cut_from=(32, 34))
    assert reader.shape == (3, 27, 27)
    assert torch.equal(reader.pixels(path), larger.pixels(path)[:, 2:29, 3:30])
    assert torch.equal(reader.read(path), larger.read(path)[:, 2:29, 3:30])
    decoded = torch.from_numpy(np.asarray(Image.open(path)).copy()).permute(2, 0, 1)[None]
    assert torch.equal(refitted(decoded, reader), refitted(decoded, larger)[:, :, 2:29, 3:30])


def test_the_middle_of_a_picture_that_has_the_size_already_is_a_part_of_it():
    """Or the same picture would be shown otherwise where it is in memory than where it is in a file."""
    images = (picture(height=8, width=8) * 255).round().to(torch.uint8)[None]
    larger = ImageReader(height=12, width=12, channels=3)
    reader = ImageReader(height=8, width=8, channels=3, cut_from=(12, 12))
    assert torch.equal(refitted(images, reader), refitted(images, larger)[:, :, 2:10, 2:10])


def test_stores_its_arguments_under_their_names():
    reader = ImageReader(height=2, width=5, channels=3)
    assert (reader.height, reader.width, reader.channels) == (2, 5, 3)
    assert VectorReader(dimension=9).dimension == 9


def test_refuses_impossible_settings():
    with pytest.raises(SettingError, match="got 2"):
        ImageReader(height=4, width=4, channels=2)
    with pytest.raises(SettingError, match="got 0 and 4"):
        ImageReader(height=0, width=4)
    with pytest.raises(SettingError, match="got 0"):
        VectorReader(dimension=0)
    with pytest.raises(SettingError, match=r'fit must be .* got "squeeze"'):
        ImageReader(height=4, width=4, fit="squeeze")
    with pytest.raises(SettingError, match=r'background must be .* got "red"'):
        ImageReader(height=4, width=4, background="red")
    for larger in ([4, 3], [3, 4], [4]):
        with pytest.raises(SettingError, match="cut_from is height and width, no less than 4 and 4"):
            ImageReader(height=4, width=4, cut_from=larger)
    for columns in ([], ["a", "a"]):
        with pytest.raises(SettingError, match="columns must be names that differ"):
            TableReader(columns=columns)


@pytest.mark.parametrize("white", [0, 65_536])
def test_refuses_a_white_outside_16_bits(white):
    with pytest.raises(SettingError, match=f"white is a value of 16 bits, from 1 to 65535; got {white}"):
        ImageReader(height=4, width=4, white=white)


@pytest.mark.parametrize("suffix", ["png", "tif", "pgm"])
def test_white_changes_only_16_bit_pictures(tmp_path, suffix):
    values = np.array([[0, 1000, 4095, 4096, 65_535]], dtype=np.uint16)
    Image.fromarray(values).save(tmp_path / f"deep.{suffix}")
    Image.fromarray((values // 257).astype(np.uint8)).save(tmp_path / f"plain.{suffix}")
    usual, said = (ImageReader(height=1, width=5, white=white) for white in (65_535, 4095))
    assert usual.pixels(tmp_path / f"deep.{suffix}").flatten().tolist() == [0, 4, 16, 16, 255]
    assert said.pixels(tmp_path / f"deep.{suffix}").flatten().tolist() == [0, 62, 255, 255, 255]
    for reader in (usual, said):
        assert reader.pixels(tmp_path / f"plain.{suffix}").flatten().tolist() == [0, 3, 15, 15, 255]


def test_a_picture_is_read_from_its_bytes(tmp_path):
    write_image(tmp_path / "image.png", picture())
    reader = ImageReader(height=4, width=6, channels=3)
    content = (tmp_path / "image.png").read_bytes()
    assert torch.equal(reader.read(content), reader.read(tmp_path / "image.png"))
    with pytest.raises(DataError, match=r"cannot read 10 bytes: it is not an image"):
        reader.read(b"no picture")


@pytest.mark.parametrize(
    ("shape", "encoder"),
    [
        ((1, 8, 8), "SmallConvnet"),
        ((1, 28, 28), "LeNet"),
        ((3, 64, 64), "ResNet18"),
        ((1, 20, 30), "ResNet18"),
    ],
)
def test_a_network_and_augmentations_suit_the_pictures(shape, encoder):
    assert PICTURES.encoder(shape).name == encoder
    assert PICTURES.pretrained(shape) == (shape == (3, 64, 64))
    assert [part.name for part in PICTURES.augmentations(shape)] == ["RandomResizedCrop", "Flip"] * (
        shape[0] == 3
    )


def test_thumbnails_squeeze_floats_outside_the_range():
    assert PICTURES.shows((3, 4, 4))
    assert not PICTURES.shows((5, 4, 4))
    shown = PICTURES.thumbnails(torch.tensor([[[[-1.0, 3.0]]]]))
    assert shown.tolist() == [[[[0.0, 1.0]]]]


# --- the original size --------------------------------------------------------------------------------


def sides(item):
    """Width and height, in pixels, that an item says it had."""
    return (100 * log_sides(item[None, -1])[0].exp()).tolist()


@pytest.mark.parametrize("ending", [".png", ".jpg"])
@pytest.mark.parametrize("channels", [1, 3])
def test_the_size_before_resizing_and_after_turning_is_a_plane_behind_the_colours(ending, channels, tmp_path):
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    path = tmp_path / f"a{ending}"
    Image.new("RGB", (300, 40), (200, 100, 50)).save(path, exif=exif)
    reader = ImageReader(height=8, width=6, channels=channels, original_size=True)
    item = reader.read(path)
    assert tuple(item.shape) == reader.shape == (channels + 1, 8, 6)
    assert torch.equal(item[:-1], ImageReader(height=8, width=6, channels=channels).read(path))
    width, height = sides(item)
    assert width == pytest.approx(40, rel=0.03)
    assert height == pytest.approx(300, rel=0.03)


def test_arrays_and_pictures_in_memory_have_the_size_of_their_own(tmp_path):
    reader = ImageReader(height=4, width=6, channels=3, original_size=True)
    image = picture()
    item = reader.read(save_array(tmp_path / "a.npy", image.numpy()))
    torch.testing.assert_close(item[:3], image)
    assert sides(item) == pytest.approx([6, 4], rel=0.03)
    large = (picture(height=40, width=90)[None] * 255).byte()
    assert sides(refitted(large, reader)[0] / 255) == pytest.approx([90, 40], rel=0.03)
    assert torch.equal(reader.medium.refitted(image[None], reader)[0], item)


def test_the_medium_of_pictures_with_their_size_sees_the_colours():
    reader = PICTURES.reader((4, 8, 8))
    assert (reader.channels, reader.original_size, reader.shape) == (3, True, (4, 8, 8))
    assert PICTURES.seen((4, 8, 8)) == (3, 8, 8)
    assert PICTURES.thumbnails(torch.rand(5, 2, 8, 8)).shape == (5, 1, 8, 8)
    with pytest.raises(SettingError, match="original_size needs pictures of 2 pixels or more in height"):
        ImageReader(height=1, width=5, original_size=True)


def test_a_blank_picture_is_blank_whatever_its_size():
    reader = ImageReader(height=4, width=4, original_size=True)
    blank = refitted(torch.full((1, 1, 20, 50), 7, dtype=torch.uint8), reader)
    assert is_blank(blank).tolist() == [True]
    assert brightest(blank).tolist() == [7]
