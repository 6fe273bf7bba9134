"""What every augmentation promises, checked on all of them; a new one is covered by joining a family."""

import inspect
from itertools import product

import pytest
import torch

from samekind import augmentations
from samekind.augmentations import augment
from samekind.errors import DataError, SettingError

# Chances that are certain enough to be seen on a few items.
CERTAIN = {
    "Blur": {"probability": 1.0},
    "Greyscale": {"probability": 0.5},
    "Perspective": {"probability": 1.0},
}
# These do nothing to an image of one channel.
COLOURFUL = {"Greyscale"}
# These cut out a part: squares, smaller than the images.
CUTTING = {"RandomCrop"}


@pytest.fixture(params=augmentations.AUGMENTATIONS)
def kind(request):
    return getattr(augmentations, request.param)


@pytest.fixture(params=augmentations.IMAGES)
def image_kind(request):
    return getattr(augmentations, request.param)


def build(kind, **arguments):
    return kind(**{**CERTAIN.get(kind.__name__, {}), **arguments})


def items_for(kind, images, **options):
    if kind.__name__ in augmentations.IMAGES:
        return images(**options)
    generator, count = torch.Generator().manual_seed(1), options.get("count", 6)
    if kind.__name__ in augmentations.SOUNDS:
        return torch.randn(count, 1, 900, generator=generator) / 10
    return torch.randn(count, 5, generator=generator)


def shape_after(kind, x, times=1):
    """The shape of items that were changed: their own, but for a part that is cut out."""
    if kind.__name__ not in CUTTING:
        return x.shape
    side = min(x.shape[2:])
    for _ in range(times):
        side = side * 7 // 8
    return (*x.shape[:2], side, side)


def test_the_families_are_public():
    assert set(augmentations.AUGMENTATIONS) <= set(augmentations.__all__)
    assert sorted(augmentations.IMAGES + augmentations.VECTORS + augmentations.SOUNDS) == sorted(
        augmentations.AUGMENTATIONS
    )


def test_takes_keywords_only_has_defaults_and_stores_them_under_their_names(kind):
    augmentation = kind()
    for name, parameter in inspect.signature(kind).parameters.items():
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert getattr(augmentation, name) == parameter.default


def test_draws_depend_only_on_the_seed(kind, images, chances):
    x, augmentation = items_for(kind, images), build(kind)
    torch.manual_seed(0)
    first = augmentation(x, generator=chances(3))
    before = torch.manual_seed(1).get_state()
    # What a sound is padded with is not equal to itself.
    torch.testing.assert_close(augmentation(x, generator=chances(3)), first, atol=0, rtol=0, equal_nan=True)
    assert torch.equal(torch.get_rng_state(), before)
    others = [augmentation(x, generator=chances(seed)) for seed in range(4, 8)]
    assert not all(torch.equal(other, first) for other in others)


def test_keeps_shape_type_and_range_and_changes_something(image_kind, images, chances):
    for channels, dtype in product((1, 3), (torch.float32, torch.float64)):
        x = images(count=16, channels=channels).to(dtype)
        changed = build(image_kind)(x, generator=chances())
        assert (changed.shape, changed.dtype) == (shape_after(image_kind, x), x.dtype)
        assert changed.min() >= 0
        assert changed.max() <= 1
        assert torch.equal(changed, x) == (channels == 1 and image_kind.__name__ in COLOURFUL)


@pytest.mark.parametrize("name", augmentations.VECTORS)
def test_vectors_keep_shape_and_type(name, chances):
    x = torch.randn(16, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    changed = build(getattr(augmentations, name))(x, generator=chances())
    assert (changed.shape, changed.dtype) == (x.shape, x.dtype)
    assert not torch.equal(changed, x)


def test_the_input_is_unchanged(kind, images, chances):
    x = items_for(kind, images)
    before = x.clone()
    build(kind)(x, generator=chances())
    assert torch.equal(x, before)


def test_takes_batches_of_one_item_and_of_none(kind, images, chances):
    for count in (0, 1):
        x = items_for(kind, images, count=count)
        assert build(kind)(x, generator=chances()).shape == shape_after(kind, x)


def test_takes_small_images(image_kind, images, chances):
    for height, width in ((1, 1), (1, 7), (2, 5)):
        x = images(height=height, width=width)
        assert build(image_kind)(x, generator=chances()).isfinite().all()


def test_items_have_chances_of_their_own(kind, images, chances):
    """The same item a hundred times is not changed a hundred times in the same way."""
    x = items_for(kind, images, count=1)
    x = x.expand(100, *x.shape[1:])
    changed = build(kind)(x, generator=chances())
    assert len(changed.flatten(1).unique(dim=0)) > 1


def test_a_uniform_image_stays_in_range(image_kind, chances):
    changed = build(image_kind)(torch.full((8, 3, 9, 9), 0.5), generator=chances())
    assert changed.isfinite().all()
    assert ((changed >= 0) & (changed <= 1)).all()


def test_a_probability_of_0_changes_nothing(kind, images, chances):
    if "probability" in inspect.signature(kind).parameters:
        x = items_for(kind, images)
        torch.testing.assert_close(kind(probability=0.0)(x, generator=chances()), x, atol=1e-6, rtol=0)


def test_refuses_an_impossible_probability(kind):
    for wrong in (-0.1, 1.1, float("nan")) if "probability" in inspect.signature(kind).parameters else ():
        with pytest.raises(SettingError, match="probability: expected a number from 0 to 1, got"):
            kind(probability=wrong)


def test_refuses_items_of_another_shape(kind, chances):
    wrong = [
        torch.rand(4, 5) if kind.__name__ in augmentations.SOUNDS else torch.rand(4, 5, 6),
        torch.zeros(4, 3, 8, 8, dtype=torch.uint8),
        torch.zeros(4, 3, dtype=torch.int),
    ]
    for x in wrong:
        with pytest.raises(DataError, match="are augmented as floats"):
            kind()(x, generator=chances())


def test_every_one_can_be_in_a_chain(kind, images, chances):
    x = items_for(kind, images)
    changed = augment(x, [build(kind), build(kind)], generator=chances())
    assert changed.shape == shape_after(kind, x, times=2)
    assert not changed.requires_grad
