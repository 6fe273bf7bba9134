"""samekind demo, from nothing to the report, and once more."""

import json
import re
import shlex

import pytest

from samekind.cli.demo import EXAMPLES, UNSEEN
from samekind.data import ImageReader, digits

COMMAND = ("demo", "--tasks", "10", "--set", "epochs=1", "--set", "space.encoder.width=4")
SYSTEMS = ["prototypical", "triplet"]


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "out"


@pytest.fixture(scope="module")
def first(samekind, out):
    answer = samekind(*COMMAND, "--out", out, "--json")
    assert answer.status == 0, answer.err
    return answer


def test_json_has_every_answer_of_both_systems(first, out):
    told = json.loads(first.out)
    assert told.keys() == {"report", "systems", "warnings"}
    assert told["report"] == str(out / "report.html")
    assert list(told["systems"]) == list(told["warnings"]) == SYSTEMS
    for rows in told["systems"].values():
        questions = {(row["question"], row["items"]) for row in rows}
        everywhere = {"verification", "retrieval", "few-shot", "clustering", "reference"}
        assert questions == {(question, items) for question in everywhere for items in ("seen", "unseen")} | {
            ("classification", "seen"),  # there are no names for classes that were never shown
            ("open set", "seen, unseen"),
            ("few-shot beside known", "seen, unseen"),
        }


def test_prints_each_epoch_on_the_standard_error(first):
    told = [line.split(" loss ")[0] for line in first.err.splitlines()]
    assert told == [f"{name}: epoch 1" for name in SYSTEMS]


def test_the_report_is_one_page_that_needs_nothing_else(first, out):
    page = (out / "report.html").read_text()
    assert "<title>samekind on handwritten digits" in page
    assert page.count("How good are raw inputs, without training?") == 1
    outside = [
        link for link in re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)""", page) if link[:1] not in ("#", "")
    ]
    assert all(link.startswith("data:") for link in outside)
    assert not re.search(r"url\(\s*['\"]?(?!#|data:)[^)]", page)
    assert "@import" not in page


def test_the_examples_are_unseen_digits(first, out):
    paths = sorted((out / "examples").iterdir())
    assert [path.name for path in paths] == ["7-1.png", "7-2.png", "9-1.png"]
    assert set(EXAMPLES) <= set(UNSEEN)
    for path in paths:
        picture = ImageReader(height=8, width=8).read(path)
        match = ((digits().inputs - picture).abs().flatten(1).amax(1) <= 0.5 / 255 + 1e-6).nonzero().flatten()
        assert {digits().classes[label] for label in digits().labels[match].tolist()} == {path.name[0]}
    assert paths[0].read_bytes() != paths[1].read_bytes()


def test_a_second_call_trains_nothing_and_says_the_same(samekind, first, out, undrawn):
    again = samekind(*COMMAND, "--out", out, "--json")
    assert (again.status, again.err) == (0, "")
    assert again.out == first.out


def test_the_text_has_tables_and_commands_that_work(samekind, first, out, undrawn, monkeypatch):
    monkeypatch.setattr("samekind.cli.output.warnings_of", lambda told: {name: ["mind"] for name in told})
    answer = samekind(*COMMAND, "--out", out)
    assert [line for line in answer.err.splitlines() if "mind" in line] == [
        f"careful ({name}): mind" for name in SYSTEMS
    ]
    for name in SYSTEMS:
        assert re.search(rf"^measure .* {name}( |$)", answer.out, flags=re.MULTILINE)
    assert f"The report is in {out / 'report.html'}." in answer.out
    commands = [line for line in answer.out.splitlines() if line.startswith("  samekind compare ")]
    assert len(commands) == 2
    for command in commands:
        followed = samekind(*shlex.split(command)[1:])
        assert followed.status == 0
        assert followed.out.split()[0] in ("same", "different")


def test_the_runs_of_the_demo_can_be_evaluated(samekind, first, out):
    told = json.loads(samekind("evaluate", out / "triplet", "--tasks", "10", "--json").out)
    assert told["systems"]["triplet"] == json.loads(first.out)["systems"]["triplet"]
