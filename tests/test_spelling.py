"""Accents that are stored in two ways."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from samekind.spelling import spelt_as

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
