"""Every command on a folder of sounds, as a stranger would use it: speakers, sessions, utterances."""

import hashlib
import itertools
import json
import shutil

import numpy as np
import pytest
import soundfile
import torch

from samekind.encoders import SpeakerNetwork

#: The run file of init, with a network that trains in a second.
SMALL = """
[space.encoder]
name = "FrontEnd"
[space.encoder.encoder]
name = "XVector"
dimension = 16
width = 16
last_width = 24
"""


def voice(speaker, seed, *, rate=16000, seconds=0.4):
    """A buzz with the pitch of a speaker through two resonances, and some breath."""
    chance = np.random.default_rng(seed)
    steps = np.arange(int(seconds * rate * chance.uniform(0.7, 1.3)))
    pitch = (100 + 45 * speaker) * chance.uniform(0.97, 1.03)
    sound = np.zeros(len(steps))
    for order in range(1, int(3500 / pitch)):
        frequency = order * pitch
        height = sum(
            1 / (1 + ((frequency - peak) / 120) ** 2) for peak in (400 + 90 * speaker, 1500 + 220 * speaker)
        )
        sound += height * np.sin(2 * np.pi * frequency / rate * steps + chance.uniform(0, 6))
    return 0.3 * sound / np.abs(sound).max() + 0.003 * chance.standard_normal(len(steps))


@pytest.fixture(scope="module")
def speech(tmp_path_factory):
    """Four speakers, three sessions each, three utterances a session: FLAC, Ogg and stereo WAV."""
    root = tmp_path_factory.mktemp("sounds") / "speech"
    for speaker, name in enumerate(("anna", "ben", "carla", "dan")):
        for session in range(3):
            folder = root / name / f"day{session}"
            folder.mkdir(parents=True)
            for take, ending in enumerate(("flac", "ogg", "wav")):
                sound = voice(speaker, 100 * speaker + 10 * session + take)
                sound = np.stack([sound, 0.5 * sound], 1) if ending == "wav" else sound
                soundfile.write(folder / f"{take}.{ending}", sound, 16000)
    return root


@pytest.fixture(scope="module")
def heard(speech, samekind):
    """The folder of a run on it, begun by init."""
    run = speech.parent / "run.toml"
    answer = samekind("init", speech, "--want", "everything", "--epochs", 2, "--out", run)
    assert answer.status == 0, answer.err
    written = run.read_text(encoding="utf-8")
    assert "36 items of 4 classes, each up to 480,000 samples." in written
    assert 'by = "group"' in written
    run.write_text(written + SMALL, encoding="utf-8")
    answer = samekind("train", run, "--out", speech.parent / "heard", "--device", "cpu")
    assert answer.status == 0, answer.err
    return speech.parent / "heard"


def test_check_counts_sessions_as_groups(speech, samekind):
    answer = samekind("check", speech, "--json")
    assert json.loads(answer.out)["groups"] == 12
    assert "items of up to 480,000 samples" in samekind("check", speech).out


def test_evaluate_answers_every_question_and_leaves_sessions_out(heard, samekind):
    answer = samekind("evaluate", heard)
    assert answer.status == 0, answer.err
    for word in ("EER", "Recall@1", "nearest raw input", "own group"):
        assert word in answer.out


def test_compare_enroll_identify_search_and_embed(heard, speech, samekind, tmp_path):
    anna, other = speech / "anna" / "day0" / "0.flac", speech / "anna" / "day1" / "2.wav"
    soundfile.write(tmp_path / "telephone.wav", voice(0, 7, rate=8000), 8000)
    space = ("--space", heard)
    same = json.loads(samekind("compare", anna, other, *space, "--json").out)
    assert 0 <= same["probability"] <= 1
    assert samekind("compare", anna, tmp_path / "telephone.wav", *space).status == 0
    # One utterance is the same however it is stored.
    assert json.loads(samekind("compare", anna, anna, *space, "--kind", "cosine", "--json").out)["same"]

    enrolled = tmp_path / "space"
    answer = samekind("enroll", "eve", tmp_path / "telephone.wav", other, *space, "--out", enrolled)
    assert answer.status == 0, answer.err
    named = json.loads(samekind("identify", anna, other, "--space", enrolled, "--json").out)
    assert len(named["items"]) == 2
    content = json.loads(samekind("search", anna, "--gallery", speech, *space, "--json").out)
    assert content
    assert samekind("embed", speech, "--out", tmp_path / "z.npy", *space).status == 0
    assert np.load(tmp_path / "z.npy").shape == (36, 16)


