"""Thresholds and temperatures as people read them."""

from samekind.cli.thresholds import AT_BOUND, PLAIN, print_temperatures, rate_with_interval, thresholds_table
from samekind.decisions import Decision, Temperature


def test_a_rate_comes_with_its_interval():
    assert rate_with_interval(0.013, (0.009, 0.018)) == "1.30% (0.90 to 1.80)"
    assert rate_with_interval(0.0, None) == "0.00%"


def test_a_line_for_each_decision():
    decision = Decision("cosine", 0.5, "far=0.01", "made up", 0.01, 0.25, None, (0.0, 0.02), None)
    table = thresholds_table({"cosine": decision})
    cells = [next(iter(column.cells)) for column in table.columns]
    assert cells == ["cosine", "0.5000", "far=0.01", "1.00% (0.00 to 2.00)", "25.00%"]


def test_every_head_has_its_line_and_a_bound_its_warning(capsys):
    print_temperatures(
        {"similarity": Temperature(0.51234, "x", 1234), "fused": Temperature(2e3, "x", 40, True)}
    )
    content = capsys.readouterr()
    assert [line.split() for line in content.out.splitlines()[-2:]] == [
        ["similarity", "0.5123", "1,234"],
        ["fused", "2000", "40"],
    ]
    assert content.err == AT_BOUND.format(head="fused") + "\n"


def test_missing_temperatures_are_reported(capsys):
    print_temperatures({})
    assert capsys.readouterr().out == f"\n{PLAIN}\n"
