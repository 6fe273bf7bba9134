"""The kind of score for each question."""

from typing import get_args

from samekind.decisions import Choices, Question


def test_every_question_has_its_own_choice():
    choices = Choices(pairs="normalised", neighbours="fitted", classes="cosine", measured_on="voices")
    assert [choices.of(question) for question in get_args(Question)] == ["normalised", "fitted", "cosine"]