def test_who_is_heard_when(heard, samekind, tmp_path, trained, pictures):
    meeting = np.concatenate([voice(0, 3, seconds=2), np.zeros(16000), voice(3, 4, seconds=2)])
    soundfile.write(tmp_path / "meeting.wav", meeting, 16000)
    given = ("identify", tmp_path / "meeting.wav", "--windows", "0.5", "--space", heard)
    content = json.loads(samekind(*given, "--json").out)["stretches"]
    assert [content[0]["from"], round(content[-1]["to"], 3)] == [0.0, round(len(meeting) / 16000, 3)]
    assert any(one["to"] < two["from"] for one, two in itertools.pairwise(content))  # the silence
    answer = samekind(*given)
    assert answer.status == 0, answer.err
    assert "0:00:00.0" in answer.out
    answer = samekind("identify", pictures / "0.png", "--windows", "2", "--space", trained)
    assert (answer.status, answer.err.count("\n")) == (2, 1)
    assert "only sounds are cut into windows" in answer.err


def test_cluster_shows_spectrograms_and_copies_files(heard, speech, samekind, tmp_path):
    answer = samekind("cluster", speech, "--space", heard, "--groups", 4, "--out", tmp_path / "groups")
    assert answer.status == 0, answer.err
    assert "data:image/png" in (tmp_path / "groups" / "report.html").read_text(encoding="utf-8")
    copies = [path for path in (tmp_path / "groups").rglob("*") if path.suffix in (".flac", ".ogg", ".wav")]
    assert len(copies) == 36


def test_attack_writes_sounds_and_says_how_loud_the_changes_are(heard, speech, samekind, tmp_path):
    given = ("attack", heard, speech, "--steps", 3, "--limit", 6)
    answer = samekind(*given, "--eps", 0.01, "--to", tmp_path / "out")
    assert answer.status == 0, answer.err
    assert "epsilon 0.01 in the range of a sample, -1 to 1" in answer.out
    assert "dB below the sounds (median)" in answer.out or "No sound was changed" in answer.out
    assert "mean and deviation of the features" in answer.out
    files = list((tmp_path / "out").rglob("*.wav"))
    assert len(files) == 6
    lengths = {soundfile.info(path).frames for path in speech.rglob("*") if path.is_file()}
    assert {soundfile.info(path).frames for path in files} <= lengths  # padding is not written
    content = json.loads(samekind(*given, "--norm", "snr", "--eps", "20dB", "--json").out)
    assert (content["norm"], round(content["epsilon"], 3)) == ("snr", 0.1)
    assert content["unit"].startswith("of the size of the item itself")
    answer = samekind(*given, "--eps", "20dB")
    assert (answer.status, answer.err.count("\n")) == (2, 1)
    assert "takes --norm snr" in answer.err


def test_robustness_writes_a_page_about_sounds(heard, speech, samekind, tmp_path):
    page = tmp_path / "page.html"
    given = ("--steps", 2, "--limit", 8, "--eps", "0.001,0.01", "--ask", "class,pair,neighbour,enrolment")
    answer = samekind("robustness", heard, speech, "--to", page, *given)
    assert answer.status == 0, answer.err
    assert "no attacks within Voronoi cells" in answer.err
    written = page.read_text(encoding="utf-8")
    assert "data:image/png" in written  # spectrograms
    assert "Attacked sounds" in written
    for question in ("class", "pair", "neighbour", "enrolment"):
        assert question in answer.out


