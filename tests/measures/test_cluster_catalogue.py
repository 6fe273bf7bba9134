"""Measures of classes as clusters: found by their names, and by the keys of a training's record."""

import pytest

from samekind.measures.catalogue import measure_named, of_epoch, write_epoch
from samekind.measures.cluster_catalogue import CENTROID_SHIFT, CLUSTER_RADIUS, NEAREST_CENTROID


@pytest.mark.parametrize(
    ("name", "better", "written"),
    [
        (NEAREST_CENTROID, "higher", "nearest-centroid accuracy 50.00%"),
        (CLUSTER_RADIUS, "lower", "cluster radius 0.500"),
        (CENTROID_SHIFT, "lower", "centroid shift 0.500"),
    ],
)
def test_a_name_and_a_key_lead_back_to_the_measure(name, better, written):
    for measure in (measure_named(str(name)), of_epoch(name.key)):
        assert (measure, measure.better) == (name, better)
        assert measure.meaning.endswith(".")
    assert write_epoch(name.key, 0.5) == written
