"""Sounds as a medium: read, batched, checked, shown, with sessions as groups."""

import itertools

import numpy as np
import pytest
import soundfile
import torch

from samekind.acoustics import PAD, lengths_of
from samekind.data import SOUNDS, DataSettings, SoundReader, collect, examine, medium_of, open_data, scaled
from samekind.data.media.sounds import spectrograms
from samekind.data.trial_lists import read_trial_list
from samekind.errors import DataError, SettingError


def write(file, seconds=0.2, *, rate=16000, frequency=300.0, height=0.4, more=None):
    file.parent.mkdir(parents=True, exist_ok=True)
    sound = height * np.sin(2 * np.pi * frequency * np.arange(round(seconds * rate)) / rate)
    soundfile.write(file, sound if more is None else more(sound), rate)


@pytest.fixture
def speakers(tmp_path):
    """Two speakers with sounds of unequal length."""
    for number, name in enumerate(("anna", "ben")):
        for take in range(3):
            frequency = 200 + 150 * number + 10 * take
            write(tmp_path / "talk" / name / f"{take}.wav", 0.2 + 0.1 * take, frequency=frequency)
    return tmp_path / "talk"


def test_a_folder_of_sounds_becomes_items(speakers):
    items = open_data(speakers)
    assert items.medium is SOUNDS
    assert items.classes == ("anna", "ben")
    assert items.shape == (1, 480_000)
    assert items.groups is None
    x, labels = items.batch(torch.tensor([0, 2]))
    assert x.dtype == torch.int16
    assert lengths_of(x).tolist() == [3200, 6400]
    assert (x[0, 0, 3200:] == PAD).all()
    assert labels.tolist() == [0, 0]
    assert lengths_of(scaled(x)).tolist() == [3200, 6400]
    assert items.inputs.nbytes == 2 * 2 * (3200 + 4800 + 6400)
    assert items.inputs.longest == 2
    assert items.take(torch.tensor([3, 5, 4])).inputs.longest == 1


def test_decoded_once_or_whenever_needed_is_the_same(speakers):
    held, stored = open_data(speakers), open_data(speakers, settings=DataSettings(memory="never"))
    assert torch.equal(held.inputs[:], stored.inputs[:])
    assert held.fingerprint() == stored.fingerprint()
    for file in speakers.rglob("*.wav"):
        file.unlink()
    assert len(held.inputs[:]) == 6
    with pytest.raises(DataError, match="there is no file"):
        stored.inputs[:]


def test_folders_inside_a_speaker_are_sessions(tmp_path):
    for name in ("id1/x/1", "id1/x/2", "id1/y/1", "id2/z/1"):
        write(tmp_path / f"{name}.wav")
    items = open_data(tmp_path)
    assert items.classes == ("id1", "id2")
    assert items.groups.tolist() == [0, 0, 1, 2]
    again = collect([tmp_path], items.reader)
    assert again.labels == ("id1", "id1", "id1", "id2")
    assert again.groups == ("id1/x", "id1/x", "id1/y", "id2/z")


def test_a_list_of_utterances_names_speakers_and_sessions(speakers):
    rows = [f"{name}/{take}.wav,{name},{take}" for name in ("anna", "ben") for take in range(3)]
    (speakers / "list.csv").write_text("path,label,group\n" + "\n".join(rows) + "\n", encoding="utf-8")
    items = open_data(speakers / "list.csv")
    assert items.medium is SOUNDS
    assert items.groups.tolist() == [0, 1, 2, 0, 1, 2]


def test_the_rate_follows_from_the_files(tmp_path, speakers):
    for name in ("a/1", "b/1"):
        write(tmp_path / "telephone" / f"{name}.wav", rate=8000)
    assert open_data(tmp_path / "telephone").reader.rate == 8000
    assert open_data(speakers).reader.rate == 16000
    assert open_data(speakers, settings=DataSettings(rate=8000)).inputs[:1].shape[-1] == 1600


def test_a_few_pictures_among_sounds_are_left_out(speakers):
    (speakers / "anna" / "cover.png").write_bytes(b"")
    items = open_data(speakers)
    assert len(items) == 6
    assert "cover.png" in items.notes[0]


