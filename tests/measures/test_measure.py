"""A measure: its name, and how its values are written."""

import copy
import doctest
import json
import pickle

import pytest

from samekind.measures import measure
from samekind.measures.measure import Measure

SHARE = Measure("Recall@1", "a meaning", family="Recall@k")
OTHER = Measure("NMI", better="lower", is_share=False)


def test_it_compares_hashes_and_serialises_as_its_name():
    assert SHARE == "Recall@1"
    assert {SHARE: 1}["Recall@1"] == 1
    assert json.dumps({"measure": SHARE}) == '{"measure": "Recall@1"}'


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_copy_says_the_same(duplicate):
    assert vars(duplicate(OTHER)) == vars(OTHER)


@pytest.mark.parametrize(
    ("value", "share", "other"),
    [(0.01234, "1.23%", "0.012"), (1.0, "100.00%", "1.000"), (0.92549, "92.55%", "0.925")],
)
def test_shares_are_written_in_per_cent_and_others_are_not(value, share, other):
    assert (SHARE.write(value), OTHER.write(value)) == (share, other)
    assert (SHARE.unit, OTHER.unit) == ("%", "")


def test_an_interval_has_one_decimal_less_than_the_value():
    assert SHARE.ends(0.0, 0.0634) == "0.0-6.3"
    assert SHARE.ends(0.9861, 1.0, dash="\u2013") == "98.6\u2013100"
    assert OTHER.ends(0.381, 0.52) == "0.38-0.52"
    assert SHARE.ends(-0.051, 0.02, dash=" to ", sign="+") == "-5.1 to +2.0"
    assert SHARE.ends(None, None) == ""


def test_the_family_is_the_name_unless_it_is_given():
    assert (SHARE.family, OTHER.family) == ("Recall@k", "NMI")


def test_a_variant_has_another_name_and_says_the_same():
    variant = OTHER.variant("from true means")
    assert (variant, variant.key) == ("NMI from true means", "nmi from true means")
    assert (variant.better, variant.is_share, variant.family) == ("lower", False, "NMI")


def test_doctests():
    assert doctest.testmod(measure).failed == 0
