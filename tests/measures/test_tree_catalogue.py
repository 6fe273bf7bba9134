"""Measures by a tree of classes: found by the name in a stored evaluation and by the key of a record."""

import pytest

from samekind.measures.catalogue import measure_named, of_epoch
from samekind.measures.tree_catalogue import CORRELATION, SEVERITY


@pytest.mark.parametrize(
    ("name", "family", "better", "written"),
    [
        ("AHD@5", "AHD@k", "lower", "0.500"),
        ("HP@5", "HP@k", "higher", "50.00%"),
        ("HS@50", "HS@k", "higher", "50.00%"),
        ("AHS@250", "AHS@k", "higher", "50.00%"),
        (SEVERITY, SEVERITY, "lower", "0.500"),
        (CORRELATION, CORRELATION, "higher", "0.500"),
    ],
)
def test_a_name_leads_back_to_the_measure(name, family, better, written):
    measure = measure_named(str(name))
    assert (measure, measure.family, measure.better) == (name, family, better)
    assert measure.write(0.5) == written
    assert measure.meaning.endswith(".")


def test_a_record_of_training_knows_them_by_their_keys():
    assert of_epoch("ahd@5") == "AHD@5"
    assert of_epoch("hp@5").better == "higher"
    assert of_epoch("mean correlation") == CORRELATION
