"""Several augmentations in a row, and the chances of a step."""

import torch

from samekind.augmentations import (
    ColourJitter,
    Flip,
    PadAndCrop,
    RandomResizedCrop,
    Rotation,
    augment,
    step_generator,
)


def one_by_one(x, augmentations, generator):
    for augmentation in augmentations:
        x = augmentation(x, generator=generator)
    return x


def test_nothing_to_do_is_nothing_done(images, chances):
    x = images()
    assert augment(x, [], generator=chances()) is x


def test_exact_neighbours_stay_exact(images, chances):
    x, listed = images(), [PadAndCrop(padding=2), Flip(), Flip(vertical=True)]
    assert torch.equal(augment(x, listed, generator=chances(1)), one_by_one(x, listed, chances(1)))


def test_other_augmentations_keep_their_place(images, chances):
    x, listed = images(), [Flip(), ColourJitter(), PadAndCrop(padding=1)]
    assert torch.equal(augment(x, listed, generator=chances(1)), one_by_one(x, listed, chances(1)))


def test_further_channels_stay_as_they_are(images, chances):
    """The plane of the original size beside the colours."""
    x, listed = images(), [RandomResizedCrop(size=5), ColourJitter(), Flip(probability=1.0)]
    plane = (
        torch.linspace(0, 1, 2).repeat_interleave(x.shape[2] // 2)[:, None].expand(len(x), 1, -1, x.shape[3])
    )
    changed = augment(torch.cat([x, plane], dim=1), listed, generator=chances(1), channels=3)
    assert torch.equal(changed[:, :3], augment(x, listed, generator=chances(1)))
    assert changed.shape == (len(x), 4, 5, 5)
    assert changed[:, 3, 0].eq(0).all()
    assert changed[:, 3, -1].eq(1).all()


def test_one_resampling_equals_several_in_order(images, chances):
    """Mirrors and whole shifts lose nothing, so before and after a crop the order alone counts."""
    x = images(count=12, height=16, width=16)
    for listed in (
        [RandomResizedCrop(), Flip(vertical=True)],
        [Flip(), RandomResizedCrop(scale=(0.3, 0.5))],
        [Flip(), Rotation(degrees=40), Flip(vertical=True)],
        [PadAndCrop(padding=3), Rotation(degrees=0)],
    ):
        torch.testing.assert_close(
            augment(x, listed, generator=chances(2)), one_by_one(x, listed, chances(2)), atol=1e-4, rtol=0
        )


def test_one_resampling_is_sharper_than_two(images, chances):
    """Turned there and back again, the picture is what it was."""
    x = images(count=4, height=16, width=16)

    class There:
        exact = False
        sign = 1.0

        def matrices(self, x, *, generator):
            from samekind.augmentations.warping import turned

            return turned(torch.full((len(x),), self.sign * 30.0, dtype=torch.float64))

    class Back(There):
        sign = -1.0

    torch.testing.assert_close(augment(x, [There(), Back()], generator=chances()), x, atol=1e-4, rtol=0)


def test_computes_no_gradient(images, chances):
    x = images().requires_grad_()
    assert not augment(x, [ColourJitter()], generator=chances()).requires_grad


def test_the_chances_of_a_step_depend_on_seed_and_step_alone():
    drawn = [
        torch.rand(4, generator=step_generator(seed, step)).tolist() for seed in range(3) for step in range(3)
    ]
    again = torch.rand(4, generator=step_generator(1, 2)).tolist()
    assert drawn[5] == again
    assert len({tuple(draw) for draw in drawn}) == 9
