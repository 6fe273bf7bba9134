"""Features against kaldi-native-fbank, whatever their neighbours in the batch."""

import kaldi_native_fbank
import numpy
import pytest
import torch

from samekind.acoustics import Features, lengths_of, padded
from samekind.errors import DataError, SettingError


@pytest.mark.parametrize("rate", [8000, 16000])
@pytest.mark.parametrize("representation", ["mfcc", "log-mel"])
def test_features_are_those_of_kaldi(representation, rate):
    generator = torch.Generator().manual_seed(1)
    sounds = [torch.randn(1, n, generator=generator) * 0.1 + 0.05 for n in (9000, 4321, 700, rate // 100)]
    sounds.append(torch.sin(torch.arange(5000) * 0.3)[None].mul(3).clamp(-1, 1))  # clipped
    batch = padded(sounds)
    features = Features(rate=rate, representation=representation)(batch[:, 0], lengths_of(batch))
    for sound, values, length in zip(sounds, features.values, features.lengths, strict=True):
        expected = of_kaldi(sound[0].numpy(), representation=representation, rate=rate)
        assert len(expected) == length
        torch.testing.assert_close(values[:, :length].T, expected, atol=3e-3, rtol=1e-4)


@pytest.mark.parametrize(("window", "loudest"), [("povey", 1.0), ("hamming", 32768.0)])
def test_frames_may_end_with_the_sound_and_samples_may_be_small(window, loudest):
    """As networks of 3D-Speaker and of WeSpeaker were trained: ``snip-edges``, filters to half the rate."""
    generator = torch.Generator().manual_seed(1)
    sounds = [torch.randn(1, length, generator=generator) * 0.1 for length in (4321, 700, 400)]
    batch = padded(sounds)
    features = Features(
        representation="log-mel", high=8000.0, window=window, edges="inside", loudest=loudest
    )(batch[:, 0], lengths_of(batch))
    for sound, values, length in zip(sounds, features.values, features.lengths, strict=True):
        options = kaldi_native_fbank.FbankOptions()
        options.frame_opts.dither, options.frame_opts.window_type = 0, window
        options.mel_opts.num_bins = 80
        peer = kaldi_native_fbank.OnlineFbank(options)
        peer.accept_waveform(16000, (sound[0] * loudest).tolist())
        peer.input_finished()
        expected = numpy.stack([peer.get_frame(n) for n in range(peer.num_frames_ready)])
        torch.testing.assert_close(values[:, :length].T, torch.from_numpy(expected), atol=3e-3, rtol=1e-4)
    short = Features(edges="inside")(torch.ones(1, 100), torch.tensor([100]))
    assert short.lengths.tolist() == [1]
    assert short.values.isfinite().all()


def of_kaldi(sound, *, representation, rate):
    coefficients = {("mfcc", 16000): 30, ("mfcc", 8000): 23}.get((representation, rate), 80)
    options = (
        kaldi_native_fbank.MfccOptions() if representation == "mfcc" else kaldi_native_fbank.FbankOptions()
    )
    if representation == "mfcc":
        options.num_ceps, options.use_energy = coefficients, True
    options.frame_opts.samp_freq, options.frame_opts.dither = rate, 0
    options.frame_opts.snip_edges = False
    options.mel_opts.num_bins = coefficients
    options.mel_opts.low_freq, options.mel_opts.high_freq = 20, 7600 if rate == 16000 else 3700
    reader = kaldi_native_fbank.OnlineMfcc if representation == "mfcc" else kaldi_native_fbank.OnlineFbank
    peer = reader(options)
    peer.accept_waveform(rate, (sound * 32768).tolist())
    peer.input_finished()
    return torch.from_numpy(numpy.stack([peer.get_frame(n) for n in range(peer.num_frames_ready)]))


def test_a_long_sound_is_computed_in_parts(monkeypatch):
    x, lengths = torch.randn(2, 16000), torch.tensor([16000, 9000])
    whole = Features()(x, lengths)
    monkeypatch.setattr("samekind.acoustics.features.AT_ONCE", 64)
    parts = Features()(x, lengths)
    torch.testing.assert_close(parts.values, whole.values)


def test_dither_is_for_training_only():
    features, x, lengths = Features(dither=1.0), torch.zeros(1, 1600), torch.tensor([1600])
    assert not torch.equal(features(x, lengths).values, features(x, lengths).values)
    features.eval()
    assert torch.equal(features(x, lengths).values, features(x, lengths).values)
    assert features(x, lengths).values.isfinite().all()


def test_what_cannot_be_is_refused():
    with pytest.raises(DataError, match="no sample"):
        Features()(torch.zeros(1, 5), torch.tensor([0]))
    for settings in (
        {"rate": 16001},
        {"representation": "lpc"},
        {"high": 9000.0},
        {"coefficients": 0},
        {"window": "x"},
    ):
        with pytest.raises(SettingError):
            Features(**settings)
