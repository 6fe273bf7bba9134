"""One thing, no things, many things."""

import pytest
import torch

from samekind.data import Items
from samekind.data.words import counted


@pytest.mark.parametrize(
    ("number", "says"),
    [(0, "0 classes have"), (1, "1 class has"), (2, "2 classes have"), (21, "21 classes have")],
)
def test_the_words_agree_with_the_number(number, says):
    assert counted(number, "class has", "classes have") == says


def test_large_numbers_have_separators():
    assert counted(1234567, "item", "items") == "1,234,567 items"


ONE, TWO = "M\u00f6we", "Mo\u0308we"


def test_items_are_chosen_by_either_spelling():
    items = Items(torch.rand(3, 2), torch.tensor([0, 1, 0]), (TWO, "b"), "birds")
    assert items.class_indices([ONE]).tolist() == [0]
    assert items.only([ONE]).classes == (TWO,)
