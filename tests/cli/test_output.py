"""Tables that keep every number, names that are printed as they are, and JSON that is JSON."""

import json

import pytest

from samekind.cli.output import (
    console,
    format_row,
    measures_tables,
    messages,
    print_json,
    print_measures,
    print_text,
    rows_as_json,
    table,
)
from samekind.evaluation import Row

# As wide as it gets: the longest names of each question.
WIDE = [
    Row("verification", "unseen", "accuracy at threshold", "similarity", 1.0),
    Row("verification", "unseen", "accuracy at threshold", "cosine", 0.98765),
    Row("verification", "unseen", "accuracy at threshold", "fused", 0.5),
    Row("few-shot", "unseen", "5-way 1-shot", "similarity", 0.8707, 0.8194, 0.9220),
    Row("few-shot", "unseen", "5-way 1-shot", "cosine", 0.9313, 0.9083, 0.9543),
    Row("few-shot", "unseen", "5-way 1-shot", "fused", 0.8833, 0.8317, 0.9349),
    Row("clustering", "unseen", "NMI", "embedding", 0.90349),
]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (Row("verification", "seen", "EER", "cosine", 0.06789), "6.79%"),
        (Row("verification", "seen", "EER", "cosine", 0.0), "0.00%"),
        (Row("retrieval", "seen", "Recall@1", "cosine", 1.0), "100.00%"),
        (Row("few-shot", "seen", "5-way 1-shot", "cosine", 0.9, 0.88, 0.92), "90.00% ± 2.00"),
        (Row("clustering", "seen", "NMI", "embedding", 0.90349), "0.903"),
    ],
)
def test_a_value_is_written_as_people_read_it(row, text):
    assert format_row(row) == text


def test_two_systems_fit_a_terminal_of_80_columns_whole(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    print_measures({"prototypical": WIDE, "triplet": WIDE[:2]})
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= 80
    assert "measure                classes  system        similarity  cosine   fused" in lines
    assert "accuracy at threshold  unseen   prototypical     100.00%  98.77%  50.00%" in lines
    assert "accuracy at threshold  unseen   triplet          100.00%  98.77%" in lines
    assert "5-way 1-shot  unseen   prototypical  87.07% ± 5.13  93.13% ± 2.30  88.33% ± 5.16" in lines
    assert "NMI      unseen   prototypical      0.903" in lines
    assert [line for line in lines if line in ("Verification", "Few-shot", "Clustering")] == [
        "Verification",
        "Few-shot",
        "Clustering",
    ]


def test_a_system_that_was_not_asked_has_no_line():
    [*_, clustering] = measures_tables({"prototypical": WIDE, "triplet": WIDE[:2]})
    assert clustering.row_count == 1


def test_the_only_system_is_not_named(capsys):
    print_measures({"prototypical": WIDE})
    assert "prototypical" not in capsys.readouterr().out


def test_numbers_are_never_broken_where_there_is_no_room(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    print_measures({"prototypical": WIDE[3:6]})
    page = capsys.readouterr().out
    for number in ("87.07% ± 5.13", "93.13% ± 2.30", "88.33% ± 5.16"):
        assert number in page


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
    content = {"systems": rows_as_json({"one": WIDE, "none": []})}
    print_json(content)
    assert json.loads(capsys.readouterr().out) == content
    assert content["systems"]["none"] == []
    assert content["systems"]["one"][3] == {
        "question": "few-shot",
        "items": "unseen",
        "measure": "5-way 1-shot",
        "kind": "similarity",
        "value": 0.8707,
        "low": 0.8194,
        "high": 0.9220,
    }
