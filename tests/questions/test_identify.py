"""Which class: its probability and score, or none of these."""

import math
import sys

import pytest

from samekind.decisions import Balance
from samekind.inference import embed
from samekind.inference import identify as named_classes
from samekind.questions import enroll, identify
from samekind.questions.identify import NO_THRESHOLD


def test_names_the_nearest_class_and_warns_without_a_threshold(plane, at, progress):
    items = at([10, 80, 170])
    answer = identify(plane, items, progress=progress)
    assert [item.name for item in answer.items] == ["right", "up", "left"]
    assert (answer.threshold, answer.kind, answer.warnings) == (None, "similarity", (NO_THRESHOLD,))
    assert progress.titles == {"identify": [3, 3]}
    expected = named_classes(plane, embed(plane, items.inputs))
    assert answer.to_json() == {
        "items": [
            {"id": id, "class": name, "probability": probability, "score": score}
            for id, (name, probability, score) in zip(items.ids, expected, strict=True)
        ],
        "threshold": None,
        "kind": "similarity",
        "named by": "similarity",
        "skipped": items.skipped,
    }


def test_an_enrolled_class_is_weighed_with_its_bonus(plane, at):
    """At 50 degrees, nearer to up than to the new class at 5: with the bonus it is the new class."""
    enroll(plane, "new", at([0, 10]))
    asked = at([50])
    named = []
    for bonus in (0.0, 0.1):
        plane.balances = {"similarity": Balance(bonus, "made up")}
        [answer] = identify(plane, asked).items
        named.append(answer.name)
        assert answer.score == pytest.approx(math.cos(math.radians(40)))  # the bonus is no part of a score
    assert named == ["up", "new"]


def test_none_of_these_is_below_the_threshold_of_its_kind(plane, at, threshold):
    plane.open_set = threshold(0.9, kind="cosine")
    answer = identify(plane, at([10, 45, 265]))
    assert [item.name for item in answer.items] == ["right", None, None]
    assert [item.score for item in answer.items] == pytest.approx([0.985, 0.707, 0.087], abs=1e-3)
    assert (answer.threshold, answer.kind, answer.warnings) == (0.9, "cosine", ())


def test_the_most_probable_classes_are_kept_alone(plane, at, monkeypatch):
    """Of thousands of classes a few are listed, so no more are kept of every item."""
    items = at([3, 170, 80, 100, 45])
    expected = identify(plane, items, best=2)
    probabilities = plane.classify(items.inputs).probabilities
    for answer, row in zip(expected.items, probabilities, strict=True):
        values, places = row.topk(2)
        names = [plane.classes[place] for place in places.tolist()]
        assert answer.best == tuple(zip(names, values.tolist(), strict=True))
    asked, module = [], sys.modules["samekind.questions.identify"]
    in_batches = module.in_batches
    monkeypatch.setattr(module, "in_batches", lambda *given: asked.append(in_batches(*given)) or asked[-1])
    assert identify(plane, items, best=2) == expected
    assert [kept.shape for kept in asked] == [(5, 2, 2)]  # values and places of two classes
