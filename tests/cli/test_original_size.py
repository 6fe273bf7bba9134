"""Pictures that differ in their original size alone, through the commands."""

import json
import re
from base64 import b64decode
from io import BytesIO

import pytest
from PIL import Image

from samekind.space import MetricSpace

#: Width and height of pictures of one grey each, the same greys in all classes.
SIDES = {"adult": (70, 90), "larva": (24, 30), "giant": (300, 320)}


@pytest.fixture(scope="module")
def plankton(tmp_path_factory):
    """A folder of adults and larvae, and one of giants."""
    folder = tmp_path_factory.mktemp("plankton")
    for name, side in SIDES.items():
        inside = folder / ("more" if name == "giant" else "known") / name
        inside.mkdir(parents=True)
        for place in range(20):
            Image.new("L", side, 100 + place).save(inside / f"{place}.png")
    return folder


@pytest.fixture(scope="module")
def trained(samekind, plankton, tmp_path_factory):
    """A run with the size and one without."""

    def train(*settings):
        folder = tmp_path_factory.mktemp("runs") / "run"
        settings += ("epochs=12", "batches.size=4", "optimiser.rate=0.003")
        options = [part for setting in settings for part in ("--set", setting)]
        data = plankton / "known"
        answer = samekind("train", "softmax", "--data", data, "--size", 8, "--out", folder, *options)
        assert answer.status == 0, answer.err
        return folder

    return train("data.original_size=true"), train()


def named(samekind, space, *files):
    answer = samekind("identify", *files, "--space", space, "--json")
    assert answer.status == 0, answer.err
    return [item["class"] for item in json.loads(answer.out)["items"]]


def test_classes_that_differ_only_in_size_are_distinguished_only_with_the_size(samekind, trained, plankton):
    files = [plankton / "known" / name / f"{place}.png" for name in ("adult", "larva") for place in range(20)]
    content, untold = (named(samekind, run, *files) for run in trained)
    assert content == ["adult"] * 20 + ["larva"] * 20
    assert untold[:20] == untold[20:]


def test_a_size_that_was_never_seen_is_enrolled(samekind, trained, plankton, tmp_path):
    files = [plankton / "more" / "giant" / f"{place}.png" for place in range(6)]
    answer = samekind("enroll", "giant", *files[:3], "--space", trained[0], "--out", tmp_path / "space")
    assert answer.status == 0, answer.err
    assert named(samekind, tmp_path / "space", *files[3:]) == ["giant"] * 3
    assert MetricSpace.load(tmp_path / "space").reader.original_size


@pytest.mark.parametrize(
    "command",
    [
        "report {run}",
        "info {run}",
        "embed {data} --space {run} --out {out}.npy",
        "search {data}/adult/0.png --space {run} --gallery {data}",
        "robustness {run} --ask class --eps 0.1 --steps 1 --limit 4 --to {out}.html",
        "attack {run} {data} --eps 0.1 --steps 1 --limit 4 --to {out}",
        "check {data} --size 8 --set data.original_size=true",
    ],
)
def test_every_command_takes_pictures_with_their_size(samekind, trained, plankton, tmp_path, command):
    places = {"run": trained[0], "data": plankton / "known", "out": tmp_path / "out"}
    answer = samekind(*(part.format(**places) for part in command.split()))
    assert answer.status == 0, answer.err


def test_pictures_are_shown_without_the_plane_of_their_size(samekind, trained, plankton, tmp_path):
    samekind("cluster", plankton / "known", "--space", trained[0], "--out", tmp_path / "groups")
    page = (tmp_path / "groups" / "report.html").read_text()
    shown = re.findall(r"data:image/png;base64,([^\"]+)", page)
    assert len(shown) > 10
    assert {Image.open(BytesIO(b64decode(picture))).mode for picture in shown} == {"L"}
