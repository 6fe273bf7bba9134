"""The folder of a run: one trainer at a time, and what is written to it and read from it."""

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from samekind.data import DataSettings, Split, SplitSettings, digits, prepare
from samekind.errors import DataError, SettingError, SpaceError, TrainingError
from samekind.recipes import triplet
from samekind.training import RunFolder, build_space, train
from samekind.training.checkpoints import RunProgress, save_checkpoint
from samekind.training.run_folder import LOCK

# The bare system call: the second process need not import torch. It signs the file as FolderLock does.
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
    """What a function raises in another thread, which has none of the locks of this one."""
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
    with RunFolder(folder).lock():
        pass


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def constant():
    return lambda space: {"eer": 0.5}


def test_a_second_process_reads_who_trains_and_what_to_do(run, items, constant, tmp_path, somebody):
    before = content(tmp_path)
    says = (
        f"process {somebody.pid} is training in {tmp_path}; "
        "wait for that to end or stop it, or choose another folder"
    )
    with pytest.raises(TrainingError) as refused:
        train(run, items, folder=tmp_path, validate=constant)
    assert str(refused.value) == says
    assert content(tmp_path) == before


def test_an_unknown_holder_of_the_lock_has_no_number(tmp_path, somebody):
    (tmp_path / LOCK).write_text("")
    with pytest.raises(TrainingError, match=f"is training in {tmp_path}; wait for that to end"):
        enter(tmp_path)


def test_the_lock_of_a_killed_process_ends(run, items, constant, tmp_path, somebody):
    somebody.kill()
    somebody.wait()
    assert (tmp_path / LOCK).exists()
    train(run, items, folder=tmp_path, validate=constant)
    assert sorted(content(tmp_path)) == ["best.pt", "last.pt", "record.jsonl", "run.json"]


def test_a_second_training_changes_nothing_for_the_first(run, items, validate, tmp_path):
    """Before there was a lock, the second took over the record and the checkpoints of the first."""
    train(run, items, folder=tmp_path / "alone", validate=validate)
    raised = []

    def interfered(space):
        second = {"folder": tmp_path / "run", "validate": validate}
        raised.append(elsewhere(lambda: train(run.override(["seed=7"]), items, **second)))
        return validate(space)

    train(run, items, folder=tmp_path / "run", validate=interfered)
    assert [type(error) for error in raised] == [TrainingError] * (run.epochs + 1)  # and at the start
    assert "this very process" in str(raised[0])

    def told(name):
        lines = RunFolder(tmp_path / name).record.lines()
        return [{**line, "items_per_second": 0} for line in lines]

    assert told("run") == told("alone")
    assert content(tmp_path / "run").keys() == content(tmp_path / "alone").keys()


def test_a_training_that_starts_again_leaves_nothing_of_the_first(run, items, constant, tmp_path):
    train(run, items, folder=tmp_path, validate=constant)
    place = RunFolder(tmp_path)
    assert "is not better than EER 50.00% before the first step" in place.verdict()
    place.start_again()
    assert place.record.lines() == []
    assert not place.last.exists()
    assert not place.best.exists()
    train(run.override(["optimiser.rate=0.001"]), items, folder=tmp_path, validate=constant)


def test_readers_need_no_lock(run, items, constant, tmp_path, somebody):
    somebody.kill()
    somebody.wait()
    train(run, items, folder=tmp_path, validate=constant)
    with RunFolder(tmp_path).lock():
        assert elsewhere(lambda: RunFolder(tmp_path).record.lines()[0]["epoch"]) is None
        assert elsewhere(lambda: (tmp_path / "last.pt").read_bytes()) is None


