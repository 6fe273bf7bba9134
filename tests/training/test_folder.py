"""One trainer at a time in a folder: in one process and in two, killed or not, with locks and without."""

import errno
import os
import subprocess
import sys
import threading

import pytest

from samekind.errors import TrainingError
from samekind.training import Record, train
from samekind.training.folder import LOCK, sole_trainer

# The bare call, so that no second process has to import torch; it says who it is as ours do.
HOLDER = """
import fcntl, os, socket, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(file, fcntl.LOCK_EX)
os.write(file, f"{os.getpid()} {socket.gethostname()}".encode())
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def somebody(tmp_path):
    """A process that trains in the folder."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path / LOCK], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        yield other
        other.kill()


def elsewhere(function):
    """What a function raises in a thread of its own, where nobody who called it has any right."""
    raised = []

    def body():
        try:
            function()
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    return raised[0] if raised else None


def enter(folder):
    with sole_trainer(folder):
        pass


def content(folder):
    return {each.name: each.read_bytes() for each in folder.iterdir()}


@pytest.fixture
def constant():
    return lambda space: {"eer": 0.5}


def test_a_second_process_is_told_who_trains_and_what_to_do(run, items, constant, tmp_path, somebody):
    before = content(tmp_path)
    says = (
        f"process {somebody.pid} is training in {tmp_path}; "
        "wait for that to end or stop it, or choose another folder"
    )
    with pytest.raises(TrainingError) as refused:
        train(run, items, folder=tmp_path, validate=constant)
    assert str(refused.value) == says
    assert content(tmp_path) == before


def test_who_it_is_is_left_out_where_it_is_not_known(tmp_path, somebody):
    (tmp_path / LOCK).write_text("")
    with pytest.raises(TrainingError, match=f"is training in {tmp_path}; wait for that to end"):
        enter(tmp_path)


def test_a_killed_process_stands_in_nobodys_way(run, items, constant, tmp_path, somebody):
    somebody.kill()
    somebody.wait()
    assert (tmp_path / LOCK).exists()
    train(run, items, folder=tmp_path, validate=constant)
    assert sorted(content(tmp_path)) == ["best.pt", "last.pt", "record.jsonl", "run.json"]


def test_a_second_one_changes_nothing_for_the_first(run, items, validate, tmp_path):
    """Before there was a lock, the second took over the record and the checkpoints of the first."""
    train(run, items, folder=tmp_path / "alone", validate=validate)
    raised = []

    def interfered(space):
        second = {"folder": tmp_path / "run", "validate": validate}
        raised.append(elsewhere(lambda: train(run.override(["seed=7"]), items, **second)))
        return validate(space)

    train(run, items, folder=tmp_path / "run", validate=interfered)
    assert [type(each) for each in raised] == [TrainingError] * run.epochs
    assert "this very process is training" in str(raised[0])

    def told(name):
        lines = Record(tmp_path / name / "record.jsonl").lines()
        return [{**line, "items_per_second": 0} for line in lines]

    assert told("run") == told("alone")
    assert content(tmp_path / "run").keys() == content(tmp_path / "alone").keys()


def test_readers_are_not_kept_out(run, items, constant, tmp_path, somebody):
    somebody.kill()
    somebody.wait()
    train(run, items, folder=tmp_path, validate=constant)
    with sole_trainer(tmp_path):
        assert elsewhere(lambda: Record(tmp_path / "record.jsonl").lines()[0]["epoch"]) is None
        assert elsewhere(lambda: (tmp_path / "last.pt").read_bytes()) is None


def test_who_has_a_folder_is_granted_it_again_and_nobody_else_until_the_end(tmp_path):
    inside = tmp_path / "run"
    with sole_trainer(inside):
        with sole_trainer(str(tmp_path / "." / "run")):
            assert isinstance(elsewhere(lambda: enter(inside)), TrainingError)
        assert isinstance(elsewhere(lambda: enter(inside)), TrainingError)  # the inner end is not the end
        assert elsewhere(lambda: enter(tmp_path / "another")) is None
    assert elsewhere(lambda: enter(inside)) is None


def test_a_forked_process_does_not_have_what_its_parent_has(tmp_path):
    with sole_trainer(tmp_path):
        child = os.fork()
        if not child:
            try:
                enter(tmp_path)
            except TrainingError:
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("error", [None, ValueError])
def test_a_folder_in_which_nothing_was_written_is_gone_in_the_end(tmp_path, error):
    def asked():
        with sole_trainer(tmp_path / "deep" / "run"):
            if error is not None:
                raise error

    if error is None:
        asked()
    else:
        with pytest.raises(error):
            asked()
    assert list(tmp_path.iterdir()) == []
    enter(tmp_path)
    assert tmp_path.is_dir()  # it was there before


def test_a_folder_in_which_something_was_written_stays(tmp_path):
    with sole_trainer(tmp_path / "deep" / "run"):
        (tmp_path / "deep" / "run" / "file").touch()
    assert list(content(tmp_path / "deep" / "run")) == ["file"]


def test_a_folder_that_somebody_removes_this_very_moment_is_made_again(tmp_path, monkeypatch):
    calls, real = [], os.open

    def removed(path, *arguments, **more):
        if str(path).endswith(LOCK) and not calls:
            calls.append(path)
            (tmp_path / "run").rmdir()
        return real(path, *arguments, **more)

    monkeypatch.setattr(os, "open", removed)
    with sole_trainer(tmp_path / "run"):
        assert list(content(tmp_path / "run")) == [LOCK]
    assert len(calls) == 1


def test_where_there_are_no_locks_training_goes_on(run, items, constant, tmp_path, monkeypatch):
    def flock(handle, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    with sole_trainer(tmp_path):
        assert elsewhere(lambda: enter(tmp_path)) is None
        train(run, items, folder=tmp_path, validate=constant)
    assert sorted(content(tmp_path)) == ["best.pt", "last.pt", "record.jsonl", "run.json"]
