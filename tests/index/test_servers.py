"""What can go wrong between an index and its server, with real servers of both kinds.

Nothing that was told to be added is lost: not when the client is killed, not when the server is, not when
others add at the same time. What the server cannot do is said in a sentence.
"""

import json
import subprocess
import sys

import pytest
import torch

from samekind import index
from samekind.errors import IndexServerError, SettingError, SpaceError
from samekind.index.server import ADDRESS_VARIABLE

pytestmark = pytest.mark.servers
VECTORS = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])

#: Another process. For every line it gets it joins an index, waits for a second line, and adds its own ids in
#: batches and then, one by one, ids that others add too; it tells what it did.
CLIENT = """
import json, sys, torch
from samekind import index
from samekind.errors import SettingError

for line in sys.stdin:
    job = json.loads(line)
    joined = getattr(index, job["kind"])(2, url=job["url"], name=job["name"], score="dot")
    print("ready", flush=True)
    sys.stdin.readline()
    for batch in range(job["batches"]):
        joined.add([f"{job['who']} {batch} {number}" for number in range(20)], torch.ones(20, 2))
        print("added", batch, flush=True)
    for number in range(job["contested"]):
        try:
            joined.add([f"both {number}"], torch.ones(1, 2), [{"by": job["who"]}])
            print("won", number, flush=True)
        except SettingError as error:
            assert "already there" in str(error), error
            print("lost", number, flush=True)
    joined.close()
    print("done", flush=True)
"""


@pytest.fixture(params=["Postgres", "Milvus"])
def kind(request):
    return request.param


@pytest.fixture
def server(kind, request):
    return request.getfixturevalue(f"{kind.lower()}_server")


@pytest.fixture
def make(kind, request):
    return request.getfixturevalue(f"make_{kind.lower()}")


@pytest.fixture
def filled(make):
    index = make(2, score="dot")
    index.add(["a", "b", "c"], VECTORS, [{"label": "first"}, {}, {}])
    return index


