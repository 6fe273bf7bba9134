"""Times of both ways, in turns."""

import pytest

from samekind.exporting import latency
from samekind.exporting.latency import Latency, latencies
from samekind.exporting.parity import random_items
from samekind.portable import PortableSpace


def test_measures_every_batch_size_up_to_the_number_of_items(known_space, exported, monkeypatch):
    monkeypatch.setattr(latency, "SECONDS", 0.0)
    rows = latencies(known_space, PortableSpace.open(exported), random_items(known_space.reader, 32))
    assert [row.batch for row in rows] == [1, 32]
    assert all(row.torch > 0 and row.onnxruntime > 0 and row.runs == latency.FEWEST for row in rows)
    few = latencies(known_space, PortableSpace.open(exported), random_items(known_space.reader, 5))
    assert [row.batch for row in few] == [1]


def test_a_ratio_above_1_is_quicker():
    assert Latency(1, torch=6.0, onnxruntime=2.0, runs=3).ratio == pytest.approx(3)
