"""The order of classes is the same for every source, and numbers count as numbers."""

import doctest

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from samekind.data.sources import listing as module
from samekind.data.sources.listing import Listing, class_order, foreign_files


def test_whole_numbers_are_ordered_as_numbers():
    assert class_order(["10", "2", "1", "2"]) == ["1", "2", "10"]
    assert class_order(["10", "2", "x"]) == ["10", "2", "x"]
    assert class_order(["01", "1", "0"]) == ["0", "01", "1"]
    assert class_order([]) == []


@hypothesis_settings(max_examples=30)
@given(st.lists(st.text(max_size=3)))
def test_the_order_does_not_depend_on_the_order_of_the_items(names):
    assert class_order(names) == class_order(names[::-1])
    assert set(class_order(names)) == set(names)


def test_one_foreign_file_is_counted_in_the_singular():
    one = "1 file is neither picture, sound nor array and is left out: a.txt"
    assert foreign_files(["a.txt"], "a.txt") == one
    assert foreign_files(["a", "b"], "a, b").startswith(
        "2 files are neither pictures, sounds nor arrays and are left"
    )


def test_doctests():
    assert doctest.testmod(module).failed == 0


def test_a_listing_has_no_extras_by_default():
    listing = Listing(name="x", files=(), labels=(), ids=())
    assert (listing.domains, listing.parts, listing.groups) == (None, None, None)
    assert (listing.empty, listing.foreign, listing.repeated) == ((), (), ())