@pytest.fixture(scope="module")
def processes():
    """Processes that are not busy; starting one takes seconds, so it serves again."""
    started, free = [], []

    def take():
        if not free:
            started.append(
                subprocess.Popen(
                    [sys.executable, "-c", CLIENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            free.append(started[-1])
        return free.pop()

    yield take, free.append
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def clients(kind, server, processes):
    """Gives a function that has so many other clients join an index, and then lets them all go at once."""
    take, _ = processes

    def let_go(name, *names, batches, contested=0):
        job = {"kind": kind, "url": server.url, "name": name, "batches": batches, "contested": contested}
        busy = [take() for _ in names]
        for process, who in zip(busy, names, strict=True):
            say(process, json.dumps({**job, "who": who}))
        for process in busy:
            assert process.stdout.readline() == "ready\n"
        for process in busy:
            say(process, "go")
        return busy

    return let_go


def say(process, line):
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


#: Uses an index, and is forked while its connection is open: both go on at once, and one ends first.
FORKED = """
import os, sys, torch
from samekind import index

kind, url, name = sys.argv[1:]
joined = getattr(index, kind)(2, url=url, name=name, score="dot")
joined.add(["before"], torch.ones(1, 2))
child = os.fork()
for number in range(20):
    joined.add([f"{'parent' if child else 'child'} {number}"], torch.ones(1, 2))
    assert joined.search(torch.ones(1, 2), 1).ids == [["before"]]
if child:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    joined.add(["after"], torch.ones(1, 2))
joined.close()
"""


def test_a_forked_process_has_a_connection_of_its_own(make, kind, server):
    """A regression: both used one socket, and got each other's answers."""
    index = make(2, score="dot")
    command = [sys.executable, "-c", FORKED, kind, server.url, index.name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    expected = {f"{who} {number}" for who in ("parent", "child") for number in range(20)}
    assert set(index) == expected | {"before", "after"}


#: Where number kind asks its server.
ASKS = {"Postgres": ("_connection", "read"), "Milvus": ("_collection", "_ask")}


def test_metadata_of_many_ids_is_one_query(make, kind, monkeypatch):
    index = make(2, score="dot")
    ids = [f"item {place}" for place in range(50)]
    index.add(ids, torch.ones(50, 2), [{"place": place} for place in range(50)])
    part, name = ASKS[kind]
    asks, asked = getattr(getattr(index, part), name), []
    monkeypatch.setattr(getattr(index, part), name, lambda question: asked.append(question) or asks(question))
    assert index.metadata(ids[::-1]) == [{"place": place} for place in reversed(range(50))]
    assert len(asked) == 1


def test_two_clients_that_add_at_once_lose_nothing(make, clients, processes):
    index = make(2, score="dot")
    told = {}
    for who, process in zip(
        ("one", "two"), clients(index.name, "one", "two", batches=3, contested=6), strict=True
    ):
        told[who] = list(iter(process.stdout.readline, "done\n"))
        processes[1](process)
    expected = {f"{who} {batch} {number}" for who in told for batch in range(3) for number in range(20)}
    for number in range(6):
        won = [who for who, lines in told.items() if f"won {number}\n" in lines]
        assert len(won) == 1, f"{number}: {told}"
        assert index.metadata([f"both {number}"]) == [{"by": won[0]}]
        expected.add(f"both {number}")
    assert sorted(index) == sorted(expected)
    assert len(index) == len(expected)


def test_additions_of_a_killed_client_are_there(make, clients):
    index = make(2, score="dot")
    [process] = clients(index.name, "killed", batches=1000)
    told = [process.stdout.readline() for _ in range(5)]
    process.kill()
    told += process.stdout.readlines()
    assert told[0] == "added 0\n"
    held = set(index)
    assert held >= {f"killed {batch} {number}" for batch in range(len(told)) for number in range(20)}
    assert len(index) == len(held) == len(index.vectors())
    # The addition that was under way is there as a whole, or not at all.
    assert len(held) % 20 == 0


def test_a_server_that_went_away_is_reported_and_works_when_it_is_back(filled, server, tmp_path):
    folder = tmp_path / "index"
    filled.save(folder)
    filled.add(["d"], VECTORS[:1])
    server.kill()
    try:
        for mistake in (
            lambda: len(filled),
            lambda: filled.search(VECTORS, 2),
            lambda: filled.add(["e"], VECTORS[:1]),
            lambda: filled.remove(["a"]),
            lambda: index.open_index(folder),
        ):
            with pytest.raises(IndexServerError, match="does not answer"):
                mistake()
    finally:
        server.start()
    assert list(filled) == ["a", "b", "c", "d"]  # it was killed: nothing was flushed by going
    filled.add(["e"], VECTORS[2:])
    assert filled.search(torch.tensor([[2.0, 1.0]]), 2).ids == [["c", "e"]]
    assert list(index.open_index(folder)) == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("dimension", "score", "fingerprint", "says"),
    [
        (3, "dot", "", "holds vectors of dimension 2, not 3"),
        (2, "cosine", "", "made for the score dot, not cosine"),
        (2, "dot", "this space", "made with another space"),
    ],
)
def test_refuses_a_client_of_another_space_or_dimension(filled, kind, dimension, score, fingerprint, says):
    with pytest.raises(SpaceError, match=says):
        getattr(index, kind)(
            dimension, url=filled.url, name=filled.name, score=score, fingerprint=fingerprint
        )
    assert len(filled) == 3


def test_a_dropped_index_is_reported(make, kind, tmp_path):
    """By the client that still holds it, and by one that finds the folder; another index takes the name."""
    held = make.backend(2, url=make.url, name="dropped", score="dot", fingerprint="old")
    held.save(tmp_path / "index")
    other = index.open_index(tmp_path / "index")
    held.drop()
    for mistake in (lambda: other.add(["a"], VECTORS[:1]), lambda: other.search(VECTORS, 1)):
        with pytest.raises(SpaceError, match=r"no longer (there|on the)"):
            mistake()
    with pytest.raises(SpaceError, match="is not there; it was dropped"):
        index.open_index(tmp_path / "index")
    new = make.backend(2, url=make.url, name="dropped", score="dot", fingerprint="new")
    for mistake in (
        lambda: other.add(["a"], VECTORS[:1]),
        lambda: other.search(VECTORS, 1),
        lambda: other.search(VECTORS, 1, scorer=torch.matmul),
        lambda: index.open_index(tmp_path / "index"),
    ):
        with pytest.raises(SpaceError, match="made with another space"):
            mistake()
    new.drop()


def with_password(url):
    """The address of a test server with a password, which it does not check."""
    return url.replace("//", "//root:hunter2@") if url.startswith("http") else url.replace(":@", ":hunter2@")


def test_the_password_is_written_nowhere(make, filled, server, kind, tmp_path, monkeypatch):
    url = with_password(server.url)
    assert "hunter2" in url
    held = getattr(index, kind)(2, url=url, name=filled.name, score="dot")
    held.save(tmp_path / "index")
    assert "hunter2" not in held.url
    written = b"".join(path.read_bytes() for path in (tmp_path / "index").iterdir() if path.is_file())
    assert b"hunter2" not in written
    assert filled.name.encode() in written
    monkeypatch.setenv(ADDRESS_VARIABLE, url)
    assert list(index.open_index(tmp_path / "index")) == ["a", "b", "c"]
    nowhere = (
        "http://anna:hunter2@127.0.0.1:9"
        if kind == "Milvus"
        else f"postgresql://anna:hunter2@/x?host={tmp_path}"
    )
    monkeypatch.setenv(ADDRESS_VARIABLE, nowhere)
    with pytest.raises(IndexServerError, match="does not answer") as caught:
        index.open_index(tmp_path / "index")
    assert "anna" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "id",
    [
        'a" or id != "',
        "' OR 1=1 --",
        "a\\",
        '\\" or place > "',
        "%s {table} $1",
        "\u2028\n\t\x01\x7f",
        "😀é",
        "é" * 1000,
        "]",
    ],
)
def test_no_id_is_read_as_an_expression(filled, id):
    assert id not in filled
    with pytest.raises(SettingError, match="there is no id"):
        filled.remove([id])
    filled.add([id], VECTORS[:1], [{id: id}])
    assert id in filled
    assert filled.metadata([id]) == [{id: id}]
    assert filled.vectors([id]).tolist() == [[1, 0]]
    filled.remove([id])
    assert list(filled) == ["a", "b", "c"]


def test_an_impossible_id_is_unknown(filled):
    assert not any(id in filled for id in ["", "\0", "\ud800", 1, None])
    for mistake in (
        lambda: filled.metadata(["\0"]),
        lambda: filled.remove(["\0"]),
        lambda: filled.vectors(["\0"]),
    ):
        with pytest.raises(SettingError, match="there is no id"):
            mistake()
    with pytest.raises(SettingError, match="a server cannot store"):
        filled.add(["\ud800"], VECTORS[:1])
    with pytest.raises(SettingError, match="cannot be the name"):
        type(filled)(2, url=filled.url, name='x"; drop table samekind')


def test_a_vector_of_zeros_has_the_cosine_zero(make):
    stored = make(2)
    exact = index.Exact(2)
    for one in (stored, exact):
        one.add(["zero", "a", "b"], torch.tensor([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]))
    queries = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    answer, expected = stored.search(queries, 3), exact.search(queries, 3)
    assert answer.ids == expected.ids
    torch.testing.assert_close(answer.scores, expected.scores)


def test_notes_of_one_client_are_read_by_the_next(filled, kind, tmp_path):
    filled.notes["shortlist"] = {"size": 40, "name": 'é"\\'}
    filled.save(tmp_path / "index")
    joined = getattr(index, kind)(2, url=filled.url, name=filled.name, score="dot")
    assert joined.notes == {"shortlist": {"size": 40, "name": 'é"\\'}}
