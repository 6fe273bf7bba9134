"""samekind certify: a table, a picture, JSON."""

import json

import pytest


def test_a_table_and_a_picture(samekind, trained, tmp_path):
    picture = tmp_path / "curve.png"
    answer = samekind("certify", trained, "--sigma", "64/255", "--draws", 20, "--limit", 8, "--plot", picture)
    assert answer.status == 0, answer.err
    assert "certified accuracy at 0 " in answer.out
    assert "without a sure answer" in answer.err
    assert "no radius can be above 0.137 with 20 draws" in answer.err
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_json_has_the_curve(samekind, trained):
    answer = samekind("certify", trained, "--draws", 20, "--limit", 8, "--head", "auxiliary", "--json")
    content = json.loads(answer.out)
    assert (content["items"], content["sigma"], content["head"]) == (8, 0.25, "auxiliary")
    assert len(content["points"]) == 7
    assert content["largest possible radius"] == pytest.approx(0.1369, abs=1e-4)


def test_a_wrong_sigma_is_explained(samekind, trained):
    answer = samekind("certify", trained, "--sigma", "none")
    assert answer.status == 2
    assert "8/255" in answer.err
