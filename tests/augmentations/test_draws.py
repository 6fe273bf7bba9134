"""The chances of a batch."""

import pytest
import torch

from samekind.augmentations.draws import chosen, noise_like, per_item, uniform


def test_uniform_numbers_fill_their_interval(chances):
    drawn = uniform(4000, -2.0, 3.0, generator=chances())
    assert drawn.dtype == torch.float64
    assert -2 <= drawn.min() < -1.99
    assert 2.99 < drawn.max() < 3
    assert drawn.mean().item() == pytest.approx(0.5, abs=0.1)
    assert (uniform(5, 1.5, 1.5, generator=chances()) == 1.5).all()


@pytest.mark.parametrize("probability", [0.0, 0.2, 1.0])
def test_as_many_are_chosen_as_the_probability_says(probability, chances):
    happens = chosen(5000, probability, generator=chances())
    assert happens.double().mean().item() == pytest.approx(probability, abs=0.02 * (0 < probability < 1))


def test_a_number_for_each_item_meets_its_item():
    x = torch.ones(2, 3, 4, 5)
    changed = x * per_item(torch.tensor([2.0, 3.0], dtype=torch.float64), x)
    assert changed.dtype == torch.float32
    assert (changed[0] == 2).all()
    assert (changed[1] == 3).all()


def test_noise_is_uniform_independent_and_never_at_the_ends(chances):
    noise = noise_like(torch.zeros(40, 3, 17, 19), generator=chances())
    assert noise.shape == (40, 3, 17, 19)
    assert noise.dtype == torch.float32
    assert noise.min() == 0.5 / 256
    assert noise.max() == 255.5 / 256
    counts = (noise * 16).long().flatten().bincount(minlength=16) / noise.numel()
    torch.testing.assert_close(counts, torch.full((16,), 1 / 16), atol=0.005, rtol=0)
    flat = noise.flatten() - noise.mean()
    for apart in (1, 2, 4, 8, 17):  # the bytes of one draw do not know each other
        assert abs((flat[apart:] * flat[:-apart]).mean() * 12) < 0.03


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9])
def test_any_number_of_pixels_gets_noise(count, chances):
    assert noise_like(torch.zeros(count), generator=chances()).shape == (count,)