def test_the_holder_of_a_lock_gets_it_again_and_others_do_not(tmp_path):
    inside = tmp_path / "run"
    with RunFolder(inside).lock():
        with RunFolder(str(tmp_path / "." / "run")).lock():
            assert isinstance(elsewhere(lambda: enter(inside)), TrainingError)
        assert isinstance(elsewhere(lambda: enter(inside)), TrainingError)  # the inner end is not the end
        assert elsewhere(lambda: enter(tmp_path / "another")) is None
    assert elsewhere(lambda: enter(inside)) is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_does_not_have_the_lock_of_its_parent(tmp_path):
    with RunFolder(tmp_path).lock():
        child = os.fork()
        if not child:
            refused = False
            try:
                enter(tmp_path)
            except TrainingError:
                refused = True
            finally:
                os._exit(0 if refused else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("error", [None, ValueError])
def test_removes_a_folder_in_which_nothing_was_written(tmp_path, error):
    def enter_and_fail():
        with RunFolder(tmp_path / "deep" / "run").lock():
            if error is not None:
                raise error

    if error is None:
        enter_and_fail()
    else:
        with pytest.raises(error):
            enter_and_fail()
    assert list(tmp_path.iterdir()) == []
    enter(tmp_path)
    assert tmp_path.is_dir()  # it existed before


def test_keeps_a_folder_in_which_something_was_written(tmp_path):
    with RunFolder(tmp_path / "deep" / "run").lock():
        (tmp_path / "deep" / "run" / "file").touch()
    assert list(content(tmp_path / "deep" / "run")) == ["file"]


def test_makes_a_folder_again_that_was_removed_meanwhile(tmp_path, monkeypatch):
    calls, real = [], os.open

    def removed(path, *arguments, **more):
        if str(path).endswith(LOCK) and not calls:
            calls.append(path)
            (tmp_path / "run").rmdir()
        return real(path, *arguments, **more)

    monkeypatch.setattr(os, "open", removed)
    with RunFolder(tmp_path / "run").lock():
        assert list(content(tmp_path / "run")) == [LOCK]
    assert len(calls) == 1


def test_trains_on_a_drive_without_locks(run, items, constant, tmp_path, monkeypatch):
    def flock(handle, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    with RunFolder(tmp_path).lock():
        assert elsewhere(lambda: enter(tmp_path)) is None
        train(run, items, folder=tmp_path, validate=constant)
    assert sorted(content(tmp_path)) == ["best.pt", "last.pt", "record.jsonl", "run.json"]


# --- what a run is trained and tested on ------------------------------------------------------------

SPLIT = SplitSettings(unseen=("7", "8"), seed=3)
PARTS = ("train", "validation", "test", "unseen")


@pytest.fixture(scope="module")
def sets():
    return prepare(digits(), SPLIT)


@pytest.fixture(scope="module")
def finished(sets, tmp_path_factory):
    """The folder of a run that was written without training. Not to be changed."""
    folder, run = RunFolder(tmp_path_factory.mktemp("runs") / "finished"), triplet(sets.train.shape)
    folder.begin(run, sets.split)
    folder.finish(build_space(run, sets.train), sets)
    return folder


@pytest.fixture
def copy(finished, tmp_path):
    return RunFolder(shutil.copytree(finished.path, tmp_path / "copy"))


def with_data(settings):
    return replace(digits(), source=digits().source._replace(settings=settings))


def test_the_sets_of_a_run_are_those_it_was_trained_on(finished, sets):
    for opened in (finished.sets(), finished.sets_for(digits(), SPLIT)):
        for name in PARTS:
            assert torch.equal(getattr(opened, name).inputs, getattr(sets, name).inputs)
            assert torch.equal(getattr(opened, name).labels, getattr(sets, name).labels)
        assert opened.split.settings == sets.split.settings


def test_asking_for_sets_writes_nothing(tmp_path):
    RunFolder(tmp_path / "run").sets_for(digits(), SPLIT)
    assert list(tmp_path.iterdir()) == []


def test_the_split_is_written_when_a_run_begins(sets, tmp_path):
    folder = RunFolder(tmp_path)
    folder.begin(triplet(sets.train.shape), sets.split)
    assert Split.load(tmp_path / "split.json", digits()).settings == SPLIT.to_dict()
    assert not folder.finished


@pytest.mark.parametrize("later", ["cut_from", "white"])
def test_a_run_without_a_newer_setting_is_the_same(copy, later):
    written = json.loads((copy.path / "data.json").read_text())
    del written["data"][later]
    (copy.path / "data.json").write_text(json.dumps(written))
    copy.sets_for(digits(), SPLIT)


@pytest.mark.parametrize(
    ("items", "split"),
    [
        (digits(), SplitSettings(unseen=("7", "9"), seed=3)),
        (digits(), SplitSettings(seed=3)),
        (digits(), SplitSettings(unseen=("7", "8"), seed=4)),
        (with_data(DataSettings(size=8)), SPLIT),
        (replace(digits(), source=None), SPLIT),
    ],
)
def test_refuses_other_data_and_another_split(finished, items, split):
    with pytest.raises(SettingError, match="holds a run on other data or another split"):
        finished.sets_for(items, split)


def test_a_split_of_an_old_run_keeps_its_settings(copy, sets):
    """Before, split.json did not say how it was asked for; data.json did."""
    replace(sets.split, settings=None).save(copy.path / "split.json")
    for opened in (copy.sets(), copy.sets_for(digits(), SPLIT)):
        assert opened.split.settings == SPLIT.to_dict()


def test_a_lost_split_is_made_again(copy, sets):
    (copy.path / "split.json").unlink()
    assert torch.equal(copy.sets_for(digits(), SPLIT).train.inputs, sets.train.inputs)


def test_an_old_stopped_run_with_another_split_is_left_to_resume(tmp_path):
    """Its split.json does not say how it was asked for, and neither way gives the items it trains on."""
    items = replace(digits(), groups=torch.arange(len(digits())) // 3)
    grouped, random = SplitSettings(by="group"), SplitSettings()
    folder, sets = RunFolder(tmp_path), prepare(items, grouped)
    save_checkpoint(folder.last, run={}, data="others", progress=RunProgress(), states={})
    with pytest.raises(SettingError, match="whose training items differ from these"):
        folder.sets_for(items, grouped, earlier=[random])
    replace(sets.split, settings=None).save(tmp_path / "split.json")
    opened = folder.sets_for(items, grouped, earlier=[random])
    assert torch.equal(opened.train.inputs, sets.train.inputs)
    with pytest.raises(TrainingError, match="holds a run on other data"):
        folder.resume(triplet(items.shape), opened.train.fingerprint())


def test_refuses_a_folder_without_a_run(tmp_path):
    with pytest.raises(SpaceError, match=r"not the folder of a finished run: it has no data\.json"):
        RunFolder(tmp_path).sets()
    with pytest.raises(SpaceError, match=r"there is no folder .*missing; samekind train makes"):
        RunFolder(tmp_path / "missing").sets()


def test_a_finished_run_without_data_json_says_how_to_get_it(copy):
    (copy.path / "data.json").unlink()
    with pytest.raises(SpaceError, match=r"samekind\.fit, writes it without training again"):
        copy.sets()


def test_items_in_memory_have_no_source(sets, copy):
    copy.finish(build_space(triplet(sets.train.shape), sets.train), replace(sets, source=None))
    assert json.loads((copy.path / "data.json").read_text())["source"] is None
    assert copy.finished
    with pytest.raises(SpaceError, match=r"exist only in memory.*samekind evaluate --data.*from Python"):
        copy.sets()
    assert not copy.trained_on("digits")
    assert copy.data_settings() == DataSettings()
    copy.sets_for(replace(digits(), source=None), SPLIT)


def test_a_split_made_by_hand_has_no_settings(sets, copy):
    by_hand = replace(sets, split=replace(sets.split, settings=None))
    by_hand.split.save(copy.path / "split.json")
    copy.finish(build_space(triplet(sets.train.shape), sets.train), by_hand)
    assert torch.equal(copy.sets().test.inputs, sets.test.inputs)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "is damaged"),
        (b"\xff", "is damaged"),
        (b"[]", "was not written by this samekind"),
        (b"{}", "was not written by this samekind"),
        (b'{"source": 3, "data": {}, "split": {}}', "was not written by this samekind"),
        (b'{"source": "digits", "data": {}}', "was not written by this samekind"),
    ],
)
def test_refuses_a_damaged_description_of_the_data(tmp_path, content, says):
    (tmp_path / "data.json").write_bytes(content)
    for use in (RunFolder.sets, lambda folder: folder.sets_for(digits(), SPLIT)):
        with pytest.raises(SpaceError, match=rf"data\.json {says}"):
            use(RunFolder(tmp_path))


