"""Enrol, rename, delete and decide, over HTTP."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from samekind.serving.changing import class_name
from samekind.space import MetricSpace
from samekind.storage import sole_writer


@pytest.fixture
def client(serve, space_folder):
    return serve(space_folder)


def names(client):
    return [row["name"] for row in client.get("/classes").json()["classes"]]


def files(png, digit, count=3):
    return [("files", (f"{place}.png", png(digit, place))) for place in range(count)]


def test_an_enrolled_class_is_used_at_once(client, png):
    answer = client.post("/enroll", files=files(png, 7), data={"name": "seven"})
    assert answer.json()["done"] == "added"
    assert answer.json()["examples"] == 3
    named = client.post("/classify", files={"files": ("x.png", png(7, 1))}).json()["items"][0]
    assert named["class"] == "seven"
    assert {"name": "seven", "examples": 3, "enrolled": True} in client.get("/classes").json()["classes"]


def test_a_known_name_is_refused_unless_it_is_to_be_replaced(client, png):
    client.post("/enroll", files=files(png, 7), data={"name": "seven"})
    again = client.post("/enroll", files=files(png, 8), data={"name": "seven"})
    assert again.status_code == 409
    replaced = client.post("/enroll", files=files(png, 8, 1), data={"name": "seven", "replace": "true"})
    assert (replaced.json()["done"], replaced.json()["examples"]) == ("replaced", 1)


def test_sixteen_at_once_make_one_class(client, png):
    def enrol(_):
        return client.post("/enroll", files=files(png, 9, 2), data={"name": "nine"}).status_code

    with ThreadPoolExecutor(16) as pool:
        statuses = sorted(pool.map(enrol, range(16)))
    assert statuses == [200, *[409] * 15]
    assert names(client).count("nine") == 1


def test_classes_are_renamed_and_deleted(client, png):
    client.post("/enroll", files=files(png, 7), data={"name": "seven"})
    assert client.patch("/classes", json={"name": "seven", "to": "VII"}).status_code == 200
    assert client.patch("/classes", json={"name": "0", "to": "zero"}).status_code == 200
    assert client.request("DELETE", "/classes", json={"name": "3"}).status_code == 200
    assert sorted(names(client)) == ["1", "2", "VII", "zero"]
    assert client.patch("/classes", json={"name": "nobody", "to": "x"}).status_code == 404
    assert client.patch("/classes", json={"name": "1", "to": "2"}).status_code == 409
    assert client.request("DELETE", "/classes", json={"name": "nobody"}).status_code == 404


def test_the_saved_space_stays_as_it_is(client, space_folder, png):
    before = {path.name: path.read_bytes() for path in space_folder.iterdir()}
    client.post("/enroll", files=files(png, 7), data={"name": "seven"})
    client.patch("/classes", json={"name": "0", "to": "zero"})
    assert {path.name: path.read_bytes() for path in space_folder.iterdir()} == before


def test_a_threshold_is_saved_as_the_decision(serve, space_folder, gallery_folder, png):
    client = serve(space_folder, index=gallery_folder)
    client.post("/enroll", files=files(png, 7), data={"name": "seven"})
    answer = client.put("/decision", json={"threshold": 0.75})
    decision = answer.json()
    assert (decision["threshold"], decision["point"]) == (0.75, "threshold=0.75")
    saved = MetricSpace.load(space_folder)
    assert saved.decisions["similarity"].threshold == 0.75
    assert "seven" not in saved.classes  # it is among the enrolments
    first = {"first": ("a.png", png(5)), "second": ("b.png", png(5, 3))}
    assert client.post("/compare", files=first).json()["threshold"] == 0.75


@pytest.mark.parametrize("threshold", ["NaN", "1e999", "x", ""])
def test_no_threshold_is_not_a_number(client, threshold):
    assert client.put("/decision", data={"threshold": threshold}).status_code == 422


def test_what_happened_stands_in_the_audit_log(client, tmp_path, png):
    client.post("/enroll", files=files(png, 7, 1), data={"name": "seven"})
    client.post("/classify", files={"files": ("x.png", png(7, 0))})
    client.patch("/classes", json={"name": "seven", "to": "VII"})
    client.request("DELETE", "/classes", json={"name": "VII"})
    lines = [json.loads(line) for line in (tmp_path / "state" / "audit.jsonl").read_text().splitlines()]
    assert [line["what"] for line in lines] == ["enroll", "classify", "rename", "remove"]
    assert lines[1]["classes"] == ["seven"]
    assert {line["caller"] for line in lines} == {"127.0.0.1"}


def test_names_of_classes():
    assert class_name("  Mo\u0308we ") == "M\u00f6we"
    for wrong in ("", "  ", "a\nb", "x" * 201, "\ud800"):
        with pytest.raises(ValueError, match="named by"):
            class_name(wrong)


def test_a_second_server_on_one_folder_reads_and_does_not_write(serve, space_folder, png, tmp_path):
    """And it says so without the folders of the machine."""
    first, second = serve(space_folder), serve(space_folder)
    assert first.post("/enroll", files=files(png, 7), data={"name": "seven"}).status_code == 200
    refused = second.post("/enroll", files=files(png, 8), data={"name": "eight"})
    assert refused.status_code == 503
    assert "another server" in refused.json()["error"]
    assert str(tmp_path) not in refused.text
    assert names(second) == ["0", "1", "2", "3"]


def test_a_threshold_that_cannot_be_saved_is_not_used(serve, space_folder, gallery_folder, tmp_path):
    client = serve(space_folder, index=gallery_folder)
    before = client.get("/tradeoff").json()["decision"]
    with sole_writer(space_folder):
        refused = client.put("/decision", json={"threshold": 0.75})
    assert (refused.status_code, str(tmp_path) in refused.text) == (409, False)
    assert client.get("/tradeoff").json()["decision"] == before
