"""What a space is made of."""

from samekind.questions import info


def test_lists_parts_classes_and_what_was_fitted(plane, threshold):
    plane.decisions = {"similarity": threshold(0.5)}
    answer = info(plane)
    told = answer.to_json()
    assert list(told) == [
        "parts",
        "parameters",
        "classes",
        "decisions",
        "open set",
        "temperatures",
        "standings",
        "choices",
        "balances",
        "enrolled",
        "ladder",
    ]
    assert (told["parts"]["encoder"]["name"], told["parameters"]["encoder"]) == ("MLP", 6)
    assert "classes" not in told["parts"]["prototypes"]["arguments"]
    assert (answer.classes, told["decisions"]["similarity"]["threshold"]) == (("right", "up", "left"), 0.5)
    assert told["open set"] is None
