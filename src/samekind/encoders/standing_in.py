"""Replaces a method of a module within a context."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn


@contextmanager
def standing_in(
    module: nn.Module, function: Callable[..., Any] | None, *, method: str = "forward"
) -> Iterator[None]:
    """Within this context ``function`` replaces the module's ``forward`` (or another method); None changes
    nothing.

    Afterwards the module has its former method again: that of its class, or one set on the module itself, as
    the adapters of other libraries do.
    """
    if function is None:
        yield
        return
    own = vars(module).get(method)
    setattr(module, method, function)
    try:
        yield
    finally:
        if own is None:
            delattr(module, method)
        else:
            setattr(module, method, own)
