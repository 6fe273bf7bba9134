"""The server itself: uvicorn, which listens until it is stopped."""

import socket
from contextlib import suppress

from fastapi import FastAPI

from samekind.errors import SettingError

LOOPBACK = ("127.0.0.1", "::1", "localhost")
#: Connections at once, and seconds that requests have to end when the server is stopped.
MOST_CONNECTIONS, GRACE = 1_000, 20


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    return host in LOOPBACK or host.startswith("127.")


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; a port of 0 is any free one. Raises SettingError where that is not possible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By its number: only sockets that say TCP send small answers at once, without waiting for more.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen()  # who comes before the space is loaded waits
    except OSError as error:
        opened.close()
        raise SettingError(
            f"cannot listen at {host}, port {port}: {error.strerror or error}; choose another --port"
        ) from error
    return opened


def run(app: FastAPI, listener: socket.socket) -> None:
    """Answer requests until the process gets a signal to stop."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=GRACE,
    )
    with suppress(KeyboardInterrupt):  # Ctrl-C is how it is stopped
        uvicorn.Server(config).run(sockets=[listener])
