"""Drawings of where a network looks: a file for each picture, with a name of its own."""

import pytest
import torch

from samekind.data import ImageReader, write_image
from samekind.encoders import Conv4
from samekind.prototypes import SupportMeans
from samekind.questions.attention_files import draw_attention
from samekind.questions.opening import OpenSpace
from samekind.similarities import Cosine
from samekind.space import MetricSpace


@pytest.fixture
def opened(tmp_path):
    """A space over pictures of 16 x 16 pixels that knows two classes, and the folder of three pictures."""
    torch.manual_seed(0)
    encoder, reader = Conv4(size=16, dimension=4), ImageReader(height=16, width=16, channels=3)
    space = MetricSpace(encoder, Cosine(), SupportMeans(dimension=4), reader=reader).eval()
    for name in ("a", "b"):
        space.enroll(name, torch.randn(1, 4))
    for path in ("one/x.png", "two/x.png", "two/y.png"):
        write_image(tmp_path / "pictures" / path, torch.rand(3, 16, 16))
    return OpenSpace(space, tmp_path)


def test_every_picture_gets_a_drawing_of_its_own_name(opened, tmp_path, progress):
    answer = draw_attention(opened, [str(tmp_path / "pictures")], tmp_path / "out", progress=progress)
    names = [drawing.path.name for drawing in answer.drawings]
    assert names == ["x-attention.png", "x-2-attention.png", "y-attention.png"]
    assert all(drawing.path.read_bytes().startswith(b"\x89PNG") for drawing in answer.drawings)
    assert progress.titles == {"attention": [3, 3]}
    assert answer.to_json()["layer"] == answer.layer
    assert {picture["class"] for picture in answer.to_json()["pictures"]} <= {"a", "b"}


def test_a_picture_is_like_itself(opened, tmp_path):
    file = tmp_path / "pictures" / "two" / "y.png"
    [drawing] = draw_attention(opened, [str(file)], tmp_path / "out", like=file).drawings
    assert drawing.answer.like == str(file)
    assert drawing.answer.score == pytest.approx(1, abs=1e-5)
