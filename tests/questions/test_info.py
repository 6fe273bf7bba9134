"""What a space is made of."""

from samekind.questions import info


def test_lists_parts_classes_and_what_was_fitted(plane, threshold):
    plane.decisions = {"similarity": threshold(0.5)}
    answer = info(plane)
    content = answer.to_json()
    assert list(content) == [
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
    assert (content["parts"]["encoder"]["name"], content["parameters"]["encoder"]) == ("MLP", 6)
    assert "classes" not in content["parts"]["prototypes"]["arguments"]
    assert (answer.classes, content["decisions"]["similarity"]["threshold"]) == (("right", "up", "left"), 0.5)
    assert content["open set"] is None
