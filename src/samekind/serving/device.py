"""The one thread that owns the device: it embeds what has arrived together, and answers each request.

While a batch is answered, other requests arrive; they are the next batch. So nobody waits for a batch to
fill, and the busier the server is, the larger its batches are.
"""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

import numpy as np

from samekind.serving.engine import Vectors
from samekind.serving.refusal import Refusal

Result = TypeVar("Result")


class _Job(NamedTuple):
    """Items to embed, and what to do with their vectors."""

    items: Sequence[Any]
    work: Callable[[Vectors], Any]
    future: "Future[Any]"


class Device:
    """A thread, and the bounded queue of what waits for it.

    ``embed`` turns items into vectors (n, d). After each batch ``settle`` is called, before anyone gets an
    answer. ``observe`` is called with the number of items that were embedded together.
    """

    def __init__(
        self,
        embed: Callable[[Sequence[Any]], Vectors],
        *,
        waiting: int,
        together: int,
        settle: Callable[[], None] = lambda: None,
        observe: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._embed, self._settle, self._observe = embed, settle, observe
        self._together = together
        self._queue: queue.Queue[_Job | None] = queue.Queue(maxsize=waiting)
        self._stopping = False
        self._left: _Job | None = None  # taken from the queue, too large for the last batch
        self._thread = threading.Thread(target=self._run, name="device", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    def submit(self, work: Callable[[Vectors], Result], items: Sequence[Any] = ()) -> "Future[Result]":
        """Have items embedded, and work done with their vectors, in the thread that owns the device.

        Raises Refusal if too many requests wait already.
        """
        future: Future[Result] = Future()
        if self._stopping:
            raise Refusal(503, "the server is stopping; try again in a moment", retry_after=5)
        try:
            self._queue.put_nowait(_Job(items, work, future))
        except queue.Full:
            raise Refusal(503, "the server is busy; try again in a moment", retry_after=1) from None
        return future

    async def ask(self, work: Callable[[Vectors], Result], items: Sequence[Any] = ()) -> Result:
        """As `submit`, and wait for the result. Work that has begun goes on if the client hangs up."""
        return await asyncio.wrap_future(self.submit(work, items))

    def stop(self) -> None:
        """Answer what waits, and end the thread."""
        self._stopping = True
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (jobs := self._next_jobs()) is not None:
            started = [job for job in jobs if job.future.set_running_or_notify_cancel()]
            outcomes = self._outcomes(started)
            try:
                self._settle()
            except Exception as error:
                outcomes = [error] * len(started)
            for job, outcome in zip(started, outcomes, strict=True):
                if isinstance(outcome, Exception):
                    job.future.set_exception(outcome)
                else:
                    job.future.set_result(outcome)

    def _next_jobs(self) -> list[_Job] | None:
        """The jobs that have arrived, as many as fit into a batch; waits for the first. None at the end."""
        first = self._left or self._queue.get()
        self._left = None
        if first is None:
            return None
        jobs, count = [first], len(first.items)
        while count < self._together:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._queue.put(None)  # the end comes after this batch
                break
            if count + len(job.items) > self._together:
                self._left = job
                break
            jobs.append(job)
            count += len(job.items)
        return jobs

    def _outcomes(self, jobs: Sequence[_Job]) -> list[Any]:
        """The result of each job, or its error."""
        items = [item for job in jobs for item in job.items]
        try:
            z = self._embed(items) if items else np.empty((0, 0), np.float32)
            self._observe(len(items))
        except Exception as error:
            if len(jobs) == 1:
                return [error]
            # One bad item must not be the fault of the others.
            return [outcome for job in jobs for outcome in self._outcomes([job])]
        ends = np.cumsum([len(job.items) for job in jobs]).tolist()
        return [_done(job, z[end - len(job.items) : end]) for job, end in zip(jobs, ends, strict=True)]


def _done(job: _Job, z: Vectors) -> Any:
    try:
        return job.work(z)
    except Exception as error:
        return error
