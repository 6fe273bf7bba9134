"""Parts of sounds: all equally long, from anywhere, short sounds repeated."""

import torch

from samekind.acoustics import lengths_of, padded
from samekind.augmentations import RandomChunk


def test_parts_are_equally_long_and_contiguous(chances):
    sounds = [torch.arange(length).float()[None] for length in (5000, 900, 300)]
    x = padded(sounds)
    chunks = RandomChunk(seconds=0.05, least=1.0)(x, generator=chances())  # 800 samples
    assert chunks.shape == (3, 1, 800)
    for sound, chunk in zip(sounds, chunks, strict=True):
        steps = chunk[0].diff()
        length = sound.shape[1]
        assert ((steps == 1) | (steps == 1 - length)).all()  # it goes round at its end
        assert (steps == 1).sum() >= 799 - -(-800 // length)
    assert (chunks[:2].diff() == 1).all()  # long enough: they do not go round


def test_the_length_is_drawn_for_the_batch_and_starts_for_each(chances):
    x = torch.arange(16000).float().expand(20, 1, -1)
    lengths = {
        RandomChunk(seconds=0.5, least=0.25)(x, generator=chances(seed)).shape[-1] for seed in range(9)
    }
    assert len(lengths) > 5
    assert min(lengths) >= 2000
    assert max(lengths) <= 8000
    starts = RandomChunk(seconds=0.5)(x, generator=chances())[:, 0, 0]
    assert len(starts.unique()) > 15


def test_no_longer_than_the_longest_and_features_count_frames(chances):
    x = padded([torch.randn(1, 700), torch.randn(1, 300)])
    chunks = RandomChunk()(x, generator=chances())
    assert chunks.shape == (2, 1, 700)
    assert lengths_of(chunks).tolist() == [700, 700]
    features = torch.randn(2, 30, 500)
    assert RandomChunk(seconds=2.0, least=1.0)(features, generator=chances()).shape == (2, 30, 200)
