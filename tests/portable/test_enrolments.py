"""Changes that survive: every entry is on the disk, whatever happens to the process."""

import json
import subprocess
import sys

import numpy as np
import pytest

from samekind.errors import SpaceError
from samekind.portable.classes import KnownClasses
from samekind.portable.description import JOURNAL
from samekind.portable.enrolments import Enrolments

START = KnownClasses(("a",), np.zeros((1, 1, 3), np.float32), (0,), ())


def opened(folder, digest="export 1"):
    return Enrolments(folder, digest, START)


def examples(count=2):
    return np.arange(3 * count, dtype=np.float32).reshape(count, 3)


def test_changes_are_there_again(tmp_path):
    first = opened(tmp_path / "state")
    assert not (tmp_path / "state").exists()  # who only reads writes nothing
    first.enroll("b", examples(), replace=False)
    first.enroll("c", examples(4), replace=False)
    first.rename("c", "C")
    first.remove("a")
    first.close()
    again = opened(tmp_path / "state")
    assert again.classes.names == first.classes.names == ("b", "C")
    assert again.classes.counts == (2, 4)
    np.testing.assert_array_equal(again.classes.vectors[0, 0], examples().mean(0))


def test_a_known_class_is_replaced_only_if_that_is_wanted(tmp_path):
    changes = opened(tmp_path)
    with pytest.raises(SpaceError, match="already there"):
        changes.enroll("a", examples(), replace=False)
    assert changes.enroll("a", examples(), replace=True).enrolled == ("a",)
    assert changes.enroll("new", examples(), replace=True).names == ("a", "new")


def test_one_process_changes_at_a_time(tmp_path):
    first, second = opened(tmp_path), opened(tmp_path)
    first.enroll("b", examples(), replace=False)
    with pytest.raises(SpaceError, match="one server at a time"):
        second.enroll("c", examples(), replace=False)
    first.close()
    # What the first one enrolled is known once the right is taken.
    assert second.enroll("c", examples(), replace=False).names == ("a", "b", "c")


def test_a_journal_of_another_export_is_refused(tmp_path):
    changes = opened(tmp_path)
    changes.enroll("b", examples(), replace=False)
    changes.close()
    with pytest.raises(SpaceError, match="another export"):
        opened(tmp_path, "export 2")


def test_what_was_cut_off_is_dropped_and_damage_is_refused(tmp_path):
    changes = opened(tmp_path)
    changes.enroll("b", examples(), replace=False)
    whole = (tmp_path / JOURNAL).read_bytes()
    changes.enroll("c", examples(), replace=False)
    changes.close()
    content = (tmp_path / JOURNAL).read_bytes()
    for end in range(len(whole), len(content)):
        (tmp_path / JOURNAL).write_bytes(content[:end])
        assert opened(tmp_path).classes.names == ("a", "b")
    (tmp_path / JOURNAL).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(SpaceError, match="damaged"):
        opened(tmp_path)


def test_a_disk_that_takes_nothing_is_named_and_nothing_changes(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(SpaceError, match="classes cannot be enrolled: state may not be written to"):
        opened(tmp_path / "file" / "state").enroll("b", examples(), replace=False)
    changes = opened(tmp_path)
    changes.enroll("b", examples(), replace=False)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(changes._journal, "append", full)
    with pytest.raises(SpaceError, match="No space left"):
        changes.enroll("c", examples(), replace=False)
    assert changes.classes.names == ("a", "b")


KILLED = """
import os, sys
import numpy as np
from pathlib import Path
from samekind.portable.classes import KnownClasses
from samekind.portable.enrolments import Enrolments
start = KnownClasses(("a",), np.zeros((1, 1, 3), np.float32), (0,), ())
changes = Enrolments(Path(sys.argv[1]), "export 1", start)
for place in range(5):
    changes.enroll(f"class {place}", np.ones((2, 3), np.float32), replace=False)
    print(place, flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_killed_process_loses_nothing_that_it_reported(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == -9
    reported = json.loads(f"[{','.join(done.stdout.split())}]")
    assert reported == [0, 1, 2, 3, 4]
    assert opened(tmp_path).classes.names == ("a", *(f"class {place}" for place in reported))
