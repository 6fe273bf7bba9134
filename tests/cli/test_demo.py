"""samekind demo, from nothing to the report, and once more; with few alphabets and a tiny network."""

import json
import re
import shlex
from pathlib import Path

import pytest

from samekind.data import branches_of, characters
from samekind.questions import demo

#: As they are, before the tests take fewer.
VALIDATING, ASKED = demo.VALIDATING, demo.ASKED
COMMAND = ("demo", "--tasks", "10", "--set", "epochs=1", "--set", "space.encoder.width=4")


@pytest.fixture(scope="module", autouse=True)
def few_alphabets():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "_learned", lambda: ["Latin", "Hebrew", "Greek"])
        patch.setattr(demo, "VALIDATING", ("Greek",))
        patch.setattr(demo, "ASKED", ("Tengwar",))
        yield


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "out"


@pytest.fixture(scope="module")
def first(samekind, out):
    answer = samekind(*COMMAND, "--out", out)
    assert answer.status == 0, answer.err
    return answer


@pytest.fixture(scope="module")
def screen(first):
    return first.out.splitlines()


def test_prints_one_line_an_epoch_with_one_measure(first):
    (line,) = first.err.splitlines()
    assert re.fullmatch(r"learning: epoch 1 loss [\d.]+ Recall@1 [\d.]+% [\d,]+ items/s", line)


def test_prints_one_screen_of_five_lines_and_three_commands(screen, out):
    assert len(screen) <= 24
    assert screen[0].startswith("Learned from 960 drawings of 48 characters (2 alphabets). Asked about 500")
    lines = [line for line in screen if re.search(r"\(\d[\d.]*-\d[\d.]*\)$", line)]
    assert [line.split("?")[0] for line in lines] == [
        "Which of 20, seen 5 times each",
        "Are these two the same character",
        "What is most like this",
        "What groups are here",
        "Is it none of those I know",
    ]
    assert all(len(line) <= 80 for line in lines)
    assert f"The report with pictures is {out / 'report.html'}. To go on:" in screen
    assert len([line for line in screen if line.startswith("  samekind ")]) == 3


def test_the_commands_work_when_pasted(samekind, screen):
    commands = [line.split()[1] for line in screen if line.startswith("  samekind ")]
    assert commands == ["compare", "search", "cluster"]
    for line in screen:
        if line.startswith("  samekind "):
            followed = samekind(*shlex.split(line)[1:])
            assert followed.status == 0, followed.err


def test_a_drawing_does_not_find_itself(samekind, screen, out):
    (line,) = (line for line in screen if line.startswith("  samekind search "))
    words = shlex.split(line)[1:]
    (query,) = json.loads(samekind(*words, "--json").out)["queries"]
    assert query["id"] == words[1]
    found = [match["id"] for match in query["found"]]
    assert words[1] not in found
    assert all(Path(name).parent.parent == out / "Tengwar" for name in found)
    assert len(list((out / "Tengwar").glob("*/*.png"))) == 500


def test_the_report_opens_with_the_same_lines_and_folds_the_rest(screen, out):
    page = (out / "report.html").read_text(encoding="utf-8")
    opening, folded = page.split("<section><details>", 1)
    assert re.findall("<h2>(.*?)</h2>", opening) == [
        "In short",
        "Right and wrong answers: learned and raw pixels",
    ]
    for line in screen:
        if "?" in line:
            question, rest = line.split("?")
            assert f"{question}?" in opening
            reference = rest.split()[-3]
            assert f"<td>{reference}</td>" in opening
    assert "<h2>Answers</h2>" in folded
    assert "<section>" not in opening.replace("<section><details>", "")
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#|data:)""", page)


def test_a_second_call_trains_nothing_and_says_the_same(samekind, first, out, undrawn):
    again = samekind(*COMMAND, "--out", out, "--json")
    assert (again.status, again.err) == (0, "")
    answers = json.loads(again.out)["answers"]
    assert [answer["question"] in first.out for answer in answers] == [True] * 5


def test_the_run_of_the_demo_can_be_evaluated(samekind, first, out):
    assert samekind("evaluate", out, "--tasks", "10", "--json").status == 0


def test_what_the_readme_shows_is_what_a_demo_answered():
    root = Path(__file__).parents[2]
    readme = (root / "README.md").read_text(encoding="utf-8")
    for answer in json.loads((root / "results" / "demo.json").read_text())["answers"]:
        own, decimals = answer["own"], 2 if answer["own"]["measure"] == "NMI" else 1
        raw, value, low, high = (
            f"{number if decimals == 2 else 100 * number:.{decimals}f}"
            for number in (answer["reference"]["value"], own["value"], own["low"], own["high"])
        )
        line = f"| {answer['question']} | {own['measure']} | {raw} | {value} ({low}-{high}) |"
        assert line in readme


def test_alphabets_of_the_queries_are_not_learned_from():
    alphabets = list(branches_of(characters().classes))
    assert set(VALIDATING) < set(alphabets[:30])
    assert set(ASKED) < set(alphabets[30:])
