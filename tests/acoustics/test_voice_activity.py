"""Which frames are voiced: a loop over Kaldi's rule, and sounds at the edges."""

import numpy as np
import soundfile
import torch

from samekind.acoustics import Features, only_voiced, voiced
from samekind.data import SoundReader, scaled


def test_frames_are_those_of_a_loop():
    lengths = torch.tensor([40, 23, 1])
    energy = torch.randn(3, 40) * 4 + 12
    result = voiced(energy, lengths)
    for row, length in enumerate(lengths.tolist()):
        threshold = 5.5 + 0.5 * float(energy[row, :length].mean())
        for frame in range(length):
            around = energy[row, max(0, frame - 2) : min(length, frame + 3)]
            expected = float((around > threshold).sum()) >= 0.12 * len(around)
            assert bool(result[row, frame]) == expected
        assert not result[row, length:].any()


def test_padding_does_not_matter():
    energy = torch.randn(1, 30) * 4 + 12
    alone = voiced(energy, torch.tensor([30]))
    longer = torch.cat([energy, torch.full((1, 9), 99.0)], 1)
    assert torch.equal(voiced(longer, torch.tensor([30]))[:, :30], alone)


def features_of(x):
    return Features()(x[None], torch.tensor([len(x)]))


def test_speech_is_found_between_silences():
    tone = torch.sin(torch.arange(8000) * 0.2) * 0.3
    x = torch.cat([torch.zeros(8000), tone, torch.zeros(8000)]) + torch.randn(24000) * 1e-4
    values, energy, lengths = features_of(x)
    is_voiced = voiced(energy, lengths)[0]
    assert is_voiced[55:95].all()
    assert not is_voiced[:45].any()
    assert not is_voiced[105:].any()
    frames, counts = only_voiced(values, energy, lengths)
    assert frames.shape[-1] == int(counts[0]) == int(is_voiced.sum())
    torch.testing.assert_close(frames[0], values[0][:, is_voiced])


def test_clipping_and_two_channels_lose_no_speech(tmp_path):
    """Far too loud and in stereo, written to a file and read again: the same frames are speech."""
    noise = np.random.default_rng(0).normal(0, 1e-4, 24000)
    tone = 3 * np.sin(np.arange(8000) * 0.2)
    x = np.concatenate([np.zeros(8000), tone, np.zeros(8000)]) + noise
    soundfile.write(tmp_path / "stereo.wav", np.stack([x, x], 1), 16000, subtype="PCM_16")  # this clips
    sound = scaled(SoundReader().read(tmp_path / "stereo.wav"))[0]
    assert float(sound.abs().max()) > 0.999
    assert float((sound.abs() > 0.999).float().mean()) > 0.2
    _, energy, lengths = features_of(sound)
    is_voiced = voiced(energy, lengths)[0]
    assert is_voiced[55:95].all()
    assert not is_voiced[:45].any()
    assert not is_voiced[105:].any()


def test_silence_a_constant_and_ten_milliseconds_keep_their_frames():
    for x in (torch.zeros(8000), torch.full((8000,), 0.5), torch.randn(160) * 0.1, torch.zeros(160)):
        values, energy, lengths = features_of(x)
        frames, counts = only_voiced(values, energy, lengths)
        assert frames.isfinite().all()
        assert int(counts[0]) >= 1


def test_a_constant_changes_nothing():
    x = torch.randn(8000) * 0.05
    first, second = features_of(x), features_of(x + 0.3)
    torch.testing.assert_close(first.values, second.values, atol=0.05, rtol=1e-3)
