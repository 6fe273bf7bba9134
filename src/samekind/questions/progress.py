"""Progress of long work, as a callback. By default it shows nothing."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

#: Called with the number of items that were finished since the last call.
Advance = Callable[[int], None]
#: Called with a title and the number of items when a piece of work starts; the context lasts as long as it.
Progress = Callable[[str, int], AbstractContextManager[Advance]]


@contextmanager
def silent(_title: str, _total: int) -> Iterator[Advance]:
    """Show nothing."""
    yield lambda _: None
