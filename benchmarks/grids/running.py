"""A grid of runs carried out: several at once, one JSON a run, and what is there is not run again."""

import gc
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch

from samekind.training import Run, RunFolder

#: Networks and shapes of batches that a process compiles, before it goes on without compiling: not fewer than
#: there are in a whole grid.
COMPILED_SHAPES = 64


class Place(NamedTuple):
    """Where a run finds its data and leaves its results; ``deadline`` is by `time.time`."""

    data: Path
    out: Path
    work: Path
    device: str
    deadline: float
    quick: bool
    cache: Path | None = None

    def result_of(self, experiment: "Named") -> Path:
        return self.out / f"{experiment.name}.json"


class Named(Protocol):
    """A run of a grid; its JSON has its name, which is that of its variant and its seed."""

    @property
    def name(self) -> str: ...

    @property
    def variant(self) -> str: ...


def run_grid(
    experiments: Sequence[Any], carry_out: Callable[[Any, Place], str], place: Place, workers: int
) -> bool:
    """Every run that is not done yet, ``workers`` at once; whether none failed."""
    began, done, threads = time.time(), True, threads_for(workers)
    # NumPy and scikit-learn read these when they are imported, before a worker can say anything.
    os.environ |= {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    # Fresh processes: a forked one cannot use CUDA.
    with ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=start_worker,
        initargs=(threads,),
    ) as pool:
        futures = {pool.submit(alone, carry_out, experiment, place): experiment for experiment in experiments}
        for future in as_completed(futures):
            error = future.exception()
            said = f"FAILED: {repr(error)[:300]}" if error is not None else future.result()
            done = done and error is None
            print(f"{time.time() - began:6.0f} s  {futures[future].name}: {said}", flush=True)
    return done


def alone(carry_out: Callable[[Any, Place], str], experiment: Any, place: Place) -> str:
    """A run, after which the device has its memory back: others are waiting for it."""
    try:
        return carry_out(experiment, place)
    finally:
        gc.collect()
        torch.cuda.empty_cache()


def not_now(experiment: Named, place: Place) -> str | None:
    """Why a run is not carried out, or None: it is done, or it is too late to begin."""
    if place.result_of(experiment).exists():
        return "was there"
    return "left for later" if time.time() > place.deadline else None


def run_on(run: Run, place: Place) -> Run:
    """The run as it is trained there: on a GPU compiled, which changes the numbers by rounding only."""
    on_gpu = place.device != "cpu"
    return replace(run, compile=on_gpu, try_convolutions=on_gpu)


def start_worker(threads: int) -> None:
    """Called in every process once: the cores are shared among them, and none outlives the grid's own."""
    torch.set_num_threads(threads)
    torch._dynamo.config.recompile_limit = COMPILED_SHAPES
    threading.Thread(target=leave_with_parent, daemon=True).start()


def leave_with_parent() -> None:
    """Where the grid is killed, its runs would go on unseen; they can be killed too, at any time."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def threads_for(workers: int) -> int:
    """An equal share of the threads that this process may have."""
    return max(1, torch.get_num_threads() // workers)


def epochs_in(folder: Path) -> list[dict[str, Any]]:
    """What the record of a run says, epoch by epoch."""
    return RunFolder(folder).record.lines()


def chosen_epoch(folder: Path) -> dict[str, Any]:
    """The epoch that was kept, and what validation said of it."""
    best = [entry for entry in epochs_in(folder) if entry["best"]][-1]
    return {name: best[name] for name in ("epoch", "validation", "items_per_second")}
