"""What people are told of temperatures."""

from samekind.cli.temperatures import AT_BOUND, PLAIN, print_temperatures
from samekind.space import Temperature


def test_every_head_has_its_line_and_a_bound_its_warning(capsys):
    print_temperatures(
        {"similarity": Temperature(0.51234, "x", 1234), "fused": Temperature(2e3, "x", 40, True)}
    )
    told = capsys.readouterr()
    assert [line.split() for line in told.out.splitlines()[-2:]] == [
        ["similarity", "0.5123", "1,234"],
        ["fused", "2000", "40"],
    ]
    assert told.err == AT_BOUND.format(head="fused") + "\n"


def test_where_there_is_none_that_is_said(capsys):
    print_temperatures({})
    assert capsys.readouterr().out == f"\n{PLAIN}\n"
