"""The generator of an epoch: fixed by seed and epoch, and not by their sum."""

import torch

from samekind.samplers.epochs import epoch_generator


def first_numbers(seed, epoch):
    return torch.rand(4, generator=epoch_generator(seed, epoch)).tolist()


def test_the_same_seed_and_epoch_give_the_same_numbers():
    assert first_numbers(3, 5) == first_numbers(3, 5)


def test_every_other_pair_gives_others():
    pairs = [(seed, epoch) for seed in range(12) for epoch in range(12)]
    assert len({tuple(first_numbers(*pair)) for pair in pairs}) == len(pairs)


def test_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    first_numbers(0, 0)
    assert torch.equal(torch.get_rng_state(), before)
