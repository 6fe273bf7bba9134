"""Bodies of requests, good and bad."""

import pytest

from samekind.serving.uploads import label_of


def test_the_name_of_a_file_is_a_label_and_no_path(serve, points_folder):
    client = serve(points_folder)
    answer = client.post("/embed", files={"files": ("../../../etc/t.csv", b"a,b\n1,0\n")}).json()
    assert answer["items"][0]["id"].startswith("t.csv")
    assert (label_of("..\\..\\x.png"), label_of(None), label_of("a/")) == ("x.png", "file", "file")
    assert len(label_of("x" * 500 + ".png")) == 200


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[1]", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"x", "text/plain", 415),
        (b"x", "multipart/form-data", 400),
        (b"--y\r\n\r\n", "multipart/form-data; boundary=x", 400),
        (b"--x\r\nno header\r\n\r\n\r\n--x--", "multipart/form-data; boundary=x", 400),
        (b"a=1", "application/x-www-form-urlencoded", 422),
        (b'{"vectors": [[1, 0]], "k": 1}', "application/json", 422),
    ],
)
def test_a_body_that_cannot_be_read_is_a_sentence(plain_client, content, kind, status):
    answer = plain_client().post("/embed", content=content, headers={"Content-Type": kind})
    assert answer.status_code == status
    assert answer.json()["error"]


def test_too_many_files_or_settings(plain_client):
    client = plain_client(items=3)
    files = [("files", (f"{place}.npy", b"x")) for place in range(4)]
    assert client.post("/embed", files=files).status_code == 413
    assert client.post("/embed", json={"vectors": [[1, 0]] * 4}).status_code == 413
    fields = {f"f{place}": "x" for place in range(40)}
    assert client.post("/embed", files=files[:1], data=fields).status_code == 413
    assert client.post("/embed", files=files[:1], data={"name": "x" * 20_000}).status_code == 413


def test_settings_come_in_the_address_or_in_the_form(plain_client):
    client, body = plain_client(), {"vectors": [[1, 0], [1, 0]]}
    assert client.post("/compare?kind=mine", json=body).json()["kind"] == "mine"
    assert client.post("/compare", json={**body, "kind": "mine"}).json()["kind"] == "mine"
    assert client.post("/compare?prior=2", json=body).status_code == 422


def test_files_in_another_field_are_refused(plain_client):
    answer = plain_client().post("/embed", files={"file": ("a.npy", b"x")})
    assert answer.status_code == 422
    assert "file: unknown field" in answer.json()["error"]
