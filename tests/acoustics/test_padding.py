"""Sounds of unequal length in one tensor, and back."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samekind.acoustics import PAD, as_floats, as_samples, lengths_of, marked, padded, repeated
from samekind.acoustics.padding import mirrored


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_lengths_come_back(lengths):
    sounds = [torch.randn(2, length) for length in lengths]
    batch = padded(sounds)
    assert batch.shape == (len(lengths), 2, max(lengths))
    assert lengths_of(batch).tolist() == lengths
    for sound, row in zip(sounds, batch, strict=True):
        assert torch.equal(row[:, : sound.shape[1]], sound)
        assert row[:, sound.shape[1] :].isnan().all()


def test_samples_and_floats_are_each_others_inverse():
    samples = torch.arange(-32767, 32768, dtype=torch.int32).to(torch.int16)
    assert torch.equal(as_samples(as_floats(samples)), samples)
    batch = padded([torch.tensor([[1, 2, 3]], dtype=torch.int16), torch.tensor([[4]], dtype=torch.int16)])
    assert batch[1].tolist() == [[4, PAD, PAD]]
    assert lengths_of(batch).tolist() == lengths_of(as_floats(batch)).tolist() == [3, 1]


def test_too_loud_is_clipped_and_is_not_padding():
    assert as_samples(torch.tensor([-1.0, -3.0, 3.0])).tolist() == [-32767, -32767, 32767]


def test_marking_cuts_off_what_is_padding_everywhere():
    x = marked(torch.ones(2, 1, 5), torch.tensor([3, 1]))
    assert x.shape == (2, 1, 3)
    assert lengths_of(x).tolist() == [3, 1]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 12))
def test_a_short_sound_is_repeated_from_its_start(lengths, least):
    sounds = [torch.randn(2, length) for length in lengths]
    batch = padded(sounds)
    longer, counts = repeated(batch, lengths_of(batch), least)
    assert counts.tolist() == [max(length, least) for length in lengths]
    for sound, row, count in zip(sounds, longer, counts.tolist(), strict=True):
        expected = torch.stack([sound[:, step % sound.shape[1]] for step in range(count)], 1)
        assert torch.equal(row[:, :count], expected)


@pytest.mark.parametrize("reach", [1, 2, 4])
def test_sounds_are_mirrored_at_their_own_ends(reach):
    sounds = [torch.randn(3, length) for length in (9, 5, 7)]
    together = mirrored(padded(sounds).nan_to_num(0.0), torch.tensor([9, 5, 7]), reach)
    for sound, row in zip(sounds, together, strict=True):
        expected = torch.nn.functional.pad(sound[None], (reach, reach), mode="reflect")[0]
        assert torch.equal(row[:, : sound.shape[1] + 2 * reach], expected)
    one = mirrored(torch.ones(1, 1, 1), torch.tensor([1]), reach)
    assert torch.equal(one, torch.ones(1, 1, 1 + 2 * reach))
