"""One line of an evaluation."""

import doctest
import json

import pytest

from samekind.evaluation import Row, rows
from samekind.measures.catalogue import NMI


def test_a_row_says_what_was_asked_of_which_items_by_which_score():
    row = Row("few-shot", "unseen", "5-way 1-shot", "cosine", 0.5, 0.4, 0.6, "episodes", "selected on test")
    assert row._asdict() == {
        "question": "few-shot",
        "items": "unseen",
        "measure": "5-way 1-shot",
        "kind": "cosine",
        "value": 0.5,
        "low": 0.4,
        "high": 0.6,
        "unit": "episodes",
        "note": "selected on test",
    }


def test_an_interval_and_a_note_are_there_only_where_the_protocol_has_one():
    assert Row("clustering", "seen", "NMI", "embedding", 1.0)[5:] == (None, None, "", "")


def test_the_note_is_part_of_what_is_shown():
    row = Row("clustering", "seen", "NMI", "embedding", 1.0)
    assert row.about == "seen"
    assert row._replace(note="selected on test").about == "seen, selected on test"


def test_one_note_does_not_erase_another():
    row = Row("verification", "seen", "Cllr", "cosine", 0.2)
    assert rows.noted(row, "") == row
    part = rows.noted(row, "of 1,000 pairs")
    assert part.note == rows.noted(part, "").note == "of 1,000 pairs"
    assert rows.noted(part, "selected on test").note == "of 1,000 pairs; selected on test"


def test_a_row_read_back_from_json_says_the_same():
    row = Row("clustering", "seen", NMI, "embedding", 0.9251, 0.9, 0.95, "items")
    stored = Row(**json.loads(json.dumps(row._asdict())))
    assert stored == row
    assert (type(stored.measure), stored.entry, stored.text) == (str, NMI, row.text)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (Row("verification", "seen", "EER", "cosine", 0.06789), "6.79%"),
        (Row("verification", "seen", "EER", "cosine", 0.0), "0.00%"),
        (Row("retrieval", "seen", "Recall@1", "cosine", 1.0, 0.986, 1.0), "100.00% (98.6-100)"),
        (Row("verification", "seen", "AUC", "cosine", 0.99999, 0.99996, 1.0), "100.00% (100-100)"),
        (Row("clustering", "seen", "NMI", "embedding", 0.90349), "0.903"),
        (Row("verification", "seen", "minDCF at 1%", "fused", 0.35, 0.2, 0.5), "0.350 (0.20-0.50)"),
    ],
)
def test_a_value_is_written_with_its_interval(row, text):
    assert row.text == text


def of_unknown(kind, high, measure="AUROC"):
    return Row("open set", "seen, unseen", measure, kind, 0.2, 0.1, high, "items")


def test_an_auroc_is_upside_down_if_its_whole_interval_is_below_a_half():
    assert rows.is_upside_down(of_unknown("cosine", 0.49))
    for row in (of_unknown("cosine", 0.5), of_unknown("cosine", None), of_unknown("cosine", 0.3, "accuracy")):
        assert not rows.is_upside_down(row)


def test_the_warning_names_every_upside_down_score_once():
    wrong = [of_unknown(kind, 0.3) for kind in ("similarity", "auxiliary", "fused", "fused")]
    assert rows.upside_down(wrong[:1]).startswith(
        "unknown items look more familiar than known ones by similarity (the AUROC is below 50% "
    )
    assert " by similarity, auxiliary and fused (" in rows.upside_down(wrong)
    assert rows.upside_down([of_unknown("cosine", 0.6)]) == rows.upside_down([]) == ""


def test_doctests():
    assert doctest.testmod(rows).failed == 0


def test_a_described_row_says_how_its_measure_is_read():
    row = Row("clustering", "seen", NMI, "embedding", 1.0)
    told = json.loads(json.dumps(rows.described(row)))
    assert told == {
        **row._asdict(),
        "share": False,
        "better": "higher",
        "meaning": NMI.meaning,
    }
