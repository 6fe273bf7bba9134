"""The section about thresholds: each rate beside its promise, and the broken ones in bold."""

from dataclasses import replace

import pytest

from samekind.evaluation import promise_row
from samekind.reports import System
from samekind.reports.measured import measure
from samekind.reports.promises_section import promises_section


@pytest.fixture
def systems(vectors, space_for):
    return {"<b>mine": System(space_for(vectors), [])}


def test_every_threshold_has_its_line_for_every_set(systems, vectors):
    sets = {"seen": measure(systems, vectors), "unseen": measure(systems, vectors)}
    section = promises_section(systems, sets)
    assert section.html.count("<tr>") == 2 + 4  # two heads; two kinds of score, two sets
    for kind, trials in sets["seen"].trials["<b>mine"].items():
        decision = systems["<b>mine"].space.decisions[kind]
        promised, measured, low, high, verdict = promise_row(decision, trials, name="seen").false_accepts
        assert f"<td>{100 * promised:.2f}</td>" in section.html
        assert f"<td>{100 * measured:.2f} ({100 * low:.1f}\u2013{100 * high:.1f})</td>" in section.html
        assert f"<td>{verdict.partition(',')[0]}</td>" in section.html
    assert "<b>mine" not in section.html
    assert "&lt;b&gt;mine" in section.html
    assert "It holds if the rate is at most 1.5 times the promise." in section.caption


def test_a_broken_promise_is_bold(systems, vectors):
    sets = {"seen": measure(systems, vectors)}
    assert "<b>" not in promises_section(systems, sets).html
    decisions = systems["<b>mine"].space.decisions
    # A threshold far below all scores accepts everything, though it promised to accept nothing wrongly.
    nothing = {"false_accepts": 0.0, "false_accept_interval": (0.0, 0.01)}
    decisions["cosine"] = replace(decisions["cosine"], threshold=-2.0, **nothing)
    assert promises_section(systems, sets).html.count("<b>does not hold</b>") == 1


def test_without_thresholds_or_without_both_kinds_of_pair_there_is_nothing_to_say(systems, vectors):
    assert promises_section(systems, {"seen": measure(systems, vectors.only(["2"]))}) is None
    systems["<b>mine"].space.decisions.clear()
    assert promises_section(systems, {"seen": measure(systems, vectors)}) is None
