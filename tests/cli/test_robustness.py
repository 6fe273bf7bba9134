"""samekind robustness: a page, a short table, JSON."""

import json


def test_a_page_and_a_table(samekind, trained, tmp_path):
    page = tmp_path / "page.html"
    answer = samekind(
        "robustness", trained, "--to", page, "--eps", "8/255,32/255", "--steps", 3, "--limit", 16,
        "--ask", "class,neighbour",
    )  # fmt: skip
    assert answer.status == 0, answer.err
    assert "attacks on 16 items take about " in answer.err
    assert "attacking: class, similarity in Voronoi cells" in answer.err
    assert "Recall@1" in answer.out
    assert f"The page is in {page}" in answer.out
    assert "Were the attacks sound?" in page.read_text(encoding="utf-8")


def test_json(samekind, trained, tmp_path):
    answer = samekind(
        "robustness", trained, "--to", tmp_path / "page.html", "--eps", "0.1", "--steps", 3, "--limit", 10,
        "--ask", "class", "--no-cells", "--json",
    )  # fmt: skip
    assert answer.status == 0, answer.err
    content = json.loads(answer.out)
    assert [curve["kind"] for curve in content["curves"]] == ["similarity", "auxiliary", "fused"]
    assert content["page"].endswith("page.html")


def test_an_unknown_question_is_named(samekind, trained):
    answer = samekind("robustness", trained, "--ask", "classes")
    assert answer.status == 2
    assert '--ask: there is no "classes"' in answer.err
