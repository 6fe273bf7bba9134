"""One thing, no things, many things."""

import pytest

from samekind.data.counting import counted


@pytest.mark.parametrize(
    ("number", "says"),
    [(0, "0 classes have"), (1, "1 class has"), (2, "2 classes have"), (21, "21 classes have")],
)
def test_the_words_agree_with_the_number(number, says):
    assert counted(number, "class has", "classes have") == says


def test_long_numbers_are_told_in_thousands():
    assert counted(1234567, "item", "items") == "1,234,567 items"
