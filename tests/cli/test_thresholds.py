"""Thresholds as people read them."""

from samekind.cli.thresholds import rate_with_interval, thresholds_table
from samekind.space import Decision


def test_a_rate_says_between_what_it_lies():
    assert rate_with_interval(0.013, (0.009, 0.018)) == "1.30% (0.90 to 1.80)"
    assert rate_with_interval(0.0, None) == "0.00%"


def test_a_line_for_each_decision():
    decision = Decision("cosine", 0.5, "far=0.01", "made up", 0.01, 0.25, None, (0.0, 0.02), None)
    made = thresholds_table({"cosine": decision})
    cells = [next(iter(column.cells)) for column in made.columns]
    assert cells == ["cosine", "0.5000", "far=0.01", "1.00% (0.00 to 2.00)", "25.00%"]
