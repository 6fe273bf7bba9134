"""A connection to PostgreSQL that runs work in transactions, and comes back when the server does."""

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from samekind.errors import IndexServerError, SamekindError, SettingError, SpaceError
from samekind.index.forking import leave_when_forked
from samekind.index.server import missing

if TYPE_CHECKING:
    import psycopg

Result = TypeVar("Result")

#: Work that met somebody else's is done again: the next look shows what they did.
ATTEMPTS = 5
OLDEST_PGVECTOR = (0, 8)
#: One number, the same for all clients: two that find a new database at once do not both prepare it.
PREPARING = 7_263_541_180
#: Without these a client waits for hours for a machine that lost its power (seconds; milliseconds the last).
PATIENCE = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}


class Connection:
    """One connection, made when it is needed and made again when it was lost.

    ``url`` is what libpq takes: ``postgresql://user@host/database`` or ``host=... dbname=...``; what it does
    not say comes from the ``PG*`` variables and the password file. Threads take turns; a process that is
    forked makes a connection of its own.
    """

    def __init__(self, url: str) -> None:
        self._held: psycopg.Connection[Any] | None = None
        self._lock = threading.RLock()
        try:
            import pgvector.psycopg  # noqa: F401 - that it is missing is told now, not at the first use
            from psycopg import ProgrammingError, conninfo
        except ImportError as error:
            raise missing("psycopg and pgvector", extra="postgres") from error
        try:
            self._settings = {name: str(value) for name, value in conninfo.conninfo_to_dict(url).items()}
        except ProgrammingError:
            # libpq quotes the address in its message, and the password with it.
            raise SettingError(
                "that is no address of a PostgreSQL server; expected postgresql://user@host/database"
            ) from None
        kept = {name: value for name, value in self._settings.items() if "password" not in name}
        #: The address as it may be shown and kept: without a password.
        self.shown: str = conninfo.make_conninfo("", **kept)
        leave_when_forked(self)

    def __del__(self) -> None:
        self.close()

    def read(self, work: Callable[["psycopg.Connection[Any]"], Result]) -> Result:
        """Do work that only looks, all of it on the database as it is at one moment."""

        def looking(connection: "psycopg.Connection[Any]") -> Result:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return work(connection)

        with self._lock:
            connection, result = self._done(looking)
            self._undo(connection)
            return result

    def write(self, work: Callable[["psycopg.Connection[Any]"], Result]) -> Result:
        """Do work in one transaction: all of it or nothing, and on the server's disk once this returns.

        A connection that turns out to be dead is made again and the work done again; but not once the
        server was asked to commit, because nobody knows whether it did.
        """
        import psycopg

        with self._lock:
            connection, result = self._done(work)
            try:
                connection.commit()
            except psycopg.Error as error:
                self.close()
                raise IndexServerError(
                    f"the PostgreSQL server at {self.shown} went away while it was confirming a change "
                    f"({self._reason(error)}); look whether it is there before you repeat it"
                ) from error
            return result

    def close(self) -> None:
        """Hang up; the next work connects again."""
        with self._lock:
            if self._held is not None:
                self._held.close()
            self._held = None

    def leave_to_parent(self) -> None:
        """In a process that was forked: forget the connection, and say nothing on it."""
        held, self._held = self._held, None
        self._lock = threading.RLock()  # a thread that is not here may have had it when this one was forked
        if held is not None and not held.closed:
            # To hang up is a message too, which ends the parent's session: it goes nowhere.
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, held.fileno())
            os.close(nowhere)
            held.close()

    def _done(
        self, work: Callable[["psycopg.Connection[Any]"], Result]
    ) -> tuple["psycopg.Connection[Any]", Result]:
        """What work gives, and the connection whose transaction is still open."""
        import psycopg

        for attempt in range(ATTEMPTS):
            reused = self._held is not None
            connection = self._connected()
            try:
                return connection, work(connection)
            except psycopg.Error as error:
                lost = connection.closed
                self._undo(connection)
                if lost and not reused:
                    raise self._gone(error) from error
                if attempt == ATTEMPTS - 1 or not (lost or _met_others(error)):
                    raise self._refused(error) from error
            except Exception:
                self._undo(connection)
                raise
            except BaseException:
                self.close()  # interrupted: the server undoes whatever was under way
                raise
        raise AssertionError("the last attempt returns or raises")

    def _connected(self) -> "psycopg.Connection[Any]":
        import psycopg
        from psycopg import conninfo

        if self._held is None:
            try:
                self._held = psycopg.connect(conninfo.make_conninfo("", **{**PATIENCE, **self._settings}))
            except psycopg.Error as error:
                raise self._gone(error) from error
            try:
                self._prepare(self._held)
            except BaseException:
                self.close()
                raise
        return self._held

    def _prepare(self, connection: "psycopg.Connection[Any]") -> None:
        """See to it that the database has pgvector, and that the client knows its type."""
        import psycopg
        from pgvector.psycopg import register_vector

        asked = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        try:
            if connection.execute(asked).fetchone() is None:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", [PREPARING])
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            row = connection.execute(asked).fetchone()
            register_vector(connection)
            # What returned must be on the disk, also where the server is set to answer before that.
            connection.execute(
                "SELECT set_config(name, 'on', false) FROM pg_settings "
                "WHERE name = 'synchronous_commit' AND setting = 'off'"
            )
            connection.commit()
        except psycopg.Error as error:
            raise IndexServerError(
                f"the database at {self.shown} has no pgvector, and it could not be set up "
                f'({self._reason(error)}); ask its administrator for "CREATE EXTENSION vector"'
            ) from error
        version = row[0] if row is not None else "0"
        if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_PGVECTOR:
            raise IndexServerError(
                f"the database at {self.shown} has pgvector {version}; expected 0.8 or newer"
            )

    def _undo(self, connection: "psycopg.Connection[Any]") -> None:
        import psycopg

        try:
            connection.rollback()
        except psycopg.Error:
            self.close()

    def _gone(self, error: Exception) -> SamekindError:
        return IndexServerError(
            f"the PostgreSQL server at {self.shown} does not answer ({self._reason(error)}); "
            "start it, or put the address right, and try again"
        )

    def _refused(self, error: Exception) -> SamekindError:
        from psycopg.errors import UndefinedTable

        if isinstance(error, UndefinedTable):
            return SpaceError(
                f"the index is no longer on the PostgreSQL server at {self.shown}: somebody dropped it; "
                "make it again"
            )
        return IndexServerError(f"the PostgreSQL server at {self.shown} refused ({self._reason(error)})")

    def _reason(self, error: Exception) -> str:
        """The message of the server as one short line, without the password."""
        line = " ".join(str(error).split())
        password = self._settings.get("password")
        return (line.replace(password, "***") if password else line)[:300]


def _met_others(error: Exception) -> bool:
    """Whether an error is one of two clients that got into each other's way."""
    from psycopg import errors

    return isinstance(error, errors.UniqueViolation | errors.DeadlockDetected | errors.SerializationFailure)
