"""samekind representation: a table, a picture, JSON."""

import json


def test_a_table_and_a_picture(samekind, trained, tmp_path):
    picture = tmp_path / "spaces.png"
    answer = samekind("representation", trained, trained, trained, "--limit", 40, "--plot", picture)
    assert answer.status == 0, answer.err
    assert "MC l2" in answer.out
    assert "input, linf" in answer.out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_json_has_every_space(samekind, trained):
    answer = samekind("representation", trained, "--limit", 40, "--power", 1, "--json")
    content = json.loads(answer.out)
    assert content["power"] == 1
    assert content["spaces"][0]["trained against"] == "none"
    assert 0 <= content["spaces"][0]["R2"] <= 1


def test_budgets_of_one_size_are_refused(samekind, trained, tmp_path):
    answer = samekind("representation", trained, trained, "--limit", 40, "--budgets", tmp_path / "none.png")
    assert answer.status != 0
    assert "two budgets of one norm" in answer.err
