"""The server as a process: what it acknowledged survives kill -9, and it says no secret."""

import signal
import socket
import threading

import httpx
import pytest

from samekind.errors import SettingError
from samekind.serving.running import is_loopback, listening
from samekind.serving.tokens import Tokens


def test_no_enrolment_is_lost_by_kill_9(program, space_folder, png):
    server = program(space_folder)
    acknowledged, address = [], server.client.base_url

    def enrol(worker):
        with httpx.Client(base_url=address, timeout=60) as client:
            for number in range(1000):
                name = f"{worker}-{number}"
                try:
                    answer = client.post(
                        "/enroll", files={"files": ("a.png", png(7, number % 20))}, data={"name": name}
                    )
                except httpx.HTTPError:
                    return
                if answer.status_code == 200:
                    acknowledged.append(name)

    threads = [threading.Thread(target=enrol, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    while len(acknowledged) < 30:
        assert any(thread.is_alive() for thread in threads)
    server.end(signal.SIGKILL)
    for thread in threads:
        thread.join()
    again = program(space_folder)
    rows = again.client.get("/classes").json()["classes"]
    names = [row["name"] for row in rows]
    assert set(acknowledged) <= set(names)
    assert len(names) == len(set(names))
    # At most what each worker was about to hear of is there beyond that.
    assert len(names) <= 4 + len(acknowledged) + 4
    assert (
        again.client.post("/enroll", files={"files": ("a.png", png(7))}, data={"name": "x"}).status_code
        == 200
    )
    log = (space_folder.with_name("drawn-serving") / "audit.jsonl").read_text()
    assert log.count("\n") >= len(acknowledged)


def test_secrets_are_not_in_the_logs(program, space_folder, tmp_path, png):
    token = Tokens(tmp_path / "state" / "tokens.json").new("anna", "enrol")
    server = program(space_folder, "--tokens", "--state", tmp_path / "state")
    server.client.headers["Authorization"] = f"Bearer {token}"
    assert (
        server.client.post("/enroll", files={"files": ("a.png", png(7))}, data={"name": "x"}).status_code
        == 200
    )
    server.client.get(f"/nowhere?token={token}")
    server.client.get("/info", headers={"Authorization": f"Bearer {token}wrong"})
    server.client.post("/enroll", files={"files": ("a.png", b"broken")}, data={"name": token})
    said = server.end()
    assert token not in said
    written = [path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert not any(token.encode() in content for content in written)
    audit = (tmp_path / "state" / "audit.jsonl").read_text()
    assert '"caller": "anna"' in audit


def test_only_this_machine_is_loopback():
    assert [is_loopback(host) for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "192.168.1.5", "::", "example.org")] == [False] * 4


def test_a_port_in_use_is_reported():
    first = listening("127.0.0.1", 0)
    assert first.proto == socket.IPPROTO_TCP  # else every answer waits for 40 ms
    with pytest.raises(SettingError, match="choose another --port"):
        listening("127.0.0.1", first.getsockname()[1])
    first.close()