def test_a_list_of_trials(heard, speech, samekind):
    lines = ["1 anna/day0/0.flac anna/day1/2.wav", "0 anna/day0/0.flac ben/day1/1.ogg"]
    (speech.parent / "trials.txt").write_text("\n".join(lines), encoding="utf-8")
    answer = samekind("evaluate", heard, "--trials", speech.parent / "trials.txt", "--root", speech)
    assert answer.status == 0, answer.err
    assert "EER" in answer.out


def test_a_broken_sound_gets_one_line(heard, samekind, tmp_path):
    (tmp_path / "a.wav").write_bytes(b"no sound")
    answer = samekind("identify", tmp_path / "a.wav", "--space", heard)
    assert answer.status == 2
    assert answer.err.count("\n") == 1
    assert "cannot read" in answer.err


def test_the_house_recipe_climbs_on_sounds(speech, samekind, tmp_path):
    rest = ("--minutes", 0, "--device", "cpu")
    # One session of each speaker to learn from: nothing is left to compare.
    answer = samekind("train", "--data", speech, "--out", tmp_path / "sessions", *rest)
    assert answer.status == 2
    assert "from different groups" in answer.err
    for speaker, take in itertools.product(range(3), range(14)):
        (tmp_path / "flat" / str(speaker)).mkdir(parents=True, exist_ok=True)
        soundfile.write(tmp_path / "flat" / str(speaker) / f"{take}.wav", voice(speaker, take), 16000)
    answer = samekind("train", "--data", tmp_path / "flat", "--out", tmp_path / "run", *rest)
    assert answer.status == 0, answer.err
    assert "fitted similarity" in answer.out
    assert "Kept:" in answer.out


def test_a_published_network_is_the_first_rung(samekind, tmp_path):
    torch.manual_seed(0)
    weights = tmp_path / "weights.pt"
    torch.save(SpeakerNetwork(network="cam++").module.state_dict(), weights)
    fingerprint = hashlib.sha256(weights.read_bytes()).hexdigest()
    for speaker, take in itertools.product(range(3), range(10)):
        (tmp_path / "flat" / str(speaker)).mkdir(parents=True, exist_ok=True)
        soundfile.write(tmp_path / "flat" / str(speaker) / f"{take}.wav", voice(speaker, take), 16000)
    settings = f'network = "cam++", weights = "{weights}", fingerprint = "{fingerprint}"'
    encoder = f'space.encoder={{name = "SpeakerNetwork", {settings}}}'
    given = ("train", "--data", tmp_path / "flat", "--out", tmp_path / "run", "--minutes", 0)
    answer = samekind(*given, "--device", "cpu", "--set", encoder)
    assert answer.status == 0, answer.err
    assert "untrained features" in answer.out
    weights.unlink()  # the space has its own
    content = samekind(
        "compare",
        tmp_path / "flat" / "0" / "0.wav",
        tmp_path / "flat" / "0" / "1.wav",
        "--space",
        tmp_path / "run",
        "--json",
    )
    assert content.status == 0, content.err


def test_the_recipe_for_speakers_goes_on_from_a_space_on_other_speakers(speech, samekind, tmp_path):
    narrow = [("--set", f"space.encoder.encoder.{name}=12") for name in ("width", "last_width", "dimension")]
    rest = ("--device", "cpu", "--set", "epochs=1", "--set", "space.similarity.hidden=8")
    first = ("train", "speaker", "--data", speech, "--out", tmp_path / "a", *rest)
    assert samekind(*first, *(word for pair in narrow for word in pair)).status == 0
    others = tmp_path / "others"
    for name in ("anna", "ben"):
        shutil.copytree(speech / name, others / f"{name}2")
    answer = samekind(
        "train", "speaker", "--data", others, "--from", tmp_path / "a", "--out", tmp_path / "b", *rest
    )
    assert answer.status == 0, answer.err
    assert "Trained speaker" in answer.out