def test_long_sounds_are_noted(speakers):
    items = open_data(speakers, settings=DataSettings(seconds=0.25))
    assert items.inputs[:].shape[-1] == 4000
    assert "4 sounds are longer than 0.25 seconds, of which the middle is read" in items.notes[0]


def test_check_names_what_is_wrong(speakers):
    write(speakers / "anna" / "silent.wav", height=0.0)
    write(speakers / "anna" / "short.wav", 0.01)
    write(speakers / "anna" / "loud.wav", height=2.0)
    write(speakers / "ben" / "offset.wav", more=lambda sound: sound + 0.3)
    (speakers / "ben" / "broken.wav").write_bytes(b"no sound")
    report = examine(speakers)
    assert report.errors == (f"1 of 11 files cannot be read: {speakers / 'ben' / 'broken.wav'}",)
    said = " ".join(report.warnings)
    for part in (
        "1 sound is silent: anna/silent.wav",
        "1 sound is shorter than 0.1 seconds: anna/short.wav",
        "1 sound is clipped, too loud for the file: anna/loud.wav",
        "1 sound has a constant added (DC offset): ben/offset.wav",
    ):
        assert part in said
    with pytest.raises(DataError, match=r"broken\.wav"):
        open_data(speakers)
    items = open_data(speakers, settings=DataSettings(skip_unreadable=True))
    assert len(items) == 10
    assert "broken.wav" in items.notes[0]


def test_a_damaged_file_is_named_with_the_others(speakers):
    (speakers / "ben" / "0.wav").write_bytes((speakers / "ben" / "0.wav").read_bytes()[:500])
    (speakers / "anna" / "0.wav").write_bytes(b"")
    with pytest.raises(DataError, match=r"2 of 6 files cannot be read(.|\n)*anna/0(.|\n)*ben/0"):
        open_data(speakers)


def test_thumbnails_are_small_pictures(speakers):
    x = open_data(speakers).inputs[:]
    pictures = SOUNDS.thumbnails(x)
    assert pictures.shape == (6, 1, 40, 64)
    assert (pictures >= 0).all()
    assert (pictures <= 1).all()
    rows = pictures[:, 0].mean(2).argmax(1)  # high tones are above low ones
    assert rows[:3].float().mean() > rows[3:].float().mean()
    # Padding is not shown.
    torch.testing.assert_close(spectrograms(x)[0], spectrograms(x[0, :, :3200]))


def test_the_shape_tells_sounds_from_arrays():
    assert medium_of((1, 16000)) is SOUNDS
    assert medium_of((40, 300)) is not SOUNDS
    assert SOUNDS.shows((1, 16000))


def test_a_reader_refuses_impossible_settings(tmp_path):
    for settings in ({"rate": 44100}, {"seconds": 0.0}, {"seconds": 4000.0}):
        with pytest.raises(SettingError):
            SoundReader(**settings)
    np.save(tmp_path / "a.npy", np.zeros(100))
    with pytest.raises(DataError, match="this space reads sounds"):
        SoundReader().read(tmp_path / "a.npy")


def test_the_folders_and_trials_of_voxceleb(tmp_path):
    """Speaker, video, utterance; a video is a session. The list names files below the folder."""
    root = tmp_path / "wav"
    videos = ("5r0dWxy17C8", "GWXujl-xAVM")
    for speaker, video, take in itertools.product(("id10270", "id10271"), videos, (1, 2)):
        file = root / speaker / video / f"{take:05d}.wav"
        file.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(file, np.random.default_rng(take).normal(size=2000) / 10, 16000)
    items = open_data(root)
    assert items.classes == ("id10270", "id10271")
    assert items.groups is not None
    assert len(items.groups.unique()) == 4
    lines = [
        "1 id10270/5r0dWxy17C8/00001.wav id10270/GWXujl-xAVM/00002.wav",
        "0 id10270/5r0dWxy17C8/00001.wav id10271/GWXujl-xAVM/00001.wav",
    ]
    (tmp_path / "veri_test.txt").write_text("\n".join(lines), encoding="utf-8")
    listed = read_trial_list(tmp_path / "veri_test.txt", root=root)
    assert listed.same.tolist() == [True, False]
