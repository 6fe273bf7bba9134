"""Files of sound: any format, rate and number of channels, and a sentence for each that is broken."""

import resource

import numpy as np
import pytest
import soundfile
import torch

from samekind.data.files import Archive, Member, Upload
from samekind.data.media import waves
from samekind.decoding import waves as decoding
from samekind.errors import DataError


def tone(seconds=0.5, *, rate=16000, frequency=440.0, height=0.5):
    return height * np.sin(2 * np.pi * frequency * np.arange(round(seconds * rate)) / rate)


@pytest.mark.parametrize("ending", ["wav", "flac", "ogg", "opus", "mp3", "aiff"])
def test_reads_every_format(ending, tmp_path):
    file = tmp_path / f"a.{ending}"
    container = {"opus": ("OGG", "OPUS"), "ogg": ("OGG", "VORBIS")}.get(ending, (None, None))
    soundfile.write(file, tone(), 16000, format=container[0], subtype=container[1])
    samples = waves.decode(file, rate=16000, seconds=30)
    assert samples.dtype == torch.int16
    assert samples.shape[0] == 1
    assert abs(samples.shape[1] - 8000) <= 1200  # lossy formats may add some silence
    assert 0.3 < samples.double().div(32768).square().mean().sqrt() / 0.5 * 2**0.5 < 1.1
    assert frequency_of(samples, 16000) == pytest.approx(440, abs=4)


def frequency_of(samples, rate):
    spectrum = torch.fft.rfft(samples[0].double()).abs()
    return float(spectrum.argmax()) * rate / samples.shape[1]


@pytest.mark.parametrize("rate", [8000, 11025, 22050, 44100, 48000])
@pytest.mark.parametrize("wanted", [8000, 16000])
def test_any_rate_is_resampled(rate, wanted, tmp_path):
    soundfile.write(tmp_path / "a.wav", tone(1, rate=rate), rate)
    samples = waves.decode(tmp_path / "a.wav", rate=wanted, seconds=30)
    assert abs(samples.shape[1] - wanted) <= 1
    assert frequency_of(samples, wanted) == pytest.approx(440, abs=2)
    assert waves.heading(tmp_path / "a.wav").samples_at(wanted, 30) == pytest.approx(wanted, abs=1)


def test_channels_are_averaged(tmp_path):
    both = np.stack([tone(height=0.5), np.zeros(8000)], 1)
    soundfile.write(tmp_path / "a.wav", both, 16000, subtype="FLOAT")
    one = waves.decode(tmp_path / "a.wav", rate=16000, seconds=30)
    torch.testing.assert_close(one[0].double() / 32768, torch.from_numpy(both.mean(1)), atol=1e-4, rtol=0)


def test_of_a_longer_sound_the_middle_is_read(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.arange(1000) / 32768, 16000)
    samples = waves.decode(tmp_path / "a.wav", rate=16000, seconds=0.01)
    assert samples[0].tolist() == list(range(420, 580))


def test_clipping_and_ten_milliseconds(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.clip(tone(0.01, height=5.0), -1, 1), 16000, subtype="FLOAT")
    samples = waves.decode(tmp_path / "a.wav", rate=16000, seconds=30)
    assert samples.shape == (1, 160)
    assert (int(samples.min()), int(samples.max())) == (-32767, 32767)


def test_two_hours_take_no_more_memory_than_half_a_minute(tmp_path):
    with soundfile.SoundFile(tmp_path / "long.flac", "w", samplerate=8000, channels=1) as sound:
        for _ in range(120):
            sound.write(np.zeros(8000 * 60))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    samples = waves.decode(tmp_path / "long.flac", rate=16000, seconds=30)
    assert samples.shape == (1, 480_000)
    assert waves.heading(tmp_path / "long.flac").seconds == 7200
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # kilobytes; the whole is 460


