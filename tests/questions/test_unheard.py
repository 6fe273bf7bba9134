"""Silence, a constant, a hundredth of a second: they are named beside the answer that a space has anyway."""

import numpy as np
import pytest
import soundfile

from samekind import questions
from samekind.data import SoundReader, collect
from samekind.decisions import Decision
from samekind.encoders import FrameStatistics, FrontEnd
from samekind.inference import embed
from samekind.prototypes import SupportMeans
from samekind.questions.embedded import Embedded
from samekind.questions.reading import read_item
from samekind.questions.unheard import unheard_in
from samekind.similarities import Cosine
from samekind.space import MetricSpace

TONE = 0.2 * np.sign(np.sin(np.arange(8000) * 0.1))
SOUNDS = {
    "silent": np.zeros(8000),
    "constant": np.full(8000, 0.5),
    "ten-milliseconds": TONE[:160],
    "clipped": np.clip(50 * TONE, -1, 1),
    "offset": 0.3 * TONE + 0.5,
    "stereo": np.stack([TONE, 0.5 * TONE], 1),
    "tone": TONE,
}
NOTHING = ("silent", "constant", "ten-milliseconds")


@pytest.fixture
def files(tmp_path):
    for name, sound in SOUNDS.items():
        soundfile.write(tmp_path / f"{name}.wav", sound, 16000)
    return {name: tmp_path / f"{name}.wav" for name in SOUNDS}


@pytest.fixture
def space(files):
    encoder = FrontEnd(encoder=FrameStatistics(coefficients=30), normalise=0)
    parts = encoder, Cosine(), SupportMeans([], dimension=encoder.dimension)
    space = MetricSpace(*parts, reader=SoundReader()).eval()
    space.enroll("tone", embed(space, read_item(space, files["tone"])[None]))
    for kind in space.kinds:
        space.decisions[kind] = Decision(kind, 0.5, "eer", "made up", 0.0, 0.0, (3.0, -1.0))
    return space


def test_only_what_has_nothing_in_it_is_named(files, space):
    items = collect(list(files.values()), space.reader)
    unheard = tuple(str(files[name]) for name in NOTHING)
    assert unheard_in(space, items) == unheard
    answer = questions.identify(space, items)
    assert [item.name for item in answer.items] == ["tone"] * len(files)
    assert answer.to_json()["unheard"] == unheard
    assert answer.warnings[-1].startswith(
        "3 sounds are silent or shorter than 0.1 seconds, which tells nothing"
    )
    known = Embedded(embed(space, items.inputs), items.ids, items.labels)
    assert "unheard" not in questions.identify(space, known).to_json()


def test_of_two_that_are_compared_the_one_is_named(files, space):
    tone, silent = (read_item(space, files[name]) for name in ("tone", "silent"))
    assert questions.compare(space, tone, silent).to_json()["unheard"] == ("second",)
    assert questions.compare(space, silent, tone).warnings[0].startswith("1 sound is silent")
    assert questions.compare(space, silent, tone).warnings[0].endswith("which tells nothing: the first")
    answer = questions.compare(space, tone, tone)
    assert (answer.warnings, "unheard" in answer.to_json()) == ((), False)


def test_examples_of_a_class_are_looked_at_too(files, space):
    answer = questions.enroll(space, "nobody", collect([files["silent"], files["tone"]], space.reader))
    assert answer.unheard == (str(files["silent"]),)
    assert "1 sound is silent" in answer.to_json()["warning"]


def test_other_media_have_nothing_to_hear(plane, files):
    assert plane.reader is None or plane.reader.medium.unheard is None
    items = collect([files["silent"]], SoundReader())
    assert unheard_in(plane, items) == ()
