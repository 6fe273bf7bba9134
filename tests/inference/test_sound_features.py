"""Features of sounds computed once: the same embeddings, from a cache or from a file."""

import numpy as np
import pytest
import soundfile
import torch

from samekind.acoustics import lengths_of
from samekind.data import SOUNDS, Items, examine, open_data, prepare, scaled
from samekind.encoders import FrontEnd, SpeakerNetwork, XVector
from samekind.errors import DataError
from samekind.inference import sound_features, write_sounds
from samekind.inference.embed import embed_by
from samekind.recipes import prototypical
from samekind.training import build_space


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    root = tmp_path_factory.mktemp("speech")
    chance = np.random.default_rng(0)
    for name in ("anna/x", "anna/y", "ben/x", "ben/y"):
        (root / name).mkdir(parents=True)
        for take in range(3):
            soundfile.write(root / name / f"{take}.wav", chance.normal(size=3000 + 900 * take) * 0.1, 16000)
    return open_data(root)


@pytest.fixture
def front_end():
    torch.manual_seed(0)
    return FrontEnd(encoder=XVector(width=8, last_width=8, dimension=4)).eval()


def test_embeddings_of_features_are_those_of_the_sounds(items, front_end):
    features = sound_features(front_end, items, batch=5)
    assert features.medium is SOUNDS
    assert features.shape[0] == 30
    assert features.groups is items.groups
    torch.testing.assert_close(
        embed_by(front_end, features.inputs), embed_by(front_end, items.inputs), atol=1e-4, rtol=1e-3
    )


def test_a_file_is_opened_like_any_data(items, front_end, tmp_path):
    features = sound_features(front_end, items)
    write_sounds(tmp_path / "f.npz", features)
    again = open_data(tmp_path / "f.npz")
    assert (again.classes, again.ids) == (items.classes, items.ids)
    assert torch.equal(again.labels, items.labels)
    assert torch.equal(again.groups, items.groups)
    assert torch.equal(lengths_of(again.inputs), lengths_of(features.inputs))
    torch.testing.assert_close(again.inputs, features.inputs, atol=0.05, rtol=2e-3, equal_nan=True)
    assert examine(tmp_path / "f.npz").errors == ()
    # The space of a run on it reads sounds.
    sets = prepare(again)
    space = build_space(prototypical(sets.train), sets.train)
    assert space.reader.rate == 16000
    assert embed_by(space.encoder.eval(), items.inputs).shape == (12, space.encoder.dimension)


def test_the_cache_is_asked_first_and_knows_the_front_end(items, front_end, tmp_path, monkeypatch):
    first = sound_features(front_end, items, cache=tmp_path / "cache")
    assert len(list((tmp_path / "cache").iterdir())) == 1
    monkeypatch.setattr(front_end.preparation, "features", None)  # not asked any more
    second = sound_features(front_end, items, cache=tmp_path / "cache")
    torch.testing.assert_close(second.inputs, first.inputs, atol=0.05, rtol=2e-3, equal_nan=True)
    other = FrontEnd(encoder=XVector(width=8, last_width=8), voice_activity=False)
    sound_features(other, items, cache=tmp_path / "cache")
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_what_is_not_sounds_is_refused(front_end, tmp_path):
    vectors = Items(torch.zeros(2, 3), torch.tensor([0, 1]), ("a", "b"), "vectors")
    with pytest.raises(DataError, match="expected sounds, got vectors"):
        sound_features(front_end, vectors)
    with pytest.raises(DataError, match=r"ends in \.npz"):
        write_sounds(tmp_path / "f.npy", vectors)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"lengths": np.array([2, 2])}, "sum to its 5 frames"),
        ({"lengths": np.array([5, 0])}, "from 1 up"),
        ({"frames": np.full((5, 3), np.nan)}, "must be finite floats"),
        ({"frames": np.zeros((5, 3), dtype=np.int64)}, "must be finite floats"),
        ({"rate": np.array(44100)}, "rate of .* must be 8000 or 16000"),
    ],
)
def test_a_file_that_contradicts_itself(changed, says, tmp_path):
    arrays = {
        "frames": np.zeros((5, 3), dtype=np.float16),
        "lengths": np.array([2, 3]),
        "rate": np.array(16000),
    }
    np.savez(tmp_path / "f.npz", **{**arrays, "labels": np.array([0, 1]), **changed})
    with pytest.raises(DataError, match=says):
        open_data(tmp_path / "f.npz")


def test_a_published_network_has_features_of_its_own(items, tmp_path):
    encoder = SpeakerNetwork(network="cam++").eval()
    features = sound_features(encoder, items, cache=tmp_path)
    assert features.inputs.shape[1] == 80
    with torch.no_grad():
        sounds, computed = (encoder(scaled(some.inputs[:3])) for some in (items, features))
    torch.testing.assert_close(computed, sounds, atol=1e-3, rtol=1e-3)
    sound_features(SpeakerNetwork(network="resnet34"), items, cache=tmp_path)
    assert len(list(tmp_path.glob("*.npz"))) == 2
