"""Figures in files: the format of the ending, the same bytes every time, nothing for another ending."""

import pytest

from samekind.errors import SettingError
from samekind.reports.figure_file import write_figure
from samekind.reports.panels import new_figure

HEADS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.mark.parametrize("ending", HEADS)
def test_the_ending_is_the_format(tmp_path, ending):
    contents = []
    for _ in range(2):
        write_figure(lambda: new_figure(1, 1), tmp_path / f"a.{ending.upper()}")
        contents.append((tmp_path / f"a.{ending.upper()}").read_bytes())
    assert contents[0].startswith(HEADS[ending])
    assert contents[0] == contents[1]


def test_an_unknown_ending_is_refused_before_anything_is_drawn(tmp_path):
    drawn = []
    with pytest.raises(SettingError, match=r"ends in \.pdf, \.png, \.svg; got a\.bmp"):
        write_figure(lambda: drawn.append(1), tmp_path / "a.bmp")
    assert drawn == [] == list(tmp_path.iterdir())