def test_names_the_data_that_no_longer_exists(tmp_path):
    missing = {"source": str(tmp_path / "faces"), "data": {}, "split": {}}
    (tmp_path / "data.json").write_text(json.dumps(missing))
    with pytest.raises(DataError, match=r"was trained on cannot be opened: .*faces"):
        RunFolder(tmp_path).sets()


def test_a_space_in_its_run_knows_what_it_was_trained_on(finished, tmp_path, monkeypatch):
    assert finished.trained_on("digits")
    assert RunFolder.around(finished.path / "space").trained_on("digits")
    assert not finished.trained_on(str(tmp_path))
    alone = shutil.copytree(finished.path / "space", tmp_path / "space")
    assert not RunFolder.around(alone).trained_on("digits")
    # A file that happens to lie beside a space does not make a run.
    (tmp_path / "data.json").write_text("[]")
    assert not RunFolder.around(alone).trained_on("digits")
    assert RunFolder.around(alone).data_settings() == DataSettings()
    monkeypatch.chdir(finished.path / "space")
    assert RunFolder.around(Path()).trained_on("digits")


# --- the space --------------------------------------------------------------------------------------


def test_finds_a_space_in_its_run_and_by_itself(finished, tmp_path):
    assert finished.space_folder() == finished.path / "space"
    assert RunFolder(finished.path / "space").space_folder() == finished.path / "space"
    assert RunFolder(tmp_path).space_folder() == tmp_path
    assert finished.space().classes == RunFolder(finished.path / "space").space().classes


