"""The benchmark of the front end runs, and measures the same work for each library."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def speech(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import speech

    yield speech
    monkeypatch.delitem(sys.modules, "speech")


def test_libraries_are_measured_in_one_run(speech, monkeypatch):
    monkeypatch.setattr(speech, "SOUNDS", 2)
    measured = speech.front_end(rounds=1)
    assert {"samekind", "kaldi-native-fbank"} <= set(measured)
    assert min(measured.values()) > 0


def test_ours_has_as_many_frames_as_there_are_hundredths(speech):
    features = speech.ours(np.zeros((2, 16000), dtype=np.float32))()
    assert features.values.shape == (2, 30, 100)


def test_networks_are_measured_and_trained_from_samples(speech, monkeypatch):
    monkeypatch.setattr(speech, "SECONDS", 1)
    measured = speech.networks(rounds=1, sounds=1)
    assert len(measured) == 4
    trained = speech.training(rounds=1, sounds=2)
    assert min(*measured.values(), *trained.values()) > 0
    assert "training, samekind" in trained
