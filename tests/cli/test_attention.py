"""samekind attention: a drawing for each picture, what it is nearest to, and where was looked."""

import json
import shutil

import numpy
import pytest
import torch
from PIL import Image

from samekind.data import ImageReader, VectorReader, scaled
from samekind.encoders import MLP, Attended, Conv4, LeNet
from samekind.inference import embed_files, grad_cam
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace

SIDE = 32


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A light corner on the left, and one on the right; both have a brother of the same name elsewhere."""
    folder = tmp_path_factory.mktemp("files")
    for name, corner in {"left": numpy.s_[:12, :12], "right": numpy.s_[:12, -12:]}.items():
        pixels = numpy.full((SIDE, SIDE, 3), 20, dtype=numpy.uint8)
        pixels[corner] = (250, 220, 40)
        for place in ("here", "there"):
            (folder / place).mkdir(exist_ok=True)
            Image.fromarray(pixels).save(folder / place / f"{name}.png")
    (folder / "text.png").write_text("no picture")
    return folder


def saved(folder, encoder, *, reader=None, classes=()):
    reader = reader or ImageReader(height=SIDE, width=SIDE, channels=3)
    space = MetricSpace(encoder, Cosine(), SupportMeans(dimension=encoder.dimension), reader=reader).eval()
    for name, file in classes:
        space.enroll(name, embed_files(space, [file]))
    space.save(folder)
    return folder


@pytest.fixture(scope="module")
def spaces(tmp_path_factory, files):
    """Spaces that know both pictures as classes: with attention, and without."""
    folder = tmp_path_factory.mktemp("spaces")
    torch.manual_seed(0)
    classes = [(name, files / "here" / f"{name}.png") for name in ("left", "right")]
    backbone = Conv4(size=SIDE)
    return {
        "attended": saved(folder / "attended", Attended(backbone=backbone, dimension=8), classes=classes),
        "plain": saved(folder / "plain", Conv4(size=SIDE, dimension=8), classes=classes),
        "unschooled": saved(folder / "unschooled", Conv4(size=SIDE, dimension=8)),
        "lenet": saved(
            folder / "lenet", LeNet(dimension=8), reader=ImageReader(height=28, width=28, channels=1)
        ),
        "vectors": saved(folder / "vectors", MLP(inputs=4), reader=VectorReader(dimension=4)),
    }


def test_draws_each_picture(samekind, spaces, files, tmp_path):
    pictures = [files / "here" / "left.png", files / "here" / "right.png"]
    answer = samekind("attention", spaces["attended"], *pictures, "--out", tmp_path / "new" / "out", "--json")
    assert (answer.status, answer.err) == (0, "")
    content = json.loads(answer.out)
    assert (content["layer"], content["skipped"]) == ("layer3", [])
    assert [picture["class"] for picture in content["pictures"]] == ["left", "right"]
    assert [picture["id"] for picture in content["pictures"]] == [str(picture) for picture in pictures]
    for name, picture in zip(("left", "right"), content["pictures"], strict=True):
        assert picture["score"] == pytest.approx(1, abs=1e-5)
        assert picture["picture"] == str(tmp_path / "new" / "out" / f"{name}-attention.png")
        shapes = {layer: said["shape"] for layer, said in picture["attention"].items()}
        assert shapes == {"layer1": [16, 16], "layer2": [8, 8], "layer3": [4, 4]}
        with Image.open(picture["picture"]) as drawing:
            # Five panels side by side: the picture, three layers, Grad-CAM.
            assert drawing.format == "PNG"
            assert drawing.width > 4 * drawing.height


def test_reports_where_the_maps_are_highest(samekind, spaces, files, tmp_path):
    one, other = files / "here" / "left.png", files / "there" / "right.png"
    out = samekind("attention", spaces["attended"], one, "--like", other, "--out", tmp_path, "--json").out
    [content] = json.loads(out)["pictures"]
    space = MetricSpace.load(spaces["attended"])
    x = scaled(space.reader.pixels(one))[None]
    z = embed_files(space, [other])
    with torch.no_grad():
        score = float(space.score(z, space.embed(x)))
        attention = space.encoder.attention(x)
    assert content["score"] == pytest.approx(score, abs=1e-6)
    assert content["like"] == str(other)
    assert "class" not in content
    evidence = grad_cam(space, x, lambda embeddings: space.score(z, embeddings))
    for said, values in [
        *((content["attention"][name], maps[0]) for name, maps in attention.items()),
        (content["grad_cam"], evidence[0]),
    ]:
        row, column = said["most_at"]
        assert values[row, column] == values.max()


def test_an_encoder_without_attention_gets_grad_cam_alone(samekind, spaces, files, tmp_path):
    file = files / "here" / "left.png"
    answer = samekind("attention", spaces["plain"], file, "--out", tmp_path, "--layer", "layer2", "--json")
    content = json.loads(answer.out)
    assert content["layer"] == "layer2"
    assert content["pictures"][0]["attention"] == {}
    assert content["pictures"][0]["grad_cam"]["shape"] == [8, 8]
    with Image.open(tmp_path / "left-attention.png") as drawing:
        assert drawing.width < 2.2 * drawing.height  # two panels


def test_the_answer_in_words(samekind, spaces, files, tmp_path):
    file, out = files / "here" / "right.png", tmp_path / "right-attention.png"
    answer = samekind("attention", spaces["plain"], file, "--out", tmp_path)
    assert answer.out == f'{file}: nearest to "right" (score 1.000), drawn in {out}\n'
    answer = samekind("attention", spaces["unschooled"], file, "--like", file, "--out", tmp_path)
    assert answer.out == f"{file}: like {file} (score 1.000), drawn in {out}\n"


def test_no_drawing_replaces_a_picture_or_another_drawing(samekind, spaces, files, tmp_path):
    for name in ("here", "there"):
        shutil.copytree(files / name, tmp_path / name)
    before = (tmp_path / "here" / "left.png").read_bytes()
    numpy.savez(tmp_path / "more.npz", inputs=numpy.zeros((2, 3, SIDE, SIDE), dtype=numpy.uint8))
    sources = [tmp_path / "here", tmp_path / "there", tmp_path / "more.npz"]
    answer = samekind("attention", spaces["plain"], *sources, "--out", tmp_path / "here", "--json")
    assert answer.status == 0, answer.err
    assert [picture["picture"].rpartition("/")[2] for picture in json.loads(answer.out)["pictures"]] == [
        "left-attention.png",
        "right-attention.png",
        "left-2-attention.png",
        "right-2-attention.png",
        "more.npz-item-0-attention.png",
        "more.npz-item-1-attention.png",
    ]
    assert (tmp_path / "here" / "left.png").read_bytes() == before
    assert len(list((tmp_path / "here").iterdir())) == 8


def test_keeps_a_picture_with_the_name_of_a_drawing(samekind, spaces, files, tmp_path):
    for name in ("left.png", "left-attention.png"):
        shutil.copy(files / "here" / "left.png", tmp_path / name)
    before = (tmp_path / "left-attention.png").read_bytes()
    sources = [tmp_path / "left.png", tmp_path / "left-attention.png"]
    answer = samekind("attention", spaces["plain"], *sources, "--out", tmp_path)
    assert answer.status == 0, answer.err
    assert (tmp_path / "left-attention.png").read_bytes() == before
    assert (tmp_path / "left-2-attention.png").exists()
    assert (tmp_path / "left-attention-attention.png").exists()


def test_shortens_long_names(samekind, spaces, files, tmp_path):
    for letter in "ab":
        shutil.copy(files / "here" / "left.png", tmp_path / f"{'ü' * 120}{letter}.png")
    answer = samekind("attention", spaces["plain"], tmp_path, "--out", tmp_path / "out")
    assert answer.status == 0, answer.err
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [f"{'ü' * 100}-2-attention.png", f"{'ü' * 100}-attention.png"]


def test_refuses_or_skips_unreadable_pictures(samekind, spaces, files, tmp_path):
    sources = [files / "text.png", files / "here" / "left.png"]
    answer = samekind("attention", spaces["plain"], *sources, "--out", tmp_path / "out")
    assert (answer.status, answer.out) == (2, "")
    assert str(files / "text.png") in answer.err
    assert not (tmp_path / "out").exists()
    answer = samekind("attention", spaces["plain"], *sources, "--out", tmp_path, "--skip-unreadable")
    assert answer.status == 0
    assert answer.err.startswith("skipped 1: ")


@pytest.mark.parametrize(
    ("space", "more", "says"),
    [
        (
            "plain",
            ["--layer", "layr2"],
            'the encoder has no map "layr2"; did you mean "layer2"? Known: layer1',
        ),
        (
            "lenet",
            [],
            "LeNet has no maps to look at; this needs an image network with named stages, such as ResNet18 "
            "or EfficientNetLite: train with --set space.encoder.name=ResNet18",
        ),
        ("vectors", [], "only pictures can be drawn on; this space reads items of shape (4,)"),
        ("unschooled", [], "this space knows no class yet; name a picture to compare with (--like FILE)"),
        ("plain", ["--like", "nowhere.png"], "there is no file nowhere.png"),
    ],
)
def test_a_mistake_gets_one_line(samekind, spaces, files, tmp_path, space, more, says):
    answer = samekind(
        "attention", spaces[space], files / "here" / "left.png", "--out", tmp_path / "out", *more
    )
    assert (answer.status, answer.out) == (2, "")
    assert says in answer.err
    assert answer.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
