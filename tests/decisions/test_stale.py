"""The warning about a threshold that was fitted for other classes."""

import pytest

from samekind.decisions import Decision, stale_threshold


@pytest.mark.parametrize(("done", "why"), [("added", True), ("replaced", False), ("removed", False)])
def test_names_the_class_and_what_it_was_fitted_on(done, why):
    decision = Decision("cosine", 0.5, "eer", "60 trials", 0.1, 0.1)
    sentence = stale_threshold(decision, "Ada", done)
    assert f'the class "Ada" was {done}, on 60 trials' in sentence
    assert ("turn away the unknown items" in sentence) == why


def test_of_many_classes_at_once_it_says_how_many():
    decision = Decision("cosine", 0.5, "eer", "60 trials", 0.1, 0.1)
    assert "was fitted before 5,000 classes were added, on" in stale_threshold(
        decision, "Ada", "added", classes=5000
    )
