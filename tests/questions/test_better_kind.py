"""The hint at a better kind of score: given if another did clearly better, and not otherwise."""

import pytest

from samekind.decisions import Standing
from samekind.questions.better_kind import better_kind

OWN = Standing(0.25, 0.5, "voices, validation")
COSINE = Standing(0.0, 0.75, "voices, validation", (0.1, 0.4), (0.05, 0.45))
FUSED = Standing(0.1, 1.0, "voices, validation", (0.05, 0.25), (0.3, 0.7))

ERRS_LESS = (
    "by the cosine this space erred less on voices, validation: on 0.00% of pairs, against 25.00% by its own "
    "similarity (equal error)"
)
FINDS_MORE = (
    "by the fused score this space found more on voices, validation: the most alike item was of the same "
    "class for 100.0%, against 50.0% by its own similarity"
)


def test_pairs_and_neighbours_have_a_best_score_each(plane):
    plane.standings = {"similarity": OWN, "cosine": COSINE, "fused": FUSED}
    assert better_kind(plane, to="compare") == ("cosine", ERRS_LESS)
    assert better_kind(plane, to="search") == ("fused", FINDS_MORE)


@pytest.mark.parametrize(
    "standings",
    [
        {},
        {"similarity": OWN},
        {"similarity": OWN, "cosine": Standing(0.0, 1.0, "few", None, None)},
        {"similarity": OWN, "cosine": Standing(0.1, 0.9, "few", (-0.1, 0.4), (0.0, 0.8))},
        {"similarity": OWN, "cosine": Standing(0.245, 0.505, "many", (0.004, 0.006), (0.004, 0.006))},
    ],
)
def test_chance_and_small_gains_give_no_hint(plane, standings):
    plane.standings = standings
    assert better_kind(plane, to="compare") is None
    assert better_kind(plane, to="search") is None
