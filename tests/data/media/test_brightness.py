"""16-bit pictures of fewer bits, dark ones, and a white that is too low: said, with what to do."""

import numpy as np
import pytest
import torch
from PIL import Image

from samekind.data import DataSettings, ImageReader, examine, open_data
from samekind.data.media import brightness as module
from samekind.data.media.brightness import WHITE, brightest, brightness


@pytest.fixture
def deep_folder(tmp_path):
    """A function that writes two classes of three 16-bit pictures with values up to ``most``."""

    def make(most, *, suffix="png"):
        random = np.random.default_rng(0)
        for label in ("a", "b"):
            (tmp_path / "deep" / label).mkdir(parents=True)
            for number in range(3):
                drawn = random.integers(0, most + 1, (6, 8)).astype(np.uint16)
                drawn[0, 0] = most
                Image.fromarray(drawn).save(tmp_path / "deep" / label / f"{number}.{suffix}")
        return tmp_path / "deep"

    return make


SAYS = "16-bit pictures have values up to 4,095 only; white is 65,535"


@pytest.mark.parametrize("suffix", ["png", "tif"])
@pytest.mark.parametrize("memory", ["auto", "never"])
def test_warns_of_a_camera_of_12_bits_when_data_is_opened_or_checked(deep_folder, memory, suffix):
    root = deep_folder(4095, suffix=suffix)
    [note] = open_data(root, settings=DataSettings(memory=memory)).notes
    assert note.startswith(SAYS)
    assert note.endswith(
        "if their camera has fewer bits, use --set data.white=4095 (white in a run file or in DataSettings)"
    )
    assert note in examine(root).warnings


def test_no_warning_with_the_right_white(deep_folder):
    root, settings = deep_folder(4095), DataSettings(white=4095)
    items = open_data(root, settings=settings)
    assert items.notes == ()
    assert examine(root, settings=settings).warnings == ()
    assert int(items.inputs.max()) == 255
    for place, name in enumerate(items.ids):
        stored = np.asarray(Image.open(root / name)).astype(float)
        assert (items.inputs[place, 0].numpy() == (stored * 255 / 4095).round()).all()


@pytest.mark.parametrize("most", [16_384, 65_535])
def test_no_warning_for_pictures_that_use_the_range(deep_folder, most):
    root = deep_folder(most)
    assert open_data(root).notes == ()
    assert examine(root).warnings == ()


def test_one_bright_picture_shows_that_the_range_is_used(deep_folder):
    root = deep_folder(900)
    Image.fromarray(np.full((6, 8), 60_000, dtype=np.uint16)).save(root / "a" / "0.png")
    assert open_data(root).notes == ()


def test_warns_of_a_white_below_the_values(deep_folder):
    root, settings = deep_folder(4095), DataSettings(white=2047)
    [note] = open_data(root, settings=settings).notes
    assert "have values up to 4,095; white is 2,047, and values above it are cut off" in note
    assert "--set data.white=4095" in note
    assert note in examine(root, settings=settings).warnings


def test_dark_pictures_of_8_bits_get_another_remedy(tmp_path):
    for label in ("a", "b"):
        (tmp_path / label).mkdir()
        for number in range(3):
            drawn = np.random.default_rng(number).integers(0, 9, (6, 8)).astype(np.uint8)
            drawn[0, 0] = 8
            Image.fromarray(drawn).save(tmp_path / label / f"{number}.png")
    [note] = open_data(tmp_path).notes
    assert note.startswith("the pictures are dark: no value is above 8 of 255 (6 looked at); --set space.")
    Image.fromarray(np.full((6, 8), 64, dtype=np.uint8)).save(tmp_path / "a" / "0.png")
    assert open_data(tmp_path).notes == ()


def test_black_pictures_are_blank_and_nothing_else(tmp_path):
    for label in ("a", "b"):
        (tmp_path / label).mkdir()
        for number in range(2):
            Image.new("L", (8, 6)).save(tmp_path / label / f"{number}.png")
    assert open_data(tmp_path).notes == ()


def test_the_white_goes_with_the_reader(deep_folder):
    root = deep_folder(4095)
    reader = open_data(root, settings=DataSettings(white=4095)).reader
    assert isinstance(reader, ImageReader)
    assert reader.white == 4095
    assert int(reader.pixels(root / "a" / "0.png").max()) == 255


def test_the_brightest_byte_of_each_picture():
    pixels = torch.tensor([[[[1, 5]]], [[[7, 2]]]], dtype=torch.uint8)
    assert brightest(pixels).tolist() == [5, 7]
    assert brightest(pixels[:0]).tolist() == []


def test_decodes_again_only_pictures_in_doubt(deep_folder, monkeypatch):
    """With its white said a few of many; without, the headings of the dark ones alone."""
    files = sorted(deep_folder(4095).rglob("*.png")) * 10
    decoded, asked, read_headings = [], [], module.read_headings
    monkeypatch.setattr(module, "_highest", lambda file: decoded.append(file) or 4095)
    monkeypatch.setattr(module, "read_headings", lambda files: asked.extend(files) or read_headings(files))
    reader, said = (ImageReader(height=6, width=8, channels=1, white=white) for white in (WHITE, 4095))
    assert brightness(torch.full((60,), 255), files, said) is None
    assert (len(decoded), len(asked)) == (16, 60)  # all may be cut off
    asked.clear()
    decoded.clear()
    assert brightness(torch.full((60,), 200), files, said) is None
    assert (len(decoded), len(asked)) == (16, 16)
    decoded.clear()
    assert brightness(torch.tensor([10] + [255] * 59), files, reader) is None  # the others are of 16 bits too
    assert decoded == []
    flat = files[0].parent / "flat.png"
    Image.new("L", (8, 6)).save(flat)
    asked.clear()
    assert brightness(torch.tensor([10] + [255] * 59), [flat, *files[1:]], reader) is None
    assert asked == [flat]


def test_warns_of_clipped_pictures_among_many_bright_ones_of_8_bits(deep_folder):
    deep = sorted(deep_folder(65535).rglob("*.png"))
    flat = deep[0].parent / "flat.png"
    Image.new("L", (8, 6), 255).save(flat)
    reader = ImageReader(height=6, width=8, channels=1, white=4095)
    files = [flat] * 20 + deep
    note = brightness(torch.full((len(files),), 255), files, reader)
    assert "have values up to 65,535; white is 4,095, and values above it" in note
