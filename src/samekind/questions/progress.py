"""Progress of long work, as a callback: the caller may show it, and by default nobody does."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Advance(Protocol):
    """Called with the number of items that were finished since the last call."""

    def __call__(self, count: int, /) -> None: ...


#: Called with a title and the number of items when a piece of work starts; the context lasts as long as it.
Progress = Callable[[str, int], AbstractContextManager[Advance]]


@contextmanager
def silent(_title: str, _total: int) -> Iterator[Advance]:
    """Show nothing."""
    yield lambda _: None
