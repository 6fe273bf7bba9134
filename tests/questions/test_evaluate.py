"""Every question about sets, items and trials: rows, promises and warnings."""

from samekind import evaluation
from samekind.questions.evaluate import EvaluationSettings, evaluate_items, row_warnings

SETTINGS = EvaluationSettings(tasks=2, way=2, shots=(1,), ranks=(1, 500))
POINTS = ([0, 10, 20, 80, 90, 100], ["right"] * 3 + ["up"] * 3)


def test_items_get_every_row_with_its_note(plane, items_at):
    items = items_at(*POINTS)
    answer = evaluate_items(plane, items, SETTINGS, name="plane", note="of the page")
    expected = evaluation.evaluate(plane, {"points": items}, tasks=2, way=2, shots=(1,), ranks=(1, 500))
    assert [row._replace(note="") for row in answer.rows] == expected
    assert {row.note for row in answer.rows} == {"of the page"}
    assert answer.warnings == (*row_warnings(expected), *evaluation.left_out(expected, (1, 500)))
    assert any("Recall@500" in sentence for sentence in answer.warnings)
    assert answer.to_json() == {
        "systems": {"plane": [row._asdict() for row in answer.rows]},
        "warnings": {"plane": answer.warnings},
        "promises": [],
    }


def test_promises_can_be_left_out(plane, items_at, threshold):
    plane.decisions = {"similarity": threshold(0.5)}
    items = items_at(*POINTS)
    for settings, count in ((SETTINGS, 1), (EvaluationSettings(tasks=2, way=2, promises=False), 0)):
        assert len(evaluate_items(plane, items, settings, name="plane").promises) == count
