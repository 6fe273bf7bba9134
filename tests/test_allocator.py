"""Freed memory is used again: the kernel hands out fewer pages. Each case is a process of its own."""

import os
import subprocess
import sys

import pytest

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")

#: Ten arrays of 64 MB after a first one, in a thread; prints the page faults of the ten.
#: The first pays for the pages.
ARRAYS = """
import resource, threading
import numpy as np
from samekind.allocator import keep_memory
{call}
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def fill():
    np.full(8_000_000, 1.0)
    before = faults()
    for _ in range(10):
        np.full(8_000_000, 1.0)
    print(faults() - before)
worker = threading.Thread(target=fill)
worker.start()
worker.join()
"""


def printed_by(code, **environment):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    plain.pop("LD_PRELOAD", None)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=plain | environment
    )
    return done.stdout.split()


@ON_LINUX
def test_the_pages_of_an_array_are_used_again():
    (without,) = printed_by(ARRAYS.format(call=""))
    (kept,) = printed_by(ARRAYS.format(call="keep_memory()"))
    assert int(kept) < int(without) / 5


@ON_LINUX
def test_it_says_that_it_is_done():
    assert printed_by("from samekind.allocator import keep_memory; print(keep_memory())") == ["True"]


@pytest.mark.parametrize("name", ["MALLOC_ARENA_MAX", "MALLOC_TRIM_THRESHOLD_", "LD_PRELOAD"])
def test_who_chose_an_allocator_keeps_it(name):
    code = "from samekind.allocator import keep_memory; print(keep_memory())"
    value = "" if name == "LD_PRELOAD" else "131072"
    assert printed_by(code, **{name: value}) == ["False"]


def test_other_systems_are_left_alone(monkeypatch):
    from samekind.allocator import keep_memory

    for name in list(os.environ):
        if name.startswith("MALLOC_") or name == "LD_PRELOAD":
            monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "platform", "win32")
    assert keep_memory() is False
