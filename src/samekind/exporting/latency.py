"""How long a space and its export take for the same items, in turns."""

import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from torch import Tensor

from samekind.exporting.parity import portable_items
from samekind.inference import embed
from samekind.portable import PortableSpace
from samekind.space import MetricSpace

Clock = Callable[[], float]

BATCHES = (1, 32)
#: Each batch is embedded for about so many seconds, three times at least.
SECONDS, FEWEST = 1.0, 3


class Latency(NamedTuple):
    """Median milliseconds for a batch of so many items by PyTorch and by onnxruntime, over so many runs."""

    batch: int
    torch: float
    onnxruntime: float
    runs: int

    @property
    def ratio(self) -> float:
        """How many times as quick onnxruntime is."""
        return self.torch / self.onnxruntime


def latencies(
    space: MetricSpace, portable: PortableSpace, items: Tensor, *, clock: Clock = time.perf_counter
) -> list[Latency]:
    """The time from items to embeddings, for each size of batch that the items can fill.

    ``clock`` gives seconds: `time.process_time` is the work of the processor, for a machine that is busy.
    """
    return [_latency(space, portable, items[:batch], clock) for batch in BATCHES if batch <= len(items)]


def _latency(space: MetricSpace, portable: PortableSpace, items: Tensor, clock: Clock) -> Latency:
    arrays = portable_items(space.reader, items)
    ways: tuple[Callable[[], object], ...] = (lambda: embed(space, items), lambda: portable.embed(arrays))
    times: tuple[list[float], ...] = ([], [])
    for way in ways:
        way()
    end = time.perf_counter() + SECONDS
    while len(times[0]) < FEWEST or time.perf_counter() < end:
        for way, taken in zip(ways, times, strict=True):
            start = clock()
            way()
            taken.append(1000 * (clock() - start))
    return Latency(len(items), median(times[0]), median(times[1]), len(times[0]))
