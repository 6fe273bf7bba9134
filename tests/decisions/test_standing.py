"""How a kind of score compares with the own: better only if the whole interval is."""

from dataclasses import replace

import pytest

from samekind.decisions import Standing

OTHER = Standing(0.05, 0.75, "voices, validation", (0.1, 0.3), (0.05, 0.45))


@pytest.mark.parametrize(
    ("gain", "better"), [((0.01, 0.2), True), ((0.0, 0.2), False), ((-0.1, 0.2), False), (None, False)]
)
def test_it_is_better_where_the_whole_interval_is(gain, better):
    assert replace(OTHER, error_gain=gain).errs_less == better
    assert replace(OTHER, recall_gain=gain).finds_more == better
    assert replace(OTHER, named_gain=gain).names_more == better