def test_reads_from_archives_and_memory(tmp_path):
    import zipfile

    soundfile.write(tmp_path / "a.flac", tone(), 16000)
    content = (tmp_path / "a.flac").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x/a.flac", content)
    expected = waves.decode(tmp_path / "a.flac", rate=16000, seconds=30)
    for file in (Member(Archive(tmp_path / "a.zip"), "x/a.flac"), Upload("a.flac", content), content):
        assert torch.equal(waves.decode(file, rate=16000, seconds=30), expected)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("a.wav", lambda content: content[:5000], "is cut short: .* of .* bytes of sound are there"),
        (
            "a.flac",
            lambda content: content[: len(content) // 2],
            "cannot read .*a.flac: .*; expected a sound",
        ),
        ("a.ogg", lambda content: content[: len(content) // 2], "cannot read .*a.ogg: .*; expected a sound"),
        ("a.wav", lambda content: b"", "is an empty file; expected a sound"),
        ("a.wav", lambda content: content[:44], "is cut short|holds no sound"),
        ("a.wav", lambda content: b"not a sound " * 99, "cannot read .*a.wav: Format not recognised"),
    ],
)
def test_a_broken_file_gets_a_sentence(name, change, says, tmp_path):
    file = tmp_path / name
    soundfile.write(file, tone(), 16000)
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(DataError, match=says):
        waves.decode(file, rate=16000, seconds=30)


@pytest.mark.parametrize(
    ("ending", "container", "says"),
    [
        ("aiff", "AIFF", "of 16,008 bytes of sound are there"),
        ("au", "AU", "of 16,000 bytes of sound are there"),
        ("rf64", "RF64", "of 8,000 samples are there"),
        ("w64", "W64", "bytes of sound are there"),
        ("ogg", "OGG", "in the middle of a page"),
        ("opus", "OGG", "in the middle of a page"),
    ],
)
def test_half_a_file_is_named_in_every_format_that_tells(ending, container, says, tmp_path):
    file, kind = tmp_path / f"a.{ending}", {"opus": "OPUS", "ogg": "VORBIS"}.get(ending)
    # Noise: many pages, so that half of them are a sound that could be read.
    sound = np.random.default_rng(0).normal(0, 0.1, 160_000 if kind else 8000)
    soundfile.write(file, sound, 16000, format=container, subtype=kind)
    assert waves.heading(file).samples == len(sound)
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    for opened in (file, Upload(file.name, file.read_bytes())):
        with pytest.raises(DataError, match=f"is cut short: .*{says}"):
            waves.decode(opened, rate=16000, seconds=30)
        with pytest.raises(DataError, match="is cut short"):
            list(waves.windows(opened, rate=16000, seconds=1))


def test_a_recording_that_was_stopped_between_two_pages_is_read(tmp_path):
    """It lacks the bit that ends an Ogg stream, and nothing else."""
    soundfile.write(
        tmp_path / "a.opus",
        np.random.default_rng(0).normal(0, 0.1, 160_000),
        16000,
        format="OGG",
        subtype="OPUS",
    )
    content = (tmp_path / "a.opus").read_bytes()
    (tmp_path / "a.opus").write_bytes(content[: content.rindex(b"OggS")])
    samples = waves.decode(tmp_path / "a.opus", rate=16000, seconds=30)
    assert 16_000 < samples.shape[1] < 160_000


def test_a_sound_without_samples_a_missing_one_and_one_that_is_not_finite(tmp_path):
    soundfile.write(tmp_path / "none.wav", np.zeros(0), 16000)
    soundfile.write(tmp_path / "nan.wav", np.array([0.0, np.nan]), 16000, subtype="FLOAT")
    for name, says in (("none", "not a single sample"), ("nan", "not finite"), ("gone", "there is no file")):
        with pytest.raises(DataError, match=says):
            waves.decode(tmp_path / f"{name}.wav", rate=16000, seconds=30)


def test_windows_are_the_whole_file(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.arange(1000) / 32768, 16000)
    parts = list(waves.windows(tmp_path / "a.wav", rate=16000, seconds=0.02))
    assert [part.shape for part in parts] == [(1, 320), (1, 320), (1, 360)]  # 40 are less than half a window
    assert torch.cat(parts, 1)[0].tolist() == list(range(1000))
    parts = waves.windows(tmp_path / "a.wav", rate=16000, seconds=0.018)
    assert [part.shape[1] for part in parts] == [288, 288, 424]
    [whole] = waves.windows(tmp_path / "a.wav", rate=16000, seconds=10)
    assert whole.shape == (1, 1000)


@pytest.mark.parametrize("rate", [8000, 44100])
def test_windows_are_resampled_as_one_sound(rate, tmp_path, monkeypatch):
    monkeypatch.setattr(decoding, "BLOCK", 5000)
    soundfile.write(tmp_path / "a.wav", tone(2, rate=rate), rate)
    joined = torch.cat(list(waves.windows(tmp_path / "a.wav", rate=16000, seconds=0.5)), 1)
    whole = waves.decode(tmp_path / "a.wav", rate=16000, seconds=30)
    assert abs(joined.shape[1] - whole.shape[1]) <= 1
    inner = slice(500, 31500)
    torch.testing.assert_close(joined[:, inner], whole[:, inner], atol=3, rtol=0)


def test_windows_refuse_what_is_not_finite_or_cut_short(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.array([0.0, np.nan]), 16000, subtype="FLOAT")
    with pytest.raises(DataError, match="not finite"):
        list(waves.windows(tmp_path / "a.wav", rate=16000, seconds=1))
    (tmp_path / "b.wav").write_bytes(b"no sound")
    with pytest.raises(DataError, match="cannot read"):
        list(waves.windows(tmp_path / "b.wav", rate=16000, seconds=1))


def test_what_is_written_is_read_again_without_padding(tmp_path):
    sound = torch.tensor([[0.5, -0.25, 2.0, torch.nan, torch.nan]])
    waves.write_wave(tmp_path / "new" / "a.wav", sound, rate=16000)
    samples = waves.decode(tmp_path / "new" / "a.wav", rate=16000, seconds=1)
    assert samples.tolist() == [[16384, -8192, 32767]]


@pytest.mark.slow
def test_windows_of_two_hours_take_little_memory(tmp_path):
    """As `identify --windows` reads them: 7,200 seconds are 460 MB as floats."""
    with soundfile.SoundFile(tmp_path / "long.flac", "w", samplerate=8000, channels=1) as sound:
        for minute in range(120):
            sound.write(tone(60, rate=8000, frequency=200 + minute))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lengths = [part.shape[1] for part in waves.windows(tmp_path / "long.flac", rate=16000, seconds=2)]
    assert len(lengths) == 3600
    assert abs(sum(lengths) - 7200 * 16000) <= 3600
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes
