"""RandAugment: each operation alone, in the strength its paper gives it."""

import math

import pytest
import torch
from PIL import ImageOps

from samekind.augmentations import RandAugment, rand_augment
from samekind.augmentations.colours import recoloured
from samekind.augmentations.rand_augment import CHANGES, MOVES, OPERATIONS, TONES, Drawn, moves
from samekind.augmentations.warping import shifted, slanted, turned
from samekind.errors import SettingError


@pytest.fixture
def only(monkeypatch):
    """Every image draws the same operation."""

    def draw(name, x, *, magnitude, seed=0):
        with monkeypatch.context() as patch:
            draws = torch.randint

            def fixed(high, size, **options):
                drawn = draws(high, size, **options)
                return torch.full_like(drawn, OPERATIONS.index(name)) if high == len(OPERATIONS) else drawn

            patch.setattr(rand_augment.torch, "randint", fixed)
            generator = torch.Generator().manual_seed(seed)
            return RandAugment(operations=1, magnitude=magnitude)(x, generator=generator)

    return draw


def test_there_are_the_fourteen_of_the_paper():
    assert len(OPERATIONS) == len(set(OPERATIONS)) == 14


@pytest.mark.parametrize(
    ("name", "entry", "most"),
    [
        ("shear across", (0, 1), 0.3),
        ("shear along", (1, 0), 0.3),
        ("shift across", (0, 2), 40 * 150 / 331),
        ("shift along", (1, 2), 20 * 150 / 331),
        ("rotate", (1, 0), 0.5),
    ],
)
def test_a_move_at_full_strength_and_at_half(name, entry, most):
    drawn = torch.full((2,), OPERATIONS.index(name))
    matrices = moves(Drawn(drawn, torch.tensor([1.0, -1.0], dtype=torch.float64), 1.0), 20, 40)
    assert matrices[0][entry].abs().item() == pytest.approx(most)
    assert matrices[0][entry] == -matrices[1][entry]
    weaker = Drawn(drawn[:1], torch.tensor([0.5], dtype=torch.float64), 0.5)
    half = moves(weaker, 20, 40)[0][entry].abs().item()
    assert half == pytest.approx(most / 2, rel=0.05)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_moves_are_those_of_warping(sign):
    """All five at once, an image for each; sheared, shifted and turned by what the paper gives."""
    drawn = torch.tensor([OPERATIONS.index(name) for name in MOVES])
    changed = moves(Drawn(drawn, torch.full((5,), 0.5 * sign, dtype=torch.float64), 0.5), 20, 40)
    none, half = torch.zeros(1, dtype=torch.float64), torch.full((1,), 0.5 * sign, dtype=torch.float64)
    expected = [
        slanted(0.3 * half, none),
        slanted(none, 0.3 * half),
        shifted(40 * 150 / 331 * half, none),
        shifted(none, 20 * 150 / 331 * half),
        turned(30 * half),
    ]
    torch.testing.assert_close(changed, torch.cat(expected))


def test_a_batch_of_all_operations_gives_each_image_its_own(only, images, monkeypatch):
    """Drawn in no order: each image is what it becomes where the whole batch draws what it drew."""
    x = images(count=28, height=24, width=24) * 0.7 + 0.1
    order = torch.arange(28).mul(5).remainder(14)
    alone = {name: only(name, x, magnitude=20) for name in OPERATIONS}
    draws = torch.randint

    def fixed(high, size, **options):
        drawn = draws(high, size, **options)
        return order if high == len(OPERATIONS) else drawn

    monkeypatch.setattr(rand_augment.torch, "randint", fixed)
    changed = RandAugment(operations=1, magnitude=20)(x, generator=torch.Generator().manual_seed(0))
    for place, drawn in enumerate(order.tolist()):
        torch.testing.assert_close(changed[place], alone[OPERATIONS[drawn]][place], msg=OPERATIONS[drawn])


def test_changes_are_in_the_order_of_the_operations():
    assert [name for names in CHANGES for name in names] == list(OPERATIONS[1:])


def test_nothing_does_nothing(only, images):
    x = images()
    assert torch.equal(only("nothing", x, magnitude=30), x)


@pytest.mark.parametrize("name", [*MOVES, *TONES])
def test_every_operation_changes_something_and_stays_in_range(only, name, images):
    x = images(height=24, width=24) * 0.7 + 0.1
    changed = only(name, x, magnitude=20)
    assert not torch.equal(changed, x)
    assert 0 <= changed.min() <= changed.max() <= 1


@pytest.mark.parametrize(
    "name", [*MOVES, "brightness", "colour", "contrast", "sharpness", "posterise", "solarise"]
)
def test_magnitude_0_changes_nothing(only, name, images):
    x = images()
    x[0] = 1  # white, as the background of scans and drawings
    torch.testing.assert_close(only(name, x, magnitude=0), x, atol=0.51 / 255, rtol=0)


def test_brightness_goes_both_ways(only, images):
    x = images(count=20)
    changed = only("brightness", x, magnitude=15)
    brighter, darker = (recoloured(x, [("brightness", torch.full((20,), factor))]) for factor in (1.45, 0.55))
    for result, up, down in zip(changed, brighter, darker, strict=True):
        assert torch.allclose(result, up) != torch.allclose(result, down)
    assert 0 < (changed.mean((1, 2, 3)) > x.mean((1, 2, 3))).sum() < 20


def test_without_magnitude_white_images_stay_white(chances):
    x = torch.ones(60, 3, 8, 8)
    torch.testing.assert_close(RandAugment(operations=2, magnitude=0)(x, generator=chances()), x)


@pytest.mark.parametrize("magnitude", [0, 6, 15, 24, 30])
def test_solarising_turns_the_levels_that_pillow_turns(only, magnitude, as_picture):
    """All 256 of them; the threshold goes from 256, where there is none to turn, to 0."""
    x = torch.arange(256.0).div(255).reshape(1, 1, 16, 16).expand(1, 3, 16, 16)
    expected = ImageOps.solarize(as_picture(x[0]), math.ceil(256 * (1 - magnitude / 30)))
    torch.testing.assert_close(only("solarise", x, magnitude=magnitude)[0], as_picture(expected))


def test_at_full_strength_the_negative_and_four_bits(only, images):
    x = images()
    torch.testing.assert_close(only("solarise", x, magnitude=30), 1 - x)
    assert len(only("posterise", x, magnitude=30).unique()) <= 16


def test_none_and_several(images, chances):
    x = images(count=40)
    assert torch.equal(RandAugment(operations=0)(x, generator=chances()), x)
    once, thrice = (RandAugment(operations=n, magnitude=30)(x, generator=chances()) for n in (1, 3))
    unchanged = [(images == x).flatten(1).all(1).sum() for images in (once, thrice)]
    assert unchanged[0] > unchanged[1], "the more operations the fewer images come through unchanged"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"operations": -1}, "operations: expected"), ({"magnitude": 31}, "from 0 to 30, got 31")],
)
def test_refuses_impossible_settings(wrong, message):
    with pytest.raises(SettingError, match=message):
        RandAugment(**wrong)
