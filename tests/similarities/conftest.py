"""Kernels without a GPU: compiled for one, or run by Triton's interpreter, both in a process of its own,
because Triton reads its variables when it is imported; and networks that count how often they are made ready.
"""

import os
import subprocess
import sys

import pytest

from samekind.similarities import pair_blocks
from samekind.similarities.pair_blocks import PairBlocks

#: Imports take seconds: one process imports, and every piece of code runs in a child of it.
SERVER = """
import os, sys, traceback
import torch, triton
import samekind.similarities

for line in sys.stdin:
    code, *outputs = line.rstrip("\\n").split("\\t")
    if os.fork() == 0:
        for number, path in enumerate(outputs, start=1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
        try:
            exec(compile(open(code).read(), code, "exec"), {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    os.wait()
    print("done", flush=True)
"""


class Server:
    """A process that runs code with these variables in its environment."""

    def __init__(self, folder, variables):
        self.folder, self.count = folder, 0
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            env={**os.environ, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, code, last_words):
        """Run code, which must print these words and nothing else."""
        self.count += 1
        script, out, err = (self.folder / f"{self.count}.{ending}" for ending in ("py", "out", "err"))
        script.write_text(code)
        print(script, out, err, sep="\t", file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "done\n"
        assert out.read_text().strip() == last_words, err.read_text()[-2000:]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@pytest.fixture(scope="session")
def compiling(tmp_path_factory):
    """Runs code that compiles for a GPU, from scratch; it ends by printing "compiled"."""
    folder = tmp_path_factory.mktemp("compiling")
    server = Server(folder, {"TRITON_CACHE_DIR": str(folder)})
    yield lambda code: server.run(code, "compiled")
    server.close()


@pytest.fixture(scope="session")
def interpreting(tmp_path_factory):
    """Runs code in which kernels are interpreted on the CPU; it ends by printing "all agree"."""
    server = Server(tmp_path_factory.mktemp("interpreting"), {"TRITON_INTERPRET": "1"})
    yield lambda code: server.run(code, "all agree")
    server.close()


@pytest.fixture
def made_ready(monkeypatch):
    """A 1 for every time that a network is made ready for a walk, which few pairs are enough for."""
    built = []
    monkeypatch.setattr(pair_blocks, "FEWEST_PAIRS", 0)
    monkeypatch.setattr(
        "samekind.similarities.pairs_network.PairBlocks",
        lambda *given, **settings: built.append(1) or PairBlocks(*given, **settings),
    )
    return built
