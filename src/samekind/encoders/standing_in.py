"""A module with another method for a while."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn


@contextmanager
def standing_in(
    module: nn.Module, function: Callable[..., Any] | None, *, method: str = "forward"
) -> Iterator[None]:
    """Within it the module has another ``forward`` (or another method), or, for None, is as it is.

    Afterwards it has again what it had: that of its class, or one of its own, as the hooks and adapters of
    other libraries put there.
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
            delattr(module, method)  # what its class says comes to light again
        else:
            setattr(module, method, own)
