"""samekind identify: a class with its probability, or none of these."""

import json

import pytest

from samekind.decisions import Decision
from samekind.inference import embed_files, identify
from samekind.questions.identify import NO_THRESHOLD, NONE
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def files(folders):
    return [folders / "0" / "00.png", folders / "1" / "00.png", folders / "7" / "00.png"]


@pytest.fixture(scope="module")
def strict(trained, files, tmp_path_factory):
    """The space with a threshold between the best scores of these files: it knows only the surest of them."""
    space = MetricSpace.load(trained / "space")
    space.open_set = None
    scores = sorted(item.score for item in identify(space, embed_files(space, files)))
    space.open_set = Decision(
        kind="similarity",
        threshold=(scores[1] + scores[2]) / 2,
        point="eer",
        trials="made up",
        false_accepts=0.0,
        false_rejects=0.0,
        calibration=(3.0, -1.0),
    )
    folder = tmp_path_factory.mktemp("strict")
    space.save(folder)
    return folder


def test_json_has_the_answers_of_the_space(samekind, strict, files):
    answer = samekind("identify", *files, "--space", strict, "--json")
    assert (answer.status, answer.err) == (0, "")
    content, space = json.loads(answer.out), MetricSpace.load(strict)
    assert (content["threshold"], content["kind"]) == (space.open_set.threshold, "similarity")
    expected = identify(space, embed_files(space, files))
    assert [(item["id"], item["class"]) for item in content["items"]] == [
        (str(path), item.name) for path, item in zip(files, expected, strict=True)
    ]
    assert [item["probability"] for item in content["items"]] == pytest.approx(
        [item.probability for item in expected], abs=1e-5
    )
    assert [item["class"] is None for item in content["items"]].count(True) == 2


def test_the_table_says_none_of_these(samekind, strict, files):
    answer = samekind("identify", *files, "--space", strict)
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.count(NONE) == 2


def test_warns_of_a_missing_threshold(samekind, trained, files, tmp_path):
    space = MetricSpace.load(trained / "space")
    space.open_set = None
    space.save(tmp_path / "space")
    answer = samekind("identify", *files, "--space", tmp_path / "space")
    assert (answer.status, answer.err) == (0, f"{NO_THRESHOLD}; samekind calibrate --open-set fits one\n")
    assert NONE not in answer.out
    content = json.loads(samekind("identify", *files, "--space", tmp_path / "space", "--json").out)
    assert (content["threshold"], content["kind"]) == (None, "similarity")
    assert [item["class"] for item in content["items"]][:2] == ["0", "1"]


def test_a_folder_and_an_enrolled_class(samekind, trained, folders, tmp_path):
    """What was none of the known classes has a name once a few examples gave it one."""
    sevens = sorted((folders / "7").iterdir())
    samekind("enroll", "seven", *sevens[:6], "--space", trained, "--out", tmp_path / "new")
    content = json.loads(samekind("identify", *sevens[6:], "--space", tmp_path / "new", "--json").out)
    assert [item["class"] for item in content["items"]].count("seven") >= 4
