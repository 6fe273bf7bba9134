"""Connections to servers after a fork: they are the parent's, and the child makes its own.

A server cannot tell two processes on one socket apart, and one that hangs up does it for both.
"""

import os
import weakref
from typing import Protocol


class Leaving(Protocol):
    """The holder of a connection."""

    def leave_to_parent(self) -> None:
        """Forget the connection, without a message to the server."""


_HELD: "weakref.WeakSet[Leaving]" = weakref.WeakSet()


def leave_when_forked(connection: Leaving) -> None:
    """Call ``leave_to_parent`` in every process that is forked from now on."""
    _HELD.add(connection)


def _leave_to_parent() -> None:
    for connection in list(_HELD):
        connection.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
