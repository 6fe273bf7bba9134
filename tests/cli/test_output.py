"""Tables that keep every number, names that are printed as they are, and JSON that is JSON."""

import doctest
import json
from pathlib import Path

import pytest

from samekind.cli import output
from samekind.cli.output import (
    console,
    differences_tables,
    messages,
    print_differences,
    print_json,
    print_measures,
    print_promises,
    print_table,
    print_text,
    print_warnings,
    table,
)
from samekind.evaluation import Compared, PromiseRow, RatePromise, Row

# As wide as it gets: the longest names of each question, and the longest numbers.
WIDE = [
    Row("verification", "unseen", "accuracy at threshold", "similarity", 1.0, 0.986, 1.0, "classes"),
    Row("verification", "unseen", "accuracy at threshold", "cosine", 0.98765, 0.971, 0.993, "classes"),
    Row("verification", "unseen", "accuracy at threshold", "fused", 0.5, 0.45, 0.55, "classes"),
    Row("few-shot", "unseen", "5-way 1-shot", "similarity", 0.8707, 0.8194, 0.9220, "episodes"),
    Row("few-shot", "unseen", "5-way 1-shot", "cosine", 0.9313, 0.9083, 0.9543, "episodes"),
    Row("few-shot", "unseen", "5-way 1-shot", "fused", 0.8833, 0.8317, 0.9349, "episodes"),
    Row("clustering", "unseen", "NMI", "embedding", 0.90349),
]
COMPARED = [
    Compared("retrieval", "unseen", "Recall@1", "cosine", 0.91, 0.97, -0.06, -0.08, -0.04, 0.0004, "queries"),
    Compared("retrieval", "unseen", "MAP@R", "cosine", 0.5, 0.5, 0.0, None, None, None, ""),
    Compared("clustering", "seen", "NMI", "embedding", 0.9, 0.8, 0.1, 0.05, 0.15, 0.01, "items"),
]


def lines_of(capsys):
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= 80
    return lines


def test_three_kinds_of_score_fit_a_terminal_of_80_columns_whole(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    print_measures(WIDE)
    lines = lines_of(capsys)
    assert "accuracy at  unseen   100.00% (98.6-100)  98.77% (97.1-99.3)  50.00% (45.0-55.0)" in lines
    assert "threshold" in lines
    assert "NMI      unseen       0.903" in lines
    assert [line for line in lines if line.startswith(("Verif", "Few", "Clus"))] == [
        "Verification (95% intervals over classes)",
        "Few-shot (95% intervals over episodes)",
        "Clustering",
    ]


def test_warnings_name_whom_they_are_about(capsys):
    print_warnings("birds", ["mind the cosine", "and the rest"])
    assert capsys.readouterr() == ("", "careful (birds): mind the cosine\ncareful (birds): and the rest\n")


def test_references_fit_100_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    ways = ("nearest neighbour", "nearest mean", "logistic regression", "cosine", "centred cosine")
    rows = [
        Row("reference", "unseen", "accuracy", f"{way} of untrained features", 0.7, 0.65, 0.75, "items")
        for way in ways
    ]
    print_measures(rows)
    lines = lines_of(capsys)
    assert max(map(len, lines)) <= 100
    assert len([line for line in lines if line.startswith("accuracy")]) == len(ways)
    assert any(line.endswith("without training") for line in lines)


def test_a_note_is_shown_with_the_items(capsys):
    print_measures([WIDE[-1]._replace(note="selected on test")])
    assert "unseen, selected on test" in capsys.readouterr().out


def test_differences_have_a_table_a_question(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    print_differences(("mine", "other"), COMPARED)
    lines = lines_of(capsys)
    assert "Retrieval (95% intervals over queries)" in lines
    assert "Recall@1  unseen   cosine  91.00%  97.00%  -6.00 (-8.0 to -4.0)  0.000" in lines
    assert "MAP@R     unseen   cosine  50.00%  50.00%                 +0.00" in lines
    assert len(list(differences_tables(("mine", "other"), COMPARED))) == 2


def test_promises_have_a_line_each(capsys):
    rates = RatePromise(0.01, 0.013, 0.009, 0.018, "holds")
    print_promises(
        [PromiseRow("seen", "cosine", "far=0.01", True, False, "promised 1.0%: holds", rates, rates)]
    )
    assert capsys.readouterr().out == "\nThresholds\nseen, cosine: promised 1.0%: holds\n"
    print_promises([])
    assert capsys.readouterr().out == ""


def test_doctests():
    assert doctest.testmod(output).failed == 0


def test_never_breaks_numbers(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    print_measures(WIDE[3:6])
    page = capsys.readouterr().out
    for number in ("87.07% (81.9-92.2)", "93.13% (90.8-95.4)", "88.33% (83.2-93.5)"):
        assert number in page


@pytest.mark.parametrize("terminal", [False, True])
def test_never_cuts_off_a_table(terminal, capsys, monkeypatch):
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    rates = ["0.08% (0.00 to 0.41)", "91.02% (66.49 to 98.11)"]
    print_table(table("Thresholds", ["score", "a", "b", "c"], [["similarity", *rates, rates[1]]]))
    assert "  ".join(["similarity", *rates, rates[1]]) in capsys.readouterr().out


def test_does_not_break_lines_outside_a_terminal(capsys, monkeypatch):
    """A path that is broken in two is not found by grep."""
    monkeypatch.delenv("COLUMNS", raising=False)
    path = "plankton-held/" * 20 + "107714.jpg"
    print_table(table("Items", ["item", "class", "probability"], [[path, "star", "0.5"]], texts=2))
    assert f"{path}  star           0.5" in capsys.readouterr().out


NAME = "[red]a[/red] :cat: 12"


@pytest.mark.parametrize("terminal", [False, True])
def test_names_are_printed_as_they_are(terminal, capsys, monkeypatch):
    """What looks like markup, an emoji or a number in somebody's path is none."""
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm-256color")
    print_text(NAME)
    console().print(table("Title", ["name"], [[NAME]]))
    assert capsys.readouterr().out.count(NAME) == 2
    messages().print(NAME)
    assert NAME in capsys.readouterr().err


def test_a_long_sentence_stays_one_line(capsys):
    """A path that is broken in two cannot be copied."""
    print_text("path/" * 50)
    assert capsys.readouterr().out == "path/" * 50 + "\n"


def test_json_comes_back(capsys):
    content = {"rows": [row._asdict() for row in WIDE], "path": "a"}
    print_json({**content, "path": Path("a")})
    assert json.loads(capsys.readouterr().out) == content
