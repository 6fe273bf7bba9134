"""samekind draw: a picture in a file, and where a classifier is surest in words or JSON."""

import json

import pytest

HEADS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.fixture
def draw(samekind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *more: samekind("draw", "confidence", "--out", "map.svg", *more)


@pytest.mark.parametrize(
    ("more", "place", "probability", "at_prototype"),
    [
        (["--form", "normface", "--classes", "2"], [-(0.5**0.5), 0.5**0.5], 0.944193, 0.880797),
        (["--form", "normface"], [-(6**-0.5), -(6**-0.5), 2 * 6**-0.5], 0.852751, 0.786986),
        (["--form", "ratio", "--sphere"], [0, 0, 1], 1.0, 1.0),
        (["--form", "squared", "--angle", "--scale", "1"], [-0.60397, -0.60397, 0.52003], 0.960214, 0.854986),
        (["--form", "distance"], [0, 1], 0.941086, 0.941086),
    ],
)
def test_json_has_the_maximiser(draw, more, place, probability, at_prototype):
    answer = draw(*more, "--json")
    assert (answer.status, answer.err) == (0, "")
    content = json.loads(answer.out)
    assert content["maximiser"] == pytest.approx(place, abs=1e-5)
    assert content["probability"] == pytest.approx(probability, abs=1e-6)
    assert content["probability_at_prototype"] == pytest.approx(at_prototype, abs=1e-6)
    assert (content["at_edge"], content["picture"]) == (False, "map.svg")


def test_json_has_what_was_drawn(draw):
    content = json.loads(draw("--form", "squared", "--classes", "4", "--scale", "0.5", "--json").out)
    drawing = {name: content[name] for name in ("form", "surface", "classes", "scale", "angle", "at_edge")}
    assert drawing == {
        "form": "squared",
        "surface": "plane",
        "classes": 4,
        "scale": 0.5,
        "angle": False,
        "at_edge": True,
    }
    assert content["prototype"] == [0, 1]


def test_the_answer_in_words(draw):
    assert draw("--form", "normface", "--classes", "2").out == (
        "surest at (-0.7071, 0.7071): probability 0.944193; "
        "at the prototype (0.0000, 1.0000) it is 0.880797\n"
        "The picture is in map.svg\n"
    )
    assert draw().out.startswith("surest at the prototype (0.0000, 1.0000): probability 1.000000\n")
    assert "surest at (0.0000, 2.5000), where the picture ends: " in draw("--form", "squared").out


def test_all_forms_in_one_picture(draw, tmp_path):
    content = json.loads(draw("--form", "all", "--json").out)
    assert [drawn["form"] for drawn in content["maps"]] == ["squared", "distance", "ratio"]
    assert content["picture"] == "map.svg"
    assert (tmp_path / "map.svg").exists()
    lines = draw("--form", "all", "--sphere", "--angle").out.splitlines()
    assert [line.partition(":")[0] for line in lines[:3]] == ["squared", "distance", "ratio"]
    assert lines[2] == "ratio: surest at the prototype (0.0000, 0.0000, 1.0000): probability 1.000000"


@pytest.mark.parametrize("ending", HEADS)
def test_writes_the_format_of_the_ending_reproducibly(samekind, tmp_path, ending):
    out = tmp_path / "new folder" / f"map.{ending.upper()}"
    contents = []
    for _ in range(2):
        assert samekind("draw", "confidence", "--out", out).status == 0
        contents.append(out.read_bytes())
    assert contents[0].startswith(HEADS[ending])
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            ["--form", "softmax"],
            'there is no form "softmax"; Known: all, arcface, cosface, distance, normface, …',
        ),
        (
            ["--form", "normface", "--plane"],
            "normface compares directions, so it is drawn on the sphere, not …",
        ),
        (["--epsilon", "2"], "--epsilon is for the picture voronoi; leave it out for confidence"),
        (["--classes", "9"], "expected 2 to 7 classes on the plane, got 9"),
        (["--scale", "-1"], "a scale must be a positive number, got -1.0"),
        (["--out", "map.bmp"], "a picture ends in .pdf, .png, .svg; got map.bmp"),
        (["--out", "map"], "a picture ends in .pdf, .png, .svg; got map"),
        (["--out", "."], "a picture ends in …"),
    ],
)
def test_a_mistake_gets_one_line_and_no_file(draw, tmp_path, more, says):
    answer = draw(*more)
    [line] = answer.err.splitlines()
    sentence, ellipsis, _ = f"samekind: {says}".partition("…")
    assert line.startswith(sentence) if ellipsis else line == sentence
    assert (answer.status, answer.out) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_refuses_an_unknown_picture_and_names_the_nearest(samekind):
    answer = samekind("draw", "confidenc", "--out", "map.svg")
    assert (answer.status, answer.out) == (2, "")
    assert 'no picture "confidenc"; did you mean "confidence"?' in answer.err


def test_the_regions_of_attacks(samekind, tmp_path):
    out = tmp_path / "regions.png"
    content = json.loads(samekind("draw", "voronoi", "--out", out, "--json").out)
    assert content["epsilons"] == [0.5, 1.0, 3.5]
    assert content["standard"] == [0.5, 0.125, 0.0]
    assert content["voronoi"] == [1.0, 1.0, 1.0]
    assert content["smallest_distance"] == 1.0
    assert out.read_bytes().startswith(HEADS["png"])
    answer = samekind("draw", "voronoi", "--out", out, "--epsilon", "1")
    assert answer.out.startswith(
        "epsilon 1: adversarial accuracy of the nearest neighbour 12.5% in balls, 100.0% in Voronoi cells\n"
    )
    wrong = samekind("draw", "voronoi", "--out", out, "--epsilon", "0")
    assert (wrong.status, wrong.err) == (2, "samekind: an epsilon must be above 0, got 0\n")
