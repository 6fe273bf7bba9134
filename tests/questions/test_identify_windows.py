"""Who is heard when: windows of long sounds, joined where neighbours have the same answer."""

import sys

import numpy as np
import pytest
import soundfile

from samekind.data import SoundReader
from samekind.decisions import Decision
from samekind.encoders import FrameStatistics, FrontEnd
from samekind.errors import DataError, SettingError
from samekind.inference import embed_files
from samekind.prototypes import SupportMeans
from samekind.questions import identify_windows
from samekind.questions.identify import NO_THRESHOLD
from samekind.similarities import Cosine, FixedScale
from samekind.space import MetricSpace

RATE = 8000


def buzz(pitch, seconds):
    """A tone with overtones; pitch 0 is silence."""
    steps = np.arange(round(seconds * RATE)) / RATE
    return 0.2 * np.sign(np.sin(2 * np.pi * pitch * steps)) if pitch else np.zeros(len(steps))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Writes tones one after another, (pitch, seconds) each, and returns the path."""
    root = tmp_path_factory.mktemp("sounds")

    def write(name, *tones):
        soundfile.write(root / name, np.concatenate([buzz(*tone) for tone in tones]), RATE)
        return root / name

    return write


@pytest.fixture
def space(written):
    """Knows two voices, by the mean and deviation of their features; nothing was trained."""
    encoder = FrontEnd(encoder=FrameStatistics(coefficients=23), rate=RATE, normalise=0)
    dimension = encoder.dimension
    space = MetricSpace(
        encoder,
        Cosine(scale=FixedScale(50.0)),
        SupportMeans([], dimension=dimension),
        reader=SoundReader(rate=RATE),
    ).eval()
    for name, pitch in (("low", 130), ("high", 410)):
        space.enroll(name, embed_files(space, [written(f"{name}.wav", (pitch, 1))]))
    return space


def content(answer):
    return [(item.name, item.start, item.end) for item in answer.stretches]


def test_neighbours_are_joined_and_silence_is_left_out(space, written, progress):
    meeting = written("meeting.wav", (130, 2), (410, 1), (0, 1), (410, 1.5), (130, 0.7))
    answer = identify_windows(space, {"meeting": meeting}, seconds=0.5, progress=progress)
    assert content(answer) == [
        ("low", 0.0, 2.0),
        ("high", 2.0, 3.0),
        ("high", 4.0, 5.5),
        ("low", 5.5, 6.2),
    ]
    assert all(0.5 < item.probability <= 1 for item in answer.stretches)
    assert (answer.warnings, progress.titles) == ((NO_THRESHOLD,), {"identify": [1, 1]})
    assert answer.to_json()["stretches"][1] == {
        "id": "meeting",
        "from": 2.0,
        "to": 3.0,
        "class": "high",
        "probability": answer.stretches[1].probability,
    }


def test_batches_of_windows_change_nothing(space, written, monkeypatch):
    meeting = written("long.wav", (130, 2), (0, 1), (410, 2))
    whole = identify_windows(space, {"a": meeting}, seconds=0.5)
    # The package has a function of the same name.
    monkeypatch.setattr(sys.modules["samekind.questions.identify_windows"], "AT_ONCE", 3)
    parts = identify_windows(space, {"a": meeting}, seconds=0.5)
    assert content(parts) == content(whole)


def test_none_of_these(space, written):
    space.open_set = Decision("cosine", 2.0, "eer", "made up", 0.0, 0.0, (3.0, -1.0))
    answer = identify_windows(space, {"a": written("a.wav", (130, 1), (410, 1))}, seconds=0.5)
    assert content(answer) == [(None, 0.0, 2.0)]
    assert (answer.threshold, answer.kind, answer.warnings) == (2.0, "cosine", ())


def test_a_silent_file_has_no_stretch(space, written):
    files = {"a": written("silent.wav", (0, 3)), "b": written("good.wav", (130, 1))}
    answer = identify_windows(space, files | {"c": written("short.wav", (130, 0.05))})
    assert {stretch.id for stretch in answer.stretches} == {"b"}
    assert answer.to_json()["unheard"] == ("a", "c")
    assert "2 sounds are silent or shorter than 0.1 seconds, which tells nothing: a, c" in answer.warnings


def test_broken_files_are_named_or_skipped(space, written):
    good, bad = written("good.wav", (130, 1)), written("bad.wav", (130, 1))
    bad.write_bytes(b"no sound")
    with pytest.raises(DataError, match="1 of 2 files cannot be read"):
        identify_windows(space, {"good": good, "bad": bad})
    answer = identify_windows(space, {"good": good, "bad": bad}, skip_unreadable=True)
    assert (content(answer), answer.skipped[0][0]) == ([("low", 0.0, 1.0)], "bad")


def test_refuses_other_media_and_odd_lengths(plane, space):
    with pytest.raises(SettingError, match="only sounds are cut into windows, and this space reads "):
        identify_windows(plane, {})
    with pytest.raises(SettingError, match="3600 seconds long"):
        identify_windows(space, {}, seconds=0)
