"""A connection to PostgreSQL that runs work in transactions, and reconnects when it was lost."""

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from samekind.errors import IndexServerError, SamekindError, SettingError, SpaceError
from samekind.index.forking import leave_when_forked
from samekind.index.server import missing

if TYPE_CHECKING:
    import psycopg

    Session = psycopg.Connection[Any]

Result = TypeVar("Result")

#: Work that conflicts with that of another client is done again.
ATTEMPTS = 5
OLDEST_PGVECTOR = (0, 8)
#: The advisory lock of preparing a database, the same for all clients.
PREPARING = 7_263_541_180
#: Without these a client waits for hours for a machine that lost its power. Seconds; the last milliseconds.
PATIENCE = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}


class Connection:
    """One connection, made when it is needed, and again when it was lost.

    ``url`` is what libpq takes: ``postgresql://user@host/database`` or ``host=... dbname=...``; the rest
    comes from the ``PG*`` variables and the password file. Threads take turns; a forked process makes its
    own connection.
    """

    def __init__(self, url: str) -> None:
        self._held: psycopg.Connection[Any] | None = None
        self._lock = threading.RLock()
        try:
            import pgvector.psycopg  # noqa: F401 - reported now if it is missing, not at the first use
            from psycopg import ProgrammingError, conninfo
        except ImportError as error:
            raise missing("psycopg and pgvector", extra="postgres") from error
        try:
            self._settings = {name: str(value) for name, value in conninfo.conninfo_to_dict(url).items()}
        except ProgrammingError:
            # The message of libpq quotes the address, with the password.
            raise SettingError(
                "not the address of a PostgreSQL server; expected postgresql://user@host/database"
            ) from None
        shown = {name: value for name, value in self._settings.items() if "password" not in name}
        #: The address without a password.
        self.shown: str = conninfo.make_conninfo("", **shown)
        leave_when_forked(self)

    def __del__(self) -> None:
        self.close()

    def read(self, work: Callable[["Session"], Result]) -> Result:
        """Do work that only reads, on the database as it is at one moment."""

        def looking(connection: "Session") -> Result:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return work(connection)

        with self._lock:
            connection, result = self._done(looking)
            self._undo(connection)
            return result

    def write(self, work: Callable[["Session"], Result]) -> Result:
        """Do work in one transaction, on the server's disk when this returns.

        If the connection is dead, it is made again and the work is done again; but not after a commit was
        sent, because it may have been carried out.
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
        """In a forked process: forget the connection, and send nothing on it."""
        held, self._held = self._held, None
        self._lock = threading.RLock()  # a thread of the parent may have held it
        if held is not None and not held.closed:
            # Closing sends a message that would end the parent's session: it goes to the null device.
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, held.fileno())
            os.close(nowhere)
            held.close()

    def _done(self, work: Callable[["Session"], Result]) -> tuple["Session", Result]:
        """The result of work, and the connection with its open transaction."""
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
                self.close()  # interrupted: the server rolls back
                raise
        raise AssertionError("the last attempt returns or raises")

    def _connected(self) -> "Session":
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

    def _prepare(self, connection: "Session") -> None:
        """Set up pgvector in the database, and register its type with the client."""
        import psycopg
        from pgvector.psycopg import register_vector

        statement = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        try:
            if connection.execute(statement).fetchone() is None:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", [PREPARING])
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            row = connection.execute(statement).fetchone()
            register_vector(connection)
            # A commit must be on the disk, also if the server is set to answer before that.
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

    def _undo(self, connection: "Session") -> None:
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
                f"the index is no longer on the PostgreSQL server at {self.shown}: it was dropped; "
                "make it again"
            )
        return IndexServerError(f"the PostgreSQL server at {self.shown} refused ({self._reason(error)})")

    def _reason(self, error: Exception) -> str:
        """The message of the server as one short line, without the password."""
        line = " ".join(str(error).split())
        password = self._settings.get("password")
        return (line.replace(password, "***") if password else line)[:300]


def _met_others(error: Exception) -> bool:
    """Whether an error comes from a conflict of two clients."""
    from psycopg import errors

    return isinstance(error, errors.UniqueViolation | errors.DeadlockDetected | errors.SerializationFailure)
