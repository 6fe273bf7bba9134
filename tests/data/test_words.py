"""One thing, no things, many things."""

import unicodedata

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samekind.data import Items
from samekind.data.words import counted, spelt_as


@pytest.mark.parametrize(
    ("number", "says"),
    [(0, "0 classes have"), (1, "1 class has"), (2, "2 classes have"), (21, "21 classes have")],
)
def test_the_words_agree_with_the_number(number, says):
    assert counted(number, "class has", "classes have") == says


def test_large_numbers_have_separators():
    assert counted(1234567, "item", "items") == "1,234,567 items"


ONE, TWO = "M\u00f6we", "Mo\u0308we"


def test_names_are_spelt_as_known():
    assert ONE != TWO
    assert spelt_as([TWO, "Mowe", "x"], [ONE]) == [ONE, "Mowe", "x"]
    assert spelt_as([ONE], [TWO]) == [TWO]
    assert spelt_as([TWO], []) == [TWO]


def test_two_known_spellings_stay_themselves():
    assert spelt_as([ONE, TWO], [ONE, TWO]) == [ONE, TWO]


@given(name=st.text(), form=st.sampled_from(["NFC", "NFD"]))
def test_names_are_found_in_either_form(name, form):
    assert spelt_as([unicodedata.normalize(form, name), name], [name]) == [name, name]


def test_items_are_chosen_by_either_spelling():
    items = Items(torch.rand(3, 2), torch.tensor([0, 1, 0]), (TWO, "b"), "birds")
    assert items.class_indices([ONE]).tolist() == [0]
    assert items.only([ONE]).classes == (TWO,)
