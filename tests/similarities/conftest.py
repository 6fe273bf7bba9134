"""Kernels without a GPU: compiled for one, or run by Triton's interpreter, both in a process of its own,
because Triton reads its variables when it is imported; and networks that count how often they are made ready.
"""

import os
import subprocess
import sys

import pytest

from samekind.similarities import pair_blocks
from samekind.similarities.pair_blocks import PairBlocks


@pytest.fixture
def compiling(tmp_path):
    """Runs code that compiles for a GPU, from scratch; it ends by printing "compiled"."""
    return lambda code: _run(code, "compiled", TRITON_CACHE_DIR=str(tmp_path))


@pytest.fixture
def interpreting():
    """Runs code in which kernels are interpreted on the CPU; it ends by printing "all agree"."""
    return lambda code: _run(code, "all agree", TRITON_INTERPRET="1")


@pytest.fixture
def made_ready(monkeypatch):
    """A 1 for every time that a network is made ready for a walk, which few pairs are enough for."""
    made = []
    monkeypatch.setattr(pair_blocks, "FEWEST_PAIRS", 0)
    monkeypatch.setattr(
        "samekind.similarities.pairs_network.PairBlocks",
        lambda *given, **settings: made.append(1) or PairBlocks(*given, **settings),
    )
    return made


def _run(code, last_words, **variables):
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.strip() == last_words, ran.stderr[-2000:]
