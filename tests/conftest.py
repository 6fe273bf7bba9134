"""What every test run shares: the environment before torch starts, and Hypothesis' settings.

Nothing is seeded here. Randomness enters the library as a generator, and a test that needs some makes
its own; one seed for all would hide a function that draws from the global generator unasked.
"""

import os

from hypothesis import settings

# The libraries read these when they are first imported, so they are set before any test is; the tests'
# subprocesses inherit them. A value that is already set wins.
os.environ.setdefault("MPLBACKEND", "Agg")  # no window, no display needed
os.environ.setdefault("OMP_NUM_THREADS", "1")  # pytest runs one process per core: more threads only wait
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")  # see the Makefile

# The same examples in every run, so a failure is about the change at hand; and no failure because the
# machine was busy.
settings.register_profile("samekind", deadline=None, derandomize=True)
settings.load_profile("samekind")
