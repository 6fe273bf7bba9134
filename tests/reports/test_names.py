"""Names that are shortened together stay apart."""

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.reports import names as module
from samekind.reports.names import shortened

PLANKTON = [
    "hydromedusae_narco_young",
    "hydromedusae_narcomedusae",
    "siphonophore_calycophoran_abylidae",
    "siphonophore_calycophoran_rocketship_adult",
    "siphonophore_calycophoran_sphaeronectes_young",
    "siphonophore_physonect",
    "trichodesmium_tuft",
]


def test_the_last_word_tells_classes_of_one_kind_apart():
    assert shortened(PLANKTON, 18) == [
        "hydromedusa…_young",
        "hydr…_narcomedusae",
        "siphonop…_abylidae",
        "siphonophor…_adult",
        "siphonophor…_young",
        "siphono…_physonect",
        "trichodesmium_tuft",
    ]


def test_what_only_ends_alike_is_cut_at_its_end():
    assert shortened(["albatross, sooty", "petrel, sooty"], 9) == ["albatros…", "petrel, …"]


def test_the_end_of_a_path_is_kept():
    names = ["Ge_ez/12", "Tibetan/41", "Tibetan/13"]
    assert shortened(names, 7) == ["Ge_…/12", "Tib…/41", "Tib…/13"]


def test_a_name_that_fits_is_left_alone():
    assert shortened(["siphonophore", "siphonophores"], 13) == ["siphonophore", "siphonophores"]


def test_what_differs_in_the_middle_alone_is_kept():
    same = "a_common_beginning", "an_end_in_common"
    short = shortened([f"{same[0]}_{word}_{same[1]}" for word in ("wren", "lark")], 10)
    assert ["_wren_" in short[0], "_lark_" in short[1]] == [True, True]


def test_names_no_cut_tells_apart_are_numbered():
    """Each of them holds all of the cuts of another."""
    names = ["aaaaaaaaaa", "aaaaaaaaaaa", "aaaaaaaaaaaa"]
    assert shortened(names, 5) == ["aaa…1", "aaa…2", "aaa…3"]


def test_the_same_name_twice_is_shortened_in_one_way():
    assert shortened(["albatross", "albatross"], 6) == ["albat…", "albat…"]
    assert shortened([], 6) == []


@pytest.mark.parametrize("most", [5, 9])
@settings(max_examples=150)
@given(names=st.lists(st.text(alphabet="ab_/…1", max_size=14), max_size=12, unique=True))
def test_different_names_stay_different_and_none_is_longer_than_asked(most, names):
    short = shortened(names, most)
    assert len(set(short)) == len(names)
    assert all(len(name) <= most for name in short)


def test_doctests():
    assert doctest.testmod(module).failed == 0
