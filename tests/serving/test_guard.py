"""Requests that are foreign, too large or too slow are refused; every answer has its headers."""

import socket
import time

import pytest

from samekind.serving.guard import HEADERS


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "localhost.evil.example:80"},
        {"Host": ""},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_sites_and_names_are_refused(plain_client, headers):
    client = plain_client()
    answer = client.post("/compare", json={"vectors": [[1, 0], [1, 0]]}, headers=headers)
    assert answer.status_code == 403
    assert client.get("/classes", headers=headers).status_code == 403


def test_the_page_itself_and_programs_are_not(plain_client):
    client = plain_client()
    own = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    body = {"vectors": [[1, 0], [1, 0]]}
    assert client.post("/compare", json=body, headers=own).status_code == 200
    assert client.post("/compare", json=body).status_code == 200
    assert client.get("/health", headers={"Host": "localhost:1234"}).status_code == 200


def test_a_link_of_another_site_leads_to_the_page_alone(plain_client):
    client, link = plain_client(), {"Sec-Fetch-Site": "cross-site"}
    assert client.get("/", headers=link).status_code == 200
    assert client.get("/info", headers=link).status_code == 403


def test_any_name_is_answered_where_that_is_wanted(serve, saved_space):
    client = serve(saved_space, hosts=None)
    assert client.get("/health", headers={"Host": "gallery.example"}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/health", "/info", "/nowhere", "/openapi.json", "/page/nothing.js"])
def test_every_answer_has_the_headers(plain_client, path):
    answer = plain_client().get(path)
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert "access-control-allow-origin" not in answer.headers


def test_no_other_site_gets_permission_to_ask(plain_client):
    """CORS is off: the question whether a foreign page may ask is refused."""
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = plain_client().options("/compare", headers=asked)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_a_request_that_announces_too_much_is_refused_before_it_is_sent(plain_client):
    client = plain_client(bytes=1000)
    with socket.create_connection(("127.0.0.1", client.base_url.port), timeout=20) as sent:
        sent.sendall(
            b"POST /embed HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 5000000\r\n\r\n"
        )
        assert sent.recv(4096).startswith(b"HTTP/1.1 413")


def test_one_that_does_not_say_is_refused_where_it_exceeds(plain_client, plain_engine):
    client = plain_client(bytes=1000)

    def pieces():
        for _ in range(100):
            yield b" " * 100

    answer = client.post("/embed", content=pieces(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
    assert plain_engine.batches == []


def test_uploads_together_are_bounded(plain_client):
    client = plain_client(bytes=1000, bytes_at_once=50)
    answer = client.post("/embed", content=b" " * 100, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    # What was taken is given back.
    assert client.post("/compare", json={"vectors": [[1, 0], [1, 0]]}).status_code == 200


def test_a_slow_upload_is_given_up(plain_client):
    client = plain_client(upload_seconds=0.3)
    start = time.monotonic()
    with socket.create_connection(("127.0.0.1", client.base_url.port), timeout=20) as sent:
        sent.sendall(
            b"POST /embed HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 500\r\n\r\n{"
        )
        assert sent.recv(4096).startswith(b"HTTP/1.1 408")
    assert time.monotonic() - start < 10


def test_an_upload_that_is_cut_short_leaves_nothing(plain_client, plain_engine, caplog):
    client = plain_client()
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", client.base_url.port), timeout=20) as sent:
            sent.sendall(
                b"POST /embed HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 500\r\n\r\n"
                b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.npy"\r\n\r\nabc'
            )
    assert client.post("/compare", json={"vectors": [[1, 0], [1, 0]]}).status_code == 200
    assert plain_engine.batches == [2]
    assert caplog.records == []  # it is nothing that the server must tell
