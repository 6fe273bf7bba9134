"""The connection to Milvus: what it says, what it never says, and what it waits for."""

import doctest
import json
import logging
import socket
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import IndexServerError, SettingError, SpaceError
from samekind.index import milvus_connection
from samekind.index.milvus_connection import NOT_FOUND, NOT_LOADED, Connection, quiet, quoted

pytest.importorskip("pymilvus", reason="needs pymilvus")
from pymilvus.exceptions import MilvusException


class Client:
    """A client that fails as it is told, and then answers."""

    def __init__(self, *codes):
        self.codes = list(codes)
        self.loaded = []

    def answer(self):
        if self.codes:
            raise MilvusException(code=self.codes.pop(0), message="what\n it was, with hunter2")
        return "answer"

    def load_collection(self, name, *, timeout):
        self.loaded.append((name, timeout > 0))

    def close(self):
        pass


@pytest.fixture
def connection(monkeypatch):
    monkeypatch.setattr(milvus_connection.time, "sleep", lambda seconds: None)
    return Connection("http://anna:hunter2@localhost:19530/faces", collection="samekind_x", timeout=60)


def test_the_examples_hold():
    assert doctest.testmod(milvus_connection).failed == 0


@pytest.mark.parametrize("url", ["", "localhost:19530", "postgresql://anna:hunter2@localhost", "http://"])
def test_refuses_a_bad_address_without_quoting_it(url):
    with pytest.raises(SettingError, match="expected http://host:19530") as caught:
        Connection(url, collection="x", timeout=1)
    assert "hunter2" not in str(caught.value)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    with pytest.raises(SettingError, match=r"needs pymilvus: pip install 'samekind\[milvus\]'"):
        Connection("http://localhost:19530", collection="x", timeout=1)


def test_a_missing_server_is_reported_without_the_password():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        held = Connection(f"http://anna:hunter2@127.0.0.1:{port}", collection="x", timeout=1)
        with pytest.raises(
            IndexServerError, match=f"at http://anna@127.0.0.1:{port} does not answer"
        ) as caught:
            held.ask(lambda it: it.list_collections())
    assert "hunter2" not in str(caught.value)


def test_waits_for_passing_errors_and_loads_the_collection(connection):
    connection._client = Client(1, NOT_LOADED, 503)
    assert connection.ask(lambda it: it.answer()) == "answer"
    assert connection._client.loaded == [("samekind_x", True)]


def test_waits_no_longer_than_the_timeout(connection):
    connection.timeout = 0
    connection._client = Client(*[NOT_LOADED] * 1000)
    with pytest.raises(IndexServerError, match=r"not ready within 0 seconds .*try again later"):
        connection.ask(lambda it: it.answer())


@pytest.mark.parametrize(
    ("code", "kind", "says"),
    [
        (NOT_FOUND, SpaceError, "no longer on the Milvus server .*make it again"),
        (65535, IndexServerError, r"refused \(what it was, with \*\*\*\)"),
        (2, IndexServerError, "does not answer .*start it, or put the address right"),
    ],
)
def test_other_errors_become_a_sentence(connection, code, kind, says):
    connection._client = Client(code)
    with pytest.raises(kind, match=says):
        connection.ask(lambda it: it.answer())


def test_a_programming_error_is_raised_as_it_is(connection):
    connection._client = Client()
    with pytest.raises(ValueError, match="invalid literal"):
        connection.ask(lambda it: int("x"))


def test_the_client_prints_nothing_meanwhile():
    logger = logging.getLogger("pymilvus")
    before = logger.level
    first, second = quiet(), quiet()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)  # two threads do not come and go like brackets
    assert not logger.getChild("decorators").isEnabledFor(logging.CRITICAL)
    second.__exit__(None, None, None)
    assert logger.level == before
    with pytest.raises(ZeroDivisionError), quiet():
        _ = 1 / 0
    assert logger.level == before


@settings(max_examples=100)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
def test_a_quoted_text_ends_where_it_ends(texts):
    """Between the brackets are literals and commas; a quote inside a literal is escaped."""
    written = quoted(texts)
    assert json.loads(written) == texts
    inside = False
    outside = []
    skip = False
    for letter in written:
        if skip:
            skip = False
        elif inside and letter == "\\":
            skip = True
        elif letter == '"':
            inside = not inside
        elif not inside:
            outside.append(letter)
    assert not inside
    assert "".join(outside).replace(" ", "") == "[" + "," * max(0, len(texts) - 1) + "]"
