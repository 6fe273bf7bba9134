"""Which encoders are shown a part of the pictures."""

import pytest

from samekind.recipes.cropped import looking_at_the_middle, side_of_crop, takes_any_size
from samekind.training import Part


@pytest.mark.parametrize(
    ("shape", "side"),
    [((3, 256, 256), 224), ((3, 64, 80), 56), ((3, 63, 63), None), ((1, 256, 256), None), ((9,), None)],
)
def test_large_colour_pictures_alone_are_cropped_to_seven_eighths(shape, side):
    assert side_of_crop(shape) == side


def test_networks_for_one_size_are_not_shown_another():
    assert takes_any_size(Part("ResNet18"))
    assert takes_any_size(Part("Attended", {"backbone": {"name": "EfficientNetLite"}}))
    assert not takes_any_size(Part("Conv4"))
    assert not takes_any_size(Part("of the user"))


def test_the_encoder_inside_stays_as_it_is():
    encoder = Part("EfficientNetLite", {"variant": 1})
    around = looking_at_the_middle(encoder, 224)
    assert around.arguments["encoder"] == {"name": "EfficientNetLite", "variant": 1}
    assert (around.name, around.arguments["middle"], around.arguments["mirror"]) == ("Views", 224, False)
