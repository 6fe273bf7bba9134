"""samekind info: what is in the folder, all of it."""

import json
from dataclasses import asdict

import pytest

from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def space(trained):
    return MetricSpace.load(trained / "space")


@pytest.fixture(scope="module")
def told(samekind, trained):
    answer = samekind("info", trained, "--json")
    assert (answer.status, answer.err) == (0, "")
    return json.loads(answer.out)


def test_json_has_the_parts_as_they_are_stored(told, trained):
    assert told.keys() == {"parts", "parameters", "classes", "decisions"}
    stored = json.loads((trained / "space" / "space.json").read_text())
    del stored["prototypes"]["arguments"]["classes"]  # told once, beside the parts
    del stored["auxiliary"]["prototypes"]["arguments"]["classes"]
    for name in ("encoder", "similarity", "prototypes"):
        assert told["parts"][name] == stored[name]
    assert told["parts"]["auxiliary"] == {"name": "AuxiliaryHead", "arguments": stored["auxiliary"]}


def test_json_has_the_sizes_the_classes_and_the_decisions(told, space):
    assert sum(told["parameters"].values()) == sum(each.numel() for each in space.parameters())
    assert told["parameters"].keys() == told["parts"].keys()
    assert told["classes"] == space.classes
    assert told["decisions"] == json.loads(
        json.dumps({kind: asdict(each) for kind, each in space.decisions.items()})
    )


def test_the_tables_tell_the_same(samekind, trained, told):
    page = samekind("info", trained).out
    assert "SmallConvnet(channels=1, size=8, dimension=64, width=32)" in page
    assert "scale=FixedScale" in page
    for size in told["parameters"].values():
        assert f" {size:,}\n" in page
    assert "\nClasses (7): 0, 1, 2, 3, 4, 5, 6\n" in page
    for kind, decision in told["decisions"].items():
        [line] = [line.split() for line in page.splitlines() if line.startswith(f"{kind} ") and "eer" in line]
        rates = [f"{decision['false_accepts']:.2%}", f"{decision['false_rejects']:.2%}"]
        assert line == [kind, f"{decision['threshold']:.4f}", "eer", *rates]


def test_the_folder_of_the_space_will_do(samekind, trained):
    assert samekind("info", trained / "space") == samekind("info", trained)


def test_a_space_without_a_head_and_without_thresholds(samekind, space, tmp_path):
    MetricSpace(space.encoder, space.similarity, space.prototypes).save(tmp_path / "bare")
    told = json.loads(samekind("info", tmp_path / "bare", "--json").out)
    assert list(told["parts"]) == ["encoder", "similarity", "prototypes"]
    assert told["decisions"] == {}
    assert samekind("info", tmp_path / "bare").status == 0
