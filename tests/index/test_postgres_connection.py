"""The connection to PostgreSQL: what it says, what it never says, and how it comes back."""

import sys
import threading

import pytest

from samekind.errors import IndexServerError, SettingError, SpaceError
from samekind.index.postgres_connection import ATTEMPTS, Connection

psycopg = pytest.importorskip("psycopg", reason="needs psycopg")


@pytest.fixture
def connection(postgres_server):
    connection = Connection(postgres_server.url)
    yield connection
    connection.close()


@pytest.mark.parametrize(
    "url", ["postgresql://anna:hun%ter2@host/x", "host=a hunter2", "postgresql://anna:hunter2@[/"]
)
def test_refuses_a_bad_address_without_quoting_it(url):
    with pytest.raises(SettingError, match="expected postgresql://user@host/database") as caught:
        Connection(url)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert "ter2" not in str(caught.value)


def test_the_password_is_not_in_what_is_shown():
    held = Connection("postgresql://anna:hunter2@localhost:1/faces?sslpassword=hunter3")
    assert held.shown == "user=anna dbname=faces host=localhost port=1"


def test_a_missing_server_is_reported_without_the_password(tmp_path):
    held = Connection(f"postgresql://anna:hunter2@/faces?host={tmp_path}")
    with pytest.raises(
        IndexServerError, match=r"does not answer .*start it, or put the address right"
    ) as caught:
        held.read(lambda it: None)
    assert "hunter2" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_message_of_the_server_is_one_line_without_the_password():
    held = Connection("postgresql://anna:hunter2@localhost/faces")
    assert held._reason(ValueError("no\n\thunter2 here")) == "no *** here"
    assert len(held._reason(ValueError("x" * 1000))) == 300


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SettingError, match=r"needs psycopg and pgvector: pip install 'samekind\[postgres\]'"):
        Connection("postgresql://localhost/faces")


@pytest.mark.servers
def test_work_is_all_or_nothing(connection):
    def half(it):
        it.execute("CREATE TABLE half (x int)")
        raise SettingError("and no further")

    with pytest.raises(SettingError, match="and no further"):
        connection.write(half)
    assert connection.read(lambda it: it.execute("SELECT to_regclass('half')").fetchone()) == (None,)


@pytest.mark.servers
def test_a_server_that_answers_too_early_is_set_to_wait_for_its_disk(postgres_server):
    hasty = Connection(f"{postgres_server.url}&options=-c%20synchronous_commit%3Doff")
    assert hasty.read(lambda it: it.execute("SHOW synchronous_commit").fetchone()) == ("on",)
    careful = Connection(f"{postgres_server.url}&options=-c%20synchronous_commit%3Dremote_apply")
    assert careful.read(lambda it: it.execute("SHOW synchronous_commit").fetchone()) == ("remote_apply",)


@pytest.mark.servers
def test_reading_changes_nothing(connection):
    with pytest.raises(IndexServerError, match=r"refused .*read-only transaction"):
        connection.read(lambda it: it.execute("CREATE TABLE looked (x int)"))


@pytest.mark.servers
def test_a_table_that_is_gone_and_a_statement_that_is_wrong(connection):
    with pytest.raises(
        SpaceError, match=r"no longer on the PostgreSQL server .*it was dropped; make it again"
    ):
        connection.read(lambda it: it.execute("SELECT * FROM nobody"))
    with pytest.raises(IndexServerError, match=r"refused .*syntax error"):
        connection.read(lambda it: it.execute("SELEC"))
    assert connection.read(lambda it: it.execute("SELECT 1").fetchone()) == (1,)


@pytest.mark.servers
def test_conflicting_work_is_repeated_but_not_for_ever(connection):
    met = []

    def work(it):
        met.append(None)
        if len(met) < 3:
            raise psycopg.errors.UniqueViolation("somebody was quicker")
        return len(met)

    assert connection.write(work) == 3
    met.clear()

    def never(it):
        met.append(None)
        raise psycopg.errors.DeadlockDetected("again")

    with pytest.raises(IndexServerError, match="refused"):
        connection.write(never)
    assert len(met) == ATTEMPTS


def hung_up_by_the_server(connection, postgres_server):
    """End the connection from the other side, as a restart of the server does."""
    pid = connection.read(lambda it: it.info.backend_pid)
    with psycopg.connect(postgres_server.url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


@pytest.mark.servers
def test_a_dead_connection_is_made_again(connection, postgres_server):
    hung_up_by_the_server(connection, postgres_server)
    assert connection.write(lambda it: it.execute("SELECT 1").fetchone()) == (1,)


@pytest.mark.servers
def test_a_change_that_may_be_committed_is_not_repeated(connection, postgres_server):
    """The connection dies between the last statement and the commit."""
    done = []

    def work(it):
        done.append(it.execute("SELECT 1"))
        with psycopg.connect(postgres_server.url, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [it.info.backend_pid])

    with pytest.raises(
        IndexServerError, match=r"while it was confirming a change .*look whether it is there"
    ):
        connection.write(work)
    assert len(done) == 1
    assert connection.read(lambda it: it.execute("SELECT 2").fetchone()) == (2,)


@pytest.mark.servers
def test_an_interrupt_leaves_nothing_behind(connection):
    def interrupted(it):
        it.execute("CREATE TABLE interrupted (x int)")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        connection.write(interrupted)
    assert connection.read(lambda it: it.execute("SELECT to_regclass('interrupted')").fetchone()) == (None,)


@pytest.mark.servers
def test_threads_take_turns(connection):
    def slowly(it):
        it.execute("CREATE TEMPORARY TABLE IF NOT EXISTS turns (x int)")
        it.execute("INSERT INTO turns SELECT count(*) FROM turns")

    threads = [threading.Thread(target=connection.write, args=[slowly]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = connection.read(lambda it: it.execute("SELECT x FROM turns ORDER BY x").fetchall())
    assert rows == [(turn,) for turn in range(8)]
