"""One line of an evaluation."""

from samekind.evaluation import Row


def test_a_row_says_what_was_asked_of_which_items_by_which_score():
    row = Row("few-shot", "unseen", "5-way 1-shot", "cosine", 0.5, 0.4, 0.6)
    assert row._asdict() == {
        "question": "few-shot",
        "items": "unseen",
        "measure": "5-way 1-shot",
        "kind": "cosine",
        "value": 0.5,
        "low": 0.4,
        "high": 0.6,
    }


def test_an_interval_is_there_only_where_the_protocol_has_one():
    assert Row("clustering", "seen", "NMI", "embedding", 1.0)[5:] == (None, None)
