"""A space beside the best of what is had without training."""

import doctest

import pytest

from samekind.evaluation import Row, gains, start, verdict_in_words

OWN = Row("classification", "seen", "accuracy", "similarity", 0.8, 0.7, 0.9, "items")
RAW = "nearest raw input"
UNTRAINED = "logistic regression of untrained features"


def reference(value, *, measure="accuracy", items="seen", kind=RAW):
    return Row("reference", items, measure, kind, value)


@pytest.mark.parametrize(
    ("value", "verdict", "end"),
    [
        (0.6, "better", "beats 60.00% by nearest raw input: +20.00 points"),
        (
            0.7,
            "unsure",
            "does not surely beat 70.00% by nearest raw input: +10.00 points",
        ),
        (0.8, "not better", "does not beat 80.00% by nearest raw input: +0.00 points"),
        (0.95, "not better", "does not beat 95.00% by nearest raw input: -15.00 points"),
    ],
)
def test_a_gain_is_described_in_words(value, verdict, end):
    other = OWN._replace(kind="auxiliary", value=0.99, low=0.98)  # not the kind that the space answers by
    [gain] = gains([OWN, other, reference(value)])
    assert (gain.verdict, gain.sentence) == (verdict, f"accuracy, seen: 80.00% by similarity {end}")
    assert gain.points == pytest.approx(0.8 - value)


def test_the_best_of_the_references_counts():
    several = [reference(0.3), reference(0.75, kind=UNTRAINED), reference(0.5, kind="commonest class")]
    [gain] = gains([OWN, *several])
    assert gain.start == several[1]
    assert gain.sentence.endswith("does not surely beat 75.00% by logistic regression: +5.00 points")


def test_lower_errors_are_better():
    own = Row("verification", "unseen", "EER", "fitted", 0.1, 0.05, 0.15)
    rows = [
        reference(value, measure="EER", items="unseen", kind=f"{kind} of untrained features")
        for kind, value in {"cosine": 0.3, "centred cosine": 0.2}.items()
    ]
    [gain] = gains([own, *rows])
    assert (gain.start, gain.verdict, gain.points) == (rows[1], "better", pytest.approx(0.1))
    assert gains([own._replace(high=0.25), *rows])[0].verdict == "unsure"
    assert gains([own._replace(value=0.4), *rows])[0].verdict == "not better"
    assert gains([own._replace(value=0.0, low=None, high=None), *rows])[0].verdict == "better"


def test_a_perfect_score_cannot_be_beaten():
    perfect = OWN._replace(value=1.0, low=None, high=None)
    [gain] = gains([perfect, reference(1.0)])
    assert (gain.verdict, gain.sentence.rpartition(": ")[2]) == ("equal", "neither can be better")
    assert verdict_in_words([gain]) == "It is as good as its start, the raw input: neither can be better."


def test_a_reference_without_a_row_of_the_space_is_left_out():
    assert gains([OWN, reference(0.9, measure="Recall@1", items="unseen")]) == []
    assert verdict_in_words([]) == ""


def test_one_sentence_says_whether_training_paid():
    unseen = OWN._replace(items="unseen")
    rows = [OWN, unseen, reference(0.6, kind=UNTRAINED)]
    for value, said in (
        (0.6, "It beats its start, the untrained features, in 2 of 2 measures."),
        (
            0.75,
            "It beats its start, the untrained features, in 2 of 2 measures (1 within the interval).",
        ),
        (0.85, "It does not beat its start, the untrained features, in 1 of 2 measures."),
    ):
        compared = gains([*rows, reference(value, items="unseen", kind="commonest class")])
        assert verdict_in_words(compared) == said


def test_programs_get_both_rows_and_the_verdict():
    [gain] = gains([OWN, reference(0.6)])
    assert gain.to_json() == {
        "own": OWN._asdict(),
        "start": reference(0.6)._asdict(),
        "verdict": "better",
    }


def test_doctests():
    assert doctest.testmod(start).failed == 0
