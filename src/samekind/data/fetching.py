"""Batch after batch of inputs, what is stored being decoded while earlier batches are in use."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from torch import Tensor

from samekind.data.stored import Stored

#: How many batches are on their way at most: more than would do, for batches take unlike times.
AHEAD = 4


def fetched(inputs: Tensor | Stored, choices: Iterable[slice | Tensor]) -> Iterator[Tensor]:
    """``inputs[choice]`` for each of the choices (slices or indices), in their order.

    A file that cannot be read is told when its batch is asked for. Whoever stops early loses nothing but
    the work done ahead.
    """
    if isinstance(inputs, Tensor):
        for choice in choices:
            yield inputs[choice if isinstance(choice, slice) else choice.to(inputs.device)]
        return
    begun = map(inputs.begin, choices)
    waiting: deque[Callable[[], Tensor]] = deque(islice(begun, AHEAD))
    while waiting:
        wait = waiting.popleft()
        waiting.extend(islice(begun, 1))
        yield wait()
