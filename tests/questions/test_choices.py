"""The kinds of score that a space answers by, in words."""

from samekind.decisions import Choices, Ladder, Rung, Standing
from samekind.questions.choices import choices_in_words, ladder_in_words

OWN = Standing(0.25, 0.5, "voices", named=0.4)
COSINE = Standing(0.0, 0.75, "voices", (0.1, 0.4), (0.05, 0.45), 0.4, (-0.1, 0.1))
FUSED = Standing(0.1, 1.0, "voices", (0.05, 0.25), (0.3, 0.7), 0.6, (0.1, 0.3))


def test_each_question_with_another_score_has_a_sentence(plane):
    plane.standings = {"similarity": OWN, "cosine": COSINE, "fused": FUSED}
    plane.choices = Choices("cosine", "fused", "fused", "voices")
    assert choices_in_words(plane) == (
        "pairs are compared by the cosine: the equal error on voices is 0.00%, against 25.00% by the own "
        "similarity",
        "neighbours are found by the fused score: on voices the most alike item is of the same class for "
        "100.0%, against 50.0% by the own similarity",
        "classes are named by the fused score: on voices 60.0% are named rightly, against 40.0% by the own "
        "similarity",
    )


def test_the_own_similarity_is_said_once_and_no_choice_not_at_all(plane):
    assert choices_in_words(plane) == ()
    plane.choices = Choices("similarity", "similarity", "similarity", "voices")
    [sentence] = choices_in_words(plane)
    assert sentence.startswith("every question is answered by the space's own similarity")


def test_a_choice_that_was_measured_elsewhere_is_named_without_figures(plane):
    plane.choices = Choices("normalised", "similarity", "similarity", "3 folds of 5 classes")
    plane.standings = {"similarity": OWN, "normalised": COSINE}
    assert choices_in_words(plane) == (
        "pairs are compared by the normalised score, chosen on 3 folds of 5 classes",
    )


def test_choices_of_one_score_that_were_measured_elsewhere_are_one_sentence(plane):
    plane.choices = Choices("fitted", "fitted", "fitted", "3 folds of 5 classes")
    assert choices_in_words(plane) == (
        "pairs are compared, neighbours found and classes named by the fitted similarity, chosen on 3 folds "
        "of 5 classes",
    )
    plane.choices = Choices("normalised", "fitted", "normalised", "3 folds of 5 classes")
    assert choices_in_words(plane) == (
        "pairs are compared and classes named by the normalised score, chosen on 3 folds of 5 classes",
        "neighbours are found by the fitted similarity, chosen on 3 folds of 5 classes",
    )


def test_a_ladder_has_a_line_for_each_rung():
    rungs = (
        Rung("untrained features", 0.5, 0.25, "cosine", "cosine", 1.5),
        Rung("fitted similarity", 0.6, 0.2, "fitted", "normalised", 2.0, (0.55, 0.65), (0.15, 0.25)),
    )
    assert ladder_in_words(Ladder(rungs, "fitted similarity", "3 folds of 5 classes")) == (
        "untrained features: Recall@1 50.0% (cosine), EER 25.0% (cosine), 2 s",
        "fitted similarity: Recall@1 60.0% (fitted), EER 20.0% (normalised), 2 s; kept",
    )
    assert ladder_in_words(None) == ()
