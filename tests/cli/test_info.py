"""samekind info: what is in the folder, all of it."""

import json
from dataclasses import asdict

import pytest
import torch

from samekind.cli.thresholds import PLAIN
from samekind.decisions import Balance, Decision
from samekind.encoders import Standardised
from samekind.prototypes import SupportMeans
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def space(trained):
    return MetricSpace.load(trained / "space")


@pytest.fixture(scope="module")
def content(samekind, trained):
    answer = samekind("info", trained, "--json")
    assert (answer.status, answer.err) == (0, "")
    return json.loads(answer.out)


def test_json_has_the_parts_as_they_are_stored(content, trained):
    expected = {"parts", "parameters", "classes", "decisions", "open set", "temperatures", "standings"}
    assert content.keys() == expected | {"choices", "balances", "enrolled", "ladder"}
    stored = json.loads((trained / "space" / "space.json").read_text())
    del stored["prototypes"]["arguments"]["classes"]  # told once, beside the parts
    del stored["auxiliary"]["prototypes"]["arguments"]["classes"]
    for name in ("encoder", "similarity", "prototypes"):
        assert content["parts"][name] == stored[name]
    assert content["parts"]["auxiliary"] == {"name": "AuxiliaryHead", "arguments": stored["auxiliary"]}


def test_json_has_sizes_classes_and_decisions(content, space):
    assert sum(content["parameters"].values()) == sum(parameter.numel() for parameter in space.parameters())
    assert content["parameters"].keys() == content["parts"].keys()
    assert content["classes"] == space.classes
    assert content["decisions"] == json.loads(
        json.dumps({kind: asdict(decision) for kind, decision in space.decisions.items()})
    )


def test_prints_temperatures(samekind, trained, content, space):
    assert list(content["temperatures"]) == ["similarity", "auxiliary", "fused"]
    assert content["temperatures"] == {
        head: asdict(temperature) for head, temperature in space.temperatures.items()
    }
    page = samekind("info", trained).out
    for head, temperature in space.temperatures.items():
        assert [head, f"{temperature.value:.4g}", f"{temperature.items}"] in [
            line.split() for line in page.splitlines()
        ]
    assert f"temperatures: fitted on {temperature.fitted_on}\n" in page


def test_prints_how_each_kind_of_score_did(samekind, trained, content, space, tmp_path):
    assert list(content["standings"]) == ["similarity", "cosine", "fused"]
    page = samekind("info", trained).out
    for kind, standing in space.standings.items():
        line = [kind, f"{standing.equal_error:.2%}", f"{standing.recall:.1%}", f"{standing.named:.1%}"]
        assert line in [words.split() for words in page.splitlines()]
        assert content["standings"][kind]["equal_error"] == standing.equal_error
    assert "kinds of score: measured on digits, validation, known classes\n" in page
    unmeasured = MetricSpace.load(trained / "space")
    unmeasured.standings = {}
    unmeasured.save(tmp_path / "space")
    assert "Kinds of score" not in samekind("info", tmp_path / "space").out


def test_tables_have_the_same_values(samekind, trained, content):
    page = samekind("info", trained).out
    assert "SmallConvnet(channels=1, size=8, dimension=64, width=32)" in page
    assert "scale=FixedScale" in page
    for size in content["parameters"].values():
        assert f" {size:,}\n" in page
    assert "\nClasses (7): 0, 1, 2, 3, 4, 5, 6\n" in page
    for kind, decision in content["decisions"].items():
        [line] = [line for line in page.splitlines() if line.startswith(f"{kind} ") and "eer" in line]
        rates = []
        for error in ("false_accept", "false_reject"):
            low, high = decision[f"{error}_interval"]
            rates.append(f"{decision[f'{error}s']:.2%} ({100 * low:.2f} to {100 * high:.2f})")
        assert line.split() == f"{kind} {decision['threshold']:.4f} eer {' '.join(rates)}".split()
        assert f"\n{kind}: fitted on {decision['trials']}\n" in page


def test_prints_the_threshold_for_none_of_these(samekind, space, tmp_path):
    other = MetricSpace(space.encoder, space.similarity, space.prototypes)
    other.open_set = Decision("similarity", 0.25, "far=0.1", "4 known, 5 unknown", 0.2, 0.0)
    other.save(tmp_path / "open")
    assert json.loads(samekind("info", tmp_path / "open", "--json").out)["open set"]["threshold"] == 0.25
    page = samekind("info", tmp_path / "open").out
    [line] = [line for line in page.splitlines() if line.startswith("open set ")]
    assert line.split() == ["open", "set", "0.2500", "far=0.1", "20.00%", "0.00%"]
    assert "open set: fitted on 4 known, 5 unknown\n" in page


def test_names_the_first_of_many_enrolled_classes(samekind, space, tmp_path):
    names = [f"new {number:04}" for number in range(2000)]
    other = MetricSpace(space.encoder, space.similarity, SupportMeans(dimension=64)).eval()
    other.balances = {"similarity": Balance(0.25, "made up")}
    other.enroll_classes(dict(zip(names, torch.randn(2000, 1, 64), strict=True)))
    other.save(tmp_path / "many")
    page = samekind("info", tmp_path / "many").out
    first = ", ".join(names[:10])
    assert f"Enrolled classes ({first} and 1990 more) get +0.25 on their similarity scores.\n" in page
    assert json.loads(samekind("info", tmp_path / "many", "--json").out)["enrolled"] == names


def test_takes_the_folder_of_the_space(samekind, trained):
    assert samekind("info", trained / "space") == samekind("info", trained)


def test_a_space_without_a_head_and_without_thresholds(samekind, space, tmp_path):
    MetricSpace(space.encoder, space.similarity, space.prototypes).save(tmp_path / "bare")
    content = json.loads(samekind("info", tmp_path / "bare", "--json").out)
    assert list(content["parts"]) == ["encoder", "similarity", "prototypes"]
    assert content["decisions"] == {}
    assert content["temperatures"] == {}
    answer = samekind("info", tmp_path / "bare")
    assert (answer.status, answer.out.count(PLAIN)) == (0, 1)


def test_prints_the_length_of_long_lists(samekind, space, tmp_path):
    encoder = Standardised(encoder=space.encoder, means=[0.5] * 64, deviations=[2.0] * 64)
    MetricSpace(encoder, space.similarity, space.prototypes).save(tmp_path / "wide")
    answer = samekind("info", tmp_path / "wide").out
    assert answer.count("(64 numbers)") == 2
    assert "0.5, 0.5" not in answer
