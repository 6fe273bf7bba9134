"""A single picture has no label, and is one item in use."""

import pytest

from samekind.data import ImageReader, collect, open_data
from samekind.errors import DataError


def test_a_picture_is_used_but_not_opened_as_labelled_data(tmp_path, make_picture):
    make_picture(tmp_path / "a.png")
    assert collect([tmp_path / "a.png"], ImageReader(height=6, width=8)).ids == (str(tmp_path / "a.png"),)
    with pytest.raises(DataError, match=r"a\.png is a single picture, without a label; put the pictures of"):
        open_data(tmp_path / "a.png")


def test_a_missing_file_is_named_with_the_others(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*none\.png; expected an image"):
        collect([tmp_path / "none.png"], ImageReader(height=6, width=8))
