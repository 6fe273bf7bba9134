"""samekind shift: a table of corruptions, JSON of other items."""

import json


def test_a_table_of_corruptions(samekind, trained):
    answer = samekind("shift", trained, "--corruptions", "contrast", "--severities", "1,5", "--limit", 40)
    assert answer.status == 0, answer.err
    assert "contrast 5" in answer.out
    assert "thresholds" in answer.out
    assert "careful: contrast 5, by " in answer.err  # whose threshold it is


def test_json_of_other_items(samekind, trained):
    answer = samekind("shift", trained, "digits", "--limit", 40, "--json")
    assert answer.status == 0, answer.err
    [one] = json.loads(answer.out)["sets"]
    assert one["name"] == "digits"
    assert {gap["head"] for gap in one["gaps"]} >= {"similarity"}


def test_a_wrong_severity_is_explained(samekind, trained):
    answer = samekind("shift", trained, "--severities", "mild")
    assert answer.status == 2
    assert "1,3,5" in answer.err
