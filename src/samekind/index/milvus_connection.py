"""A connection to Milvus that waits while a server starts, and reports errors in sentences."""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from samekind.errors import IndexServerError, SettingError, SpaceError
from samekind.index.forking import leave_when_forked
from samekind.index.server import missing, without_password

Result = TypeVar("Result")

SCHEMES = ("http", "https")
#: Error codes of Milvus: no answer, not found, not in memory yet, and those that pass by themselves while a
#: server starts.
UNAVAILABLE, NOT_FOUND, NOT_LOADED = 2, 100, 101
PASSES = {1, NOT_LOADED, 103, 400, 401, 500, 501, 503, 901, 902, 903, 904, 905}


class Connection:
    """A client of one Milvus server, for one collection there.

    ``url`` is ``http://host:port``, with ``user:password@`` and ``/database`` if needed. ``timeout``, in
    seconds, is how long to wait for an answer and for a server that is starting. A forked process makes its
    own connection.
    """

    def __init__(self, url: str, *, collection: str, timeout: float) -> None:
        self._client: Any = None
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES or not parts.hostname:
            raise SettingError("not the address of a Milvus server; expected http://host:19530")
        try:
            import pymilvus  # noqa: F401 - reported now if it is missing, not at the first use
        except ImportError as error:
            raise missing("pymilvus", extra="milvus") from error
        #: The address without a password.
        self.shown = without_password(url)
        self.collection = collection
        self.timeout = timeout
        self._address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._user, self._password = unquote(parts.username or ""), unquote(parts.password or "")
        self._database = parts.path.strip("/")
        leave_when_forked(self)

    def __del__(self) -> None:
        self.close()

    def ask(self, question: Callable[[Any], Result]) -> Result:
        """The answer of the client to a question.

        Loads a collection that is not in memory, and waits for errors that pass by themselves.
        """
        from pymilvus.exceptions import MilvusException

        end = time.monotonic() + self.timeout
        while True:
            try:
                with quiet():
                    return question(self._connected())
            except MilvusException as error:
                if error.code == NOT_FOUND:
                    raise SpaceError(
                        f"the index is no longer on the Milvus server at {self.shown}: it was dropped; "
                        "make it again"
                    ) from error
                if error.code not in PASSES or time.monotonic() > end:
                    raise self._failed(error) from error
                if error.code == NOT_LOADED:
                    self._load(end - time.monotonic())
            except ValueError as error:  # "Cannot invoke RPC on closed channel!"
                self.close()
                if "channel" not in str(error) or time.monotonic() > end:
                    raise
            time.sleep(0.2)

    def close(self) -> None:
        """Hang up; the next question connects again."""
        if self._client is not None:
            with quiet():
                self._client.close()
        self._client = None

    def leave_to_parent(self) -> None:
        """In a forked process: forget the client, which does not work here."""
        self._client = None

    def _connected(self) -> Any:
        from pymilvus.exceptions import MilvusException

        if self._client is None:
            try:
                self._client = self._connect()
            except MilvusException as error:
                if error.code != UNAVAILABLE:
                    raise
                # gRPC can lose a first connection right after a fork; the second one is new.
                self._client = self._connect()
        return self._client

    def _connect(self) -> Any:
        from pymilvus import MilvusClient

        return MilvusClient(
            uri=self._address,
            user=self._user,
            password=self._password,
            db_name=self._database,
            timeout=self.timeout,
            dedicated=True,  # else a forked process is given its parent's
            grpc_options={"grpc.use_local_subchannel_pool": 1},  # the same, one level below
        )

    def _load(self, seconds: float) -> None:
        """Load the collection; if that fails, so does the question when it is repeated."""
        from pymilvus.exceptions import MilvusException

        with quiet(), suppress(MilvusException):
            self._client.load_collection(self.collection, timeout=max(1.0, seconds))

    def _failed(self, error: Any) -> IndexServerError:
        line = " ".join(str(getattr(error, "message", error)).split())[:300]
        reason = line.replace(self._password, "***") if self._password else line
        gone = error.code == UNAVAILABLE or not isinstance(error.code, int) or "connect" in line.lower()
        if gone:
            return IndexServerError(
                f"the Milvus server at {self.shown} does not answer ({reason}); "
                "start it, or put the address right, and try again"
            )
        if error.code in PASSES:
            return IndexServerError(
                f"the Milvus server at {self.shown} was not ready within {self.timeout:g} seconds "
                f"({reason}); try again later"
            )
        return IndexServerError(f"the Milvus server at {self.shown} refused ({reason})")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the client from logging a traceback of what is reported in a sentence.

    Of several threads the first one turns its log off, and the last one on again.
    """
    logger = logging.getLogger("pymilvus")
    with _counting:
        if not _before:
            _before.append(logger.level)
            logger.setLevel(logging.CRITICAL + 1)
        else:
            _before.append(_before[-1])
    try:
        yield
    finally:
        with _counting:
            level = _before.pop()
            if not _before:
                logger.setLevel(level)


_counting = threading.Lock()
_before: list[int] = []  # the level of the log, once for each thread inside


def quoted(texts: Any) -> str:
    """A list of texts for an expression of Milvus; no text can end its quotes.

    >>> print(quoted(['a" or id != "']))
    ["a\\" or id != \\""]
    """
    # Milvus reads the escapes of JSON, except for surrogate pairs: so letters stay as they are.
    return json.dumps(list(texts), ensure_ascii=False)
