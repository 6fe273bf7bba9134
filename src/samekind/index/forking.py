"""Connections to servers in a process that is forked: they are its parent's, and it makes its own.

It has all that was open. What two processes say on one socket the server cannot tell apart, and one that
hangs up does it for both.
"""

import os
import weakref
from typing import Protocol


class Leaving(Protocol):
    """Something with a connection that may be open."""

    def leave_to_parent(self) -> None:
        """Forget the connection without a word to the server."""


_HELD: "weakref.WeakSet[Leaving]" = weakref.WeakSet()


def leave_when_forked(connection: Leaving) -> None:
    """See to it that in every process that is forked from now on the connection is left to its parent."""
    _HELD.add(connection)


def _leave_to_parent() -> None:
    for connection in list(_HELD):
        connection.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
