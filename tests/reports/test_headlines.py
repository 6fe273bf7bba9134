"""Headlines: sentences with the numbers of the rows in them."""

import pytest

from samekind.evaluation import Row
from samekind.reports.headlines import QUESTIONS, headline


def plain(text):
    return text.replace("\u00a0", " ")


def test_the_systems_own_similarity_is_quoted_not_the_best_column(rows):
    assert plain(headline("verification", rows)) == (
        "It misjudges 2.0 % of seen pairs and 20.0 % of unseen pairs, "
        "both kinds of mistake being equally frequent."
    )


def test_a_new_class_from_one_example_and_from_five():
    rows = [
        Row("few-shot", "seen", "5-way 1-shot", "similarity", 0.9, 0.8, 1.0),
        Row("few-shot", "seen", "5-way 5-shot", "similarity", 0.95, 0.9, 1.0),
        Row("few-shot", "unseen", "3-way 1-shot", "similarity", 0.7, 0.6, 0.8),
        Row("few-shot", "unseen", "3-way 5-shot", "similarity", 0.8, 0.7, 0.9),
        Row("few-shot", "unseen", "3-way 5-shot", "cosine", 0.99, 0.9, 1.0),
    ]
    assert plain(headline("few-shot", rows)) == (
        "Given one example of each class, it is right 90.0 % of the time among 5 seen classes and "
        "70.0 % of the time among 3 unseen classes. Given five examples, 95.0 % and 80.0 %."
    )


def test_a_new_class_beside_the_known_ones():
    rows = [
        Row("few-shot beside known", "seen, unseen", f"3-way {shot}-shot {what}", "similarity", value)
        for shot, values in ((1, (0.9, 0.5, 0.64)), (5, (0.8, 0.7, 0.75)))
        for what, value in zip(("known", "new", "harmonic mean"), values, strict=True)
    ]
    assert plain(headline("few-shot beside known", rows)) == (
        "With new classes enrolled, it still names the right class for 90.0 % of known items (1-shot) and "
        "80.0 % of known items (5-shot). It names the right class for 50.0 % of items of 3 new classes "
        "(1-shot) and 70.0 % of items of 3 new classes (5-shot)."
    )


@pytest.mark.parametrize(
    ("question", "measure", "value", "sentence"),
    [
        ("classification", "accuracy", 1.0, "It names the right class for 100 % of seen items."),
        ("classification", "accuracy", 0.9999, "It names the right class for 99.99 % of seen items."),
        (
            "retrieval",
            "Recall@1",
            0.5,
            "The item found most alike is of the same class for 50.0 % of seen items.",
        ),
        (
            "open set",
            "DIR at 1% FAR",
            0.5,
            "It names the right class for 50.0 % of known items while 1 % of unknown ones pass for known.",
        ),
        (
            "claimed class",
            "EER",
            0.25,
            "It misjudges 25.0 % of claims about seen items.",
        ),
        (
            "clustering",
            "NMI",
            0.5,
            "Groups found without labels agree with the classes to 0.500 for seen items, where 1 is perfect.",
        ),
    ],
)
def test_every_question_has_its_sentence(question, measure, value, sentence):
    assert plain(headline(question, [Row(question, "seen", measure, "similarity", value)])) == sentence


def test_values_close_to_0_are_not_written_as_0():
    row = Row("verification", "seen", "EER", "similarity", 0.0003)
    assert "misjudges 0.03 % of" in plain(headline("verification", [row]))
    assert "misjudges under 0.01 % of" in plain(headline("verification", [row._replace(value=1e-6)]))
    assert "misjudges 0 % of" in plain(headline("verification", [row._replace(value=0.0)]))


def test_number_and_unit_stay_together():
    assert "50.0\u00a0%" in headline(
        "classification", [Row("classification", "seen", "accuracy", "fused", 0.5)]
    )


@pytest.mark.parametrize("question", [*QUESTIONS, "another"])
def test_no_row_no_sentence(question):
    assert headline(question, []) == ""
    assert headline(question, [Row(question, "seen", "11-shot", "cosine", 0.5)]) == ""
