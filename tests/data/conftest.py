"""Files made on the spot: pictures, folders of them, and archives."""

import zipfile

import numpy as np
import pytest
from PIL import Image


def pixels(seed, height=6, width=8, channels=3):
    """Random bytes (height, width, channels), another picture for each seed."""
    drawn = np.random.default_rng(seed).integers(0, 256, (height, width, channels), dtype=np.uint8)
    return drawn[:, :, 0] if channels == 1 else drawn


@pytest.fixture
def make_picture():
    """A function that writes a random picture: (path, seed, height, width, channels) -> its bytes."""

    def make(path, seed=0, *, height=6, width=8, channels=3):
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn = pixels(seed, height, width, channels)
        Image.fromarray(drawn).save(path)
        return drawn.reshape(height, width, channels)

    return make


@pytest.fixture
def make_folder(tmp_path, make_picture):
    """A function that makes class folders with so many pictures in each: (counts) -> the root."""

    def make(counts, *, name="animals", height=6, width=8, channels=3):
        seed = 0
        for label, count in counts.items():
            (tmp_path / name / label).mkdir(parents=True, exist_ok=True)
            for number in range(count):
                path = tmp_path / name / label / f"{number}.png"
                make_picture(path, seed, height=height, width=width, channels=channels)
                seed += 1
        return tmp_path / name

    return make


@pytest.fixture
def zipped():
    """A function that packs a folder into a .zip archive beside it: (folder, wrapped) -> its path."""

    def pack(folder, *, wrapped=False):
        path = folder.with_suffix(".zip")
        with zipfile.ZipFile(path, "w") as archive:
            for file in sorted(folder.rglob("*")):
                archive.write(file, file.relative_to(folder.parent if wrapped else folder))
        return path

    return pack
