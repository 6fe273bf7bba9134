"""Where the network looks in a picture."""

import pytest
import torch

from samekind.data import ImageReader
from samekind.encoders import Attended, Conv4
from samekind.errors import SpaceError
from samekind.prototypes import SupportMeans
from samekind.questions import attention
from samekind.questions.attention import drawable_layer
from samekind.similarities import Cosine
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def pictures():
    """A space over pictures of 16 x 16 pixels, with attention."""
    torch.manual_seed(0)
    encoder = Attended(backbone=Conv4(size=16), dimension=4)
    space = MetricSpace(
        encoder, Cosine(), SupportMeans(dimension=4), reader=ImageReader(height=16, width=16, channels=3)
    )
    space.enroll("a", torch.randn(1, 4))
    space.enroll("b", torch.randn(1, 4))
    return space.eval()


def test_tells_the_nearest_class_and_the_peak_of_each_map(pictures):
    image, layer = torch.rand(3, 16, 16), drawable_layer(pictures)
    answer = attention(pictures, image, layer)
    content = answer.to_json()
    with torch.no_grad():
        scores = pictures.score_classes(pictures.embed(image[None]))[0]
    assert content["class"] == pictures.classes[int(scores.argmax())]
    assert content["score"] == pytest.approx(float(scores.max()))
    for name, weights in answer.attention.items():
        row, column = content["attention"][name]["most_at"]
        assert weights[row, column] == weights.max()
    assert content["grad_cam"]["shape"] == list(answer.evidence.shape)


def test_compares_with_another_picture_if_there_is_one(pictures):
    image, layer = torch.rand(3, 16, 16), drawable_layer(pictures)
    with torch.no_grad():
        other = pictures.embed(image[None])
    answer = attention(pictures, image, layer, other=other, like="x.png")
    assert (answer.name, answer.to_json()["like"]) == (None, "x.png")
    assert answer.score == pytest.approx(1, abs=1e-5)


def test_refuses_what_cannot_be_drawn(plane, pictures):
    with pytest.raises(SpaceError, match="only pictures can be drawn on"):
        drawable_layer(plane, like=True)
    bare = MetricSpace(pictures.encoder, Cosine(), SupportMeans(dimension=4), reader=pictures.reader)
    with pytest.raises(SpaceError, match="name a picture to compare with"):
        drawable_layer(bare)
    assert drawable_layer(bare, like=True) == drawable_layer(pictures)
