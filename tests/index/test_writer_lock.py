"""One writer at a time, in one process and in two."""

import subprocess
import sys

import pytest

from samekind.errors import SpaceError
from samekind.index.writer_lock import NAME, WriterLock


def test_the_second_is_refused_until_the_first_gives_back(tmp_path):
    first = WriterLock(tmp_path)
    assert first.held
    says = r"is being written to by this very process; an index has one writer at a time"
    with pytest.raises(SpaceError, match=says):
        WriterLock(tmp_path)
    first.give_back()
    first.give_back()
    assert not first.held
    second = WriterLock(tmp_path)
    del second  # forgotten is given back
    WriterLock(tmp_path).give_back()


def test_a_process_that_ends_gives_it_back(tmp_path):
    # The bare call, so that no second process has to import torch.
    script = (
        "import fcntl, os, sys, time; file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT); "
        "fcntl.flock(file, fcntl.LOCK_EX); print('held', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", script, str(tmp_path / NAME)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(SpaceError, match="by another process; an index has one writer at a time"):
            WriterLock(tmp_path)
        other.kill()
        other.wait()
    WriterLock(tmp_path).give_back()
