"""The routes that look at the space."""

import io

import pytest
from PIL import Image

from samekind.serving import looking


@pytest.fixture
def client(serve, saved_space, saved_gallery):
    return serve(saved_space, index=saved_gallery)


def test_says_what_the_space_is(client):
    answer = client.get("/info").json()
    assert (answer["medium"], answer["dimension"], answer["gallery"]) == ("pictures", 16, 60)
    assert (answer["classes"], answer["role"], answer["can_enroll"]) == (["0", "1", "2", "3"], "admin", True)
    assert (answer["tree"], answer["attention"], answer["kinds"]) == (False, False, ["similarity"])
    assert answer["limits"]["items"] == 64
    assert ".png" in answer["endings"]
    assert set(answer["decisions"]["similarity"]) >= {"threshold", "false_accepts", "false_accept_interval"}


def test_what_json_cannot_hold_is_null(plain_client):
    assert plain_client().get("/info").json()["score"] is None


def test_the_map_has_every_item_and_is_made_once(client, quick_maps, monkeypatch):
    answer = client.get("/map").json()
    assert {len(answer[column]) for column in ("ids", "x", "y", "label", "doubt")} == {60}
    assert answer["labels"] == [str(digit) for digit in range(10)]
    assert answer["labels"][answer["label"][59]] == "9"
    assert all(0 <= doubt <= 1 for doubt in answer["doubt"])
    monkeypatch.setattr("samekind.serving.torch_engine.gallery_map", None)
    assert client.get("/map").json() == answer


def test_a_map_that_takes_long_is_asked_for_again(plain_engine, plain_client, monkeypatch):
    monkeypatch.setattr(looking, "PATIENCE", 0.05)
    plain_engine.map = lambda: {"waited": plain_engine.proceed.wait(20)}
    plain_engine.proceed.clear()
    client = plain_client()
    answer = client.get("/map")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    plain_engine.proceed.set()
    monkeypatch.setattr(looking, "PATIENCE", 20)
    assert client.get("/map").json() == {"waited": True}


def test_a_map_that_failed_is_made_again(plain_engine, plain_client):
    client, answers = plain_client(), iter([ValueError("once"), None])

    def draw():
        if error := next(answers):
            raise error
        return {"ids": []}

    plain_engine.map = draw
    assert client.get("/map").status_code == 500
    assert client.get("/map").json() == {"ids": []}


def test_thumbnails_are_pictures(client):
    answer = client.get("/items/thumbnail", params={"id": "7/42"})
    assert answer.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(answer.content)).size == (8, 8)
    for id in ("no such item", "../../etc/passwd", "/etc/passwd", "\0"):
        assert client.get("/items/thumbnail", params={"id": id}).status_code == 404
    assert client.get("/items/thumbnail").status_code == 422


def test_the_tree_is_nested(client):
    answer = client.get("/tree").json()
    names, stack = [], [answer["nodes"]]
    while stack:
        node = stack.pop()
        stack += node["children"]
        names += [node["name"]] if not node["children"] else []
    assert (sorted(names), answer["known"]) == (["0", "1", "2", "3"], False)
    assert answer["newick"].endswith(";")


def test_the_trade_off_rises_and_falls(client):
    answer = client.get("/tradeoff").json()
    assert answer["thresholds"] == sorted(answer["thresholds"])
    assert answer["false_accepts"] == sorted(answer["false_accepts"], reverse=True)
    assert answer["false_rejects"] == sorted(answer["false_rejects"])
    assert answer["trials"]["same"] + answer["trials"]["different"] == 60 * 59 / 2
    assert "gallery" in answer["trials"]["sentence"]
    assert answer["decision"]["kind"] == "similarity"
    assert client.get("/tradeoff?kind=similarity").json() == answer
    assert client.get("/tradeoff?kind=fusde").status_code == 400


def test_missing_answers_are_reported_with_advice(serve, points_folder):
    client = serve(points_folder)
    for path, words in (("/measures", "samekind evaluate"), ("/map", "--index"), ("/tradeoff", "gallery")):
        answer = client.get(path)
        assert answer.status_code == 404
        assert words in answer.json()["error"]


def test_prometheus_counts(client, png):
    client.post("/classify", files={"files": ("a.png", png(1))})
    text = client.get("/metrics").text
    assert 'samekind_requests_total{route="/classify",status="200"} 1.0' in text
    assert "samekind_classes 4.0" in text
    assert "samekind_embedded_together_count 1.0" in text
