"""What pictures say about themselves decides what the settings leave open."""

import pytest

from samekind.data import DataSettings
from samekind.data.media.headings import read_headings, reader_of, size_chosen
from samekind.decoding.pixels import Heading


def test_headings_come_in_the_order_of_the_files(tmp_path, make_picture):
    for number in range(5):
        make_picture(tmp_path / f"{number}.png", height=3 + number, width=4, channels=1 + 2 * (number % 2))
    (tmp_path / "5.png").write_text("no picture", encoding="utf-8")
    headings = read_headings([tmp_path / f"{number}.png" for number in range(7)], workers=3)
    assert headings[:5] == [Heading(3 + number, 4, number % 2 == 0) for number in range(5)]
    assert "5.png: it is not an image" in str(headings[5])
    assert "6.png" in str(headings[6])


@pytest.mark.parametrize(("grey", "channels"), [([True, True], 1), ([True, False], 3), ([False, False], 3)])
def test_one_picture_in_colour_makes_all_of_them_so(grey, channels):
    assert reader_of([Heading(4, 5, is_grey) for is_grey in grey], DataSettings()).shape == (channels, 4, 5)
    assert reader_of([Heading(4, 5, is_grey) for is_grey in grey], DataSettings(channels=1)).channels == 1


def test_the_settings_go_before_the_pictures():
    reader = reader_of([Heading(4, 5, True), Heading(9, 9, True)], DataSettings(size=(7, 8), fit="crop"))
    assert (reader.shape, reader.fit) == ((1, 7, 8), "crop")


def squares(*sides):
    return [Heading(side, side + 9, True) for side in sides]


def test_pictures_of_different_sizes_get_one_and_a_sentence():
    headings = [Heading(4, 5, True), Heading(8, 9, True), Heading(4, 5, True)]
    assert reader_of(headings, DataSettings()).shape == (1, 4, 4)
    settings, sentence = size_chosen(headings, DataSettings(channels=3))
    assert settings == DataSettings(size=4, channels=3)
    assert sentence.startswith(
        "the pictures have 2 different sizes, from 5 x 4 to 9 x 8; all are brought to 4 x 4"
    )


def test_nothing_is_chosen_where_a_size_is_given_or_all_have_one():
    assert size_chosen(squares(4, 8), DataSettings(size=3)) is None
    assert size_chosen(squares(4, 4), DataSettings()) is None


def test_the_size_chosen_is_one_that_half_of_the_pictures_have():
    """The commonest size says little where nearly all differ."""
    assert reader_of(squares(4, 4, 30, 31, 32, 33, 34), DataSettings()).shape == (1, 31, 31)


@pytest.mark.parametrize(("side", "chosen"), [(32, 32), (33, 112), (45, 112), (130, 130), (1000, 224)])
def test_the_size_chosen_suits_a_pretrained_network(side, chosen):
    assert reader_of(squares(side, side + 1), DataSettings()).shape == (1, chosen, chosen)
