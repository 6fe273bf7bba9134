"""Stopped anywhere: a call that is interrupted or fails was made or not, in memory and on the disk alike."""

import errno
import os
import random
import shutil
import signal
import sys
from collections import Counter
from contextlib import suppress
from io import FileIO
from pathlib import Path

import pytest
import torch

import samekind.index
from samekind import journal as journals
from samekind import storage
from samekind.errors import SettingError, SpaceError
from samekind.index import Exact, Faiss, open_index
from samekind.index import arrangement as arrangements
from samekind.index import store as stores
from samekind.journal import Journal

ROOM = Path(samekind.index.__file__).parent
OURS = (str(ROOM), storage.__file__)
NAMES = [str(number) for number in range(6)]
VECTORS = torch.arange(24.0).view(6, 4) + 1
LAST = torch.full((1, 4), 9.0)

# A file that was just opened when Ctrl-C came is closed by the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def quick(monkeypatch):
    """Without flushing: these tests cut no power."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


def stopped_at(step, call, files=OURS):
    """Let Ctrl-C come at one of the steps of a call in our code: whether there are that many.

    A step is a line, the beginning of a function or its end, when it is come to for the first time.
    """
    places = set()

    def trace(frame, event, _):
        if not frame.f_code.co_filename.startswith(files):
            return None
        if event != "exception":
            places.add((frame.f_code, frame.f_lineno, event))
            if len(places) > step:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


#: What asks the system for something that it may refuse.
SYSTEM = [
    *((os, name) for name in ("fsync", "open", "replace", "rename", "mkdir", "unlink")),
    *((Path, name) for name in ("rename", "replace", "unlink", "mkdir", "open", "stat", "iterdir")),
]


class WatchedFile(FileIO):
    """The file of a journal, whose calls `failing_at` may let fail."""

    watch = staticmethod(lambda real: real)

    def write(self, content):
        return WatchedFile.watch(super().write)(content)

    def truncate(self, size):
        return WatchedFile.watch(super().truncate)(size)


@pytest.fixture(autouse=True)
def _watched(monkeypatch):
    monkeypatch.setattr(journals, "FileIO", WatchedFile)


def failing_at(step, call):
    """Let one system call of a call fail, before (even steps) or after (odd steps) it was done. Returns
    False if there are fewer.
    """
    place, late = divmod(step, 2)
    seen = 0

    def counted(real):
        def asked(*arguments, **options):
            nonlocal seen
            seen += 1
            mine = seen == place + 1
            done = None if mine and not late else real(*arguments, **options)
            if mine:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            return done

        return asked

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in SYSTEM:
            patch.setattr(owner, name, counted(getattr(owner, name)))
        patch.setattr(WatchedFile, "watch", counted)
        with suppress(OSError):
            call()
    return seen > place


def held(index):
    """What an index holds, in its order."""
    ids = list(index)
    texts = [entry["at"] for entry in index.metadata(ids)]
    return [*zip(ids, index.vectors(ids).tolist(), index.vectors().tolist(), texts, strict=True)]


def put(index, ids, vectors, *, replace=False):
    index.add(ids, vectors, [{"at": id} for id in ids], replace=replace)


CHANGES = {
    "add": lambda index, _: put(index, ["x", "y"], VECTORS[:2]),
    "replace": lambda index, _: put(index, ["4", "x", "1"], VECTORS[:3] + 50, replace=True),
    "remove": lambda index, _: index.remove(["0", "journalled"]),
    "save": lambda index, folder: index.save(folder),
    "save elsewhere": lambda index, folder: index.save(folder.with_name("elsewhere")),
    "close": lambda index, _: index.close(),
    "search": lambda index, _: index.search(VECTORS, 2),
}


#: A change, whether the index is the writer of its folder by then, and how to stop it.
CASES = [
    *((name, True, stopped_at) for name in CHANGES if name != "save elsewhere"),
    *((name, True, failing_at) for name in ("add", "replace", "remove", "save")),
    ("add", False, failing_at),
    *(
        pytest.param(*case, stop, marks=pytest.mark.slow)
        for case in (("add", False), ("save", False), ("save elsewhere", True))
        for stop in (stopped_at, failing_at)
        if (case, stop) != (("add", False), failing_at)
    ),
]


@pytest.fixture(scope="module", params=[Exact, pytest.param(Faiss, marks=pytest.mark.slow)])
def saved(request, tmp_path_factory):
    """The folder of an index."""
    folder, index = tmp_path_factory.mktemp("saved") / "index", request.param(4, score="dot")
    put(index, NAMES, VECTORS)
    index.save(folder)
    return folder


def begun(saved, folder, *, writer):
    """An index that lives in a folder, with a gap and something in its journal."""
    shutil.copytree(saved, folder)
    index = open_index(folder)
    put(index, ["journalled"], LAST)
    index.remove(["2"])
    if not writer:
        index.close()
    return index


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("name", "writer", "stop"), CASES)
def test_an_interrupted_call_was_made_or_not_and_the_next_one_is_durable(
    saved, name, writer, stop, tmp_path, monkeypatch
):
    monkeypatch.setattr(stores.Store, "wasteful", property(lambda store: bool(store._gone)))
    index = begun(saved, tmp_path / "whole", writer=writer)
    before = held(index)
    CHANGES[name](index, tmp_path / "whole")
    after = held(index)
    index.close()
    step = 0
    while True:
        folder = tmp_path / str(step) / "index"
        index = begun(saved, folder, writer=writer)
        if not stop(step, lambda: CHANGES[name](index, folder)):  # noqa: B023 (called at once)
            break
        now = held(index)
        assert now in (before, after), step
        put(index, ["last"], LAST)
        assert held(index) == [*now, ("last", LAST[0].tolist(), LAST[0].tolist(), "last")], step
        place = folder.with_name("elsewhere") if index._durable._home.folder.name == "elsewhere" else folder
        assert held(open_index(place)) == held(index), step
        index.close()
        open_index(place).remove(["last"])  # no right to write was left with the first
        step += 1
    assert step > 5


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("kind", [Exact, pytest.param(Faiss, marks=pytest.mark.slow)])
@pytest.mark.parametrize("stop", [pytest.param(stopped_at, marks=pytest.mark.slow), failing_at])
def test_an_interrupted_first_save_was_made_or_not(kind, stop, tmp_path):
    step = 0
    while True:
        folder, index = tmp_path / str(step), kind(4)
        put(index, NAMES, VECTORS)
        if not stop(step, lambda: index.save(folder)):  # noqa: B023 (called at once)
            break
        assert [name for name, *_ in held(index)] == NAMES
        put(index, ["last"], LAST)
        index.save(folder)
        assert held(open_index(folder)) == held(index)
        step += 1
    assert step > 5


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["add", "replace", "remove"])
@pytest.mark.parametrize("stop", [stopped_at, failing_at])
def test_a_reader_after_an_interrupt_is_right_or_is_refused(saved, name, stop, tmp_path):
    """A regression: the entry it had read was cut off, and what it wrote then was damage."""
    step, after = 0, Counter()
    while True:
        folder = tmp_path / str(step) / "index"
        index = begun(saved, folder, writer=True)
        if not stop(step, lambda: CHANGES[name](index, folder)):  # noqa: B023 (called at once)
            break
        reader = open_index(folder)
        if step % 2:  # the same once more, as users do, with other numbers
            with suppress(SettingError):
                put(index, ["x", "y"], VECTORS[2:4])
        index.close()
        refused = ""
        try:
            put(reader, ["last"], LAST)
        except SpaceError as error:
            refused = str(error)
        if refused:
            assert "was changed by another writer" in refused, step
        else:
            assert held(open_index(folder)) == held(reader), step
            assert held(reader)[:-1] == held(index), step
        after[bool(refused)] += 1
        step += 1
    assert min(after[True], after[False]) > 0


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["close", "save", "search"])
def test_a_late_addition_is_finished_even_if_that_is_interrupted(saved, name, tmp_path, monkeypatch):
    append, step = Journal.append, 0

    def torn(*arguments, **options):
        append(*arguments, **options)
        raise KeyboardInterrupt

    while True:
        folder = tmp_path / str(step) / "index"
        index = begun(saved, folder, writer=True)
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "append", torn)
            with pytest.raises(KeyboardInterrupt):
                CHANGES["add"](index, folder)
        seen = held(open_index(folder))
        if not stopped_at(step, lambda: CHANGES[name](index, folder)):  # noqa: B023 (called at once)
            break
        assert held(index) == held(open_index(folder)) == seen, step
        put(index, ["last"], LAST)
        assert held(open_index(folder)) == held(index), step
        step += 1
    assert step > 5


# --- FAISS: a structure beside the store ----------------------------------------------------------------

MANY = torch.randn(400, 4, generator=torch.Generator().manual_seed(0))


def arranged(form):
    index = Faiss(4, structure=form, score="euclidean", effort=400)
    index.add([str(number) for number in range(300)], MANY[:300])
    index.build()
    index.remove([str(number) for number in range(50)])
    index.add([str(number) for number in range(300, 400)], MANY[300:])
    return index


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("form", ["flat", pytest.param("hnsw", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["build", "save", "search of a wasteful one"])
def test_a_structure_follows_its_store_whatever_is_interrupted(name, form, tmp_path, monkeypatch):
    """A regression: it returned the neighbours of other vectors, or crashed."""
    monkeypatch.setattr(arrangements, "CHUNK", 40)
    calls = {
        "build": lambda index: index.build(),
        "save": lambda index: index.save(tmp_path / "index"),
        "search of a wasteful one": lambda index: index.search(MANY[60:62], 1),
    }
    if name == "search of a wasteful one":
        monkeypatch.setattr(stores.Store, "wasteful", property(lambda store: len(store._gone) > 10))
    files = tuple(str(ROOM / name) for name in ("faiss_index.py", "arrangement.py", "store.py"))
    step = 0
    while True:
        index = arranged(form)
        if not stopped_at(step, lambda: calls[name](index), files):  # noqa: B023 (called at once)
            break
        index.add(["far"], torch.full((1, 4), 99.0))
        for _ in range(2):  # as it was left, and with all inside
            assert index.search(MANY[50::7], 1).ids == [[str(number)] for number in range(50, 400, 7)], step
            index.build()
        step += 1
    assert step > 5


# --- the signal itself --------------------------------------------------------------------------------


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.fixture
def alarm():
    """Raises KeyboardInterrupt so many seconds from now."""
    before = signal.signal(signal.SIGALRM, interrupt)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", CHANGES)
def test_a_real_signal_loses_nothing(saved, name, tmp_path, alarm):
    draw, seen = random.Random(0), Counter()
    for round in range(400):
        folder = tmp_path / str(round) / "index"
        index = begun(saved, folder, writer=bool(round % 2))
        before = held(index)
        try:
            alarm(draw.uniform(1e-5, 4e-3 if "save" in name else 1e-3))
            CHANGES[name](index, folder)
            alarm(0)
        # The second where shutil.rmtree closes a folder twice for it, the third where numpy, which was just
        # asking for the number of a file, takes it for an answer.
        except (KeyboardInterrupt, OSError, TypeError):
            alarm(0)
            seen["stopped"] += 1
            put(index, ["last"], LAST)
            now = held(index)
            seen["made"] += now[:-1] != before
            index.close()
            assert held(open_index(index._durable._home.folder)) == now
        index.close()
    assert seen["stopped"]