def test_recovers_a_space_that_a_killed_save_left_aside(finished, tmp_path):
    """Before, it was found by its own name alone: that of its run was said to hold no space."""
    shutil.copytree(finished.path / "space", tmp_path / ".space.old")
    assert RunFolder(tmp_path).space_folder() == tmp_path / "space"
    assert [path.name for path in tmp_path.iterdir()] == ["space"]


@pytest.mark.parametrize("content", ["no JSON", "[]", "{}"])
def test_a_run_json_of_something_else_is_no_unfinished_run(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    folder = RunFolder(tmp_path)
    assert folder.space_folder() == tmp_path
    assert folder.run() is None
    assert not folder.selected_on_test
    with pytest.raises(SpaceError, match=r"is not the folder of a finished run: it has no data\.json"):
        folder.sets()


def test_reads_the_settings_of_the_run(finished, copy, sets):
    run = triplet(sets.train.shape)
    assert finished.run() == run
    assert not finished.selected_on_test
    copy.begin(run.override(["select_on=test"]))
    assert copy.selected_on_test


def test_measures_are_kept_and_a_damaged_file_is_none(tmp_path):
    run = RunFolder(tmp_path)
    assert run.measures() is None
    run.keep_measures([{"measure": "EER", "value": 0.1}])
    assert run.measures() == [{"measure": "EER", "value": 0.1}]
    for content in ("", "[]", "{}", '{"rows": 5}', '{"rows": [5]}'):
        (tmp_path / "measures.json").write_text(content)
        assert run.measures() is None
