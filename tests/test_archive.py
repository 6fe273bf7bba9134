"""The folder of a space: what was written is read, and anything else is refused."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path

import pytest
import safetensors.torch
import torch

from samekind import archive, storage
from samekind.errors import SpaceError

CONTENT = {"encoder": {"name": "größe"}, "numbers": [1, 2.5, None, True]}
TENSORS = {
    "matrix": torch.arange(6.0).view(2, 3),
    "scalar": torch.tensor(1.5),
    "empty": torch.empty(0, 4),
    "whole": torch.tensor([1, 2]),
    "half": torch.tensor([0.1], dtype=torch.bfloat16),
    "double": torch.tensor([0.1], dtype=torch.double),
}


@pytest.fixture
def folder(tmp_path):
    archive.write(tmp_path / "space", CONTENT, TENSORS)
    return tmp_path / "space"


def change(folder, **changes):
    """Write other values into space.json."""
    path = folder / "space.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def refused(folder):
    """The sentence with which a folder is refused."""
    with pytest.raises(SpaceError) as caught:
        archive.read(folder)
    assert str(folder) in str(caught.value)
    return str(caught.value)


# --- what is written is read ------------------------------------------------------------------------


def test_what_was_written_is_read_to_the_bit(folder):
    content, tensors = archive.read(folder)
    assert CONTENT.items() <= content.items()
    assert set(tensors) == set(TENSORS)
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        assert torch.equal(tensors[name], tensor)


def test_the_folder_holds_two_files_and_the_first_is_for_people(folder):
    assert sorted(path.name for path in folder.iterdir()) == ["space.json", "weights.safetensors"]
    text = (folder / "space.json").read_text()
    assert text.startswith('{\n  "format": "samekind space",\n  "version": 2,\n')
    assert json.loads(text)["encoder"] == CONTENT["encoder"]


def test_any_tensor_can_be_written(tmp_path):
    """Transposed, expanded, shared, needing a gradient: the format itself takes none of these."""
    base = torch.arange(6.0).view(2, 3)
    tensors = {
        "base": base,
        "again": base,
        "turned": base.T,
        "part": base[:, 1:],
        "expanded": torch.ones(1).expand(3),
        "trained": torch.ones(2, requires_grad=True),
    }
    archive.write(tmp_path / "space", {}, tensors)
    _, read = archive.read(tmp_path / "space")
    assert all(torch.equal(read[name], tensor) for name, tensor in tensors.items())


def test_read_tensors_do_not_change_the_file(folder):
    _, first = archive.read(folder)
    first["matrix"].zero_()
    assert torch.equal(archive.read(folder)[1]["matrix"], TENSORS["matrix"])


def test_a_second_writing_replaces_the_first_altogether(folder):
    archive.write(folder, {"encoder": 2}, {"other": torch.ones(1)})
    content, tensors = archive.read(folder)
    assert content["encoder"] == 2
    assert "numbers" not in content
    assert list(tensors) == ["other"]
    assert [path.name for path in folder.parent.iterdir()] == ["space"]


@pytest.mark.parametrize("name", ["space.v1.old", ".hidden", "with space", "größe"])
def test_a_folder_may_have_any_name(tmp_path, name):
    for _ in range(2):
        archive.write(tmp_path / name, CONTENT, TENSORS)
    archive.read(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]


# --- what is damaged, foreign or newer --------------------------------------------------------------


def test_refuses_a_missing_folder(tmp_path):
    assert "there is no space at" in refused(tmp_path / "missing")
    (tmp_path / "file").write_text("")
    assert "there is no space at" in refused(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    assert "is not a space: it has no space.json" in refused(tmp_path / "empty")


@pytest.mark.parametrize("name", ["space.json", "weights.safetensors"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    assert name in refused(folder)
    (folder / name).mkdir()
    assert name in refused(folder)


def test_a_weights_file_cut_anywhere_is_damaged(folder):
    path = folder / "weights.safetensors"
    whole = path.read_bytes()
    for length in (0, 1, 7, 8, 20, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert "damaged: weights.safetensors is not the file it was saved with; restore it" in refused(folder)
    path.write_bytes(whole + b"\0")
    assert "damaged" in refused(folder)


def test_one_flipped_bit_anywhere_in_the_weights_is_found(folder):
    path = folder / "weights.safetensors"
    whole = path.read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert "damaged: weights.safetensors" in refused(folder)


def test_weights_of_another_space_are_found(folder, tmp_path):
    archive.write(tmp_path / "other", CONTENT, {"matrix": torch.zeros(2, 3)})
    (folder / "weights.safetensors").write_bytes((tmp_path / "other" / "weights.safetensors").read_bytes())
    assert "damaged: weights.safetensors is not the file it was saved with" in refused(folder)


def test_refuses_weights_of_an_unknown_format(folder, monkeypatch):
    monkeypatch.setattr(safetensors.torch, "save", lambda _: b"not tensors")
    archive.write(folder, CONTENT, TENSORS)
    assert "damaged: weights.safetensors cannot be read (" in refused(folder)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b'{"format": "samekind space",', b"\xff\xfe", b"[" * 100_000, b"{'format': 1}"],
    ids=["empty", "open", "cut", "bytes", "deep", "quotes"],
)
def test_an_unreadable_space_json_is_damaged(folder, text):
    (folder / "space.json").write_bytes(text)
    assert "is damaged: space.json cannot be read (" in refused(folder)


@pytest.mark.parametrize("text", ["{}", "[]", "null", "3", '"samekind space"', '{"format": "other"}'])
def test_a_space_json_of_something_else_is_foreign(folder, text):
    (folder / "space.json").write_text(text)
    assert "is not a space: space.json has another format" in refused(folder)


@pytest.mark.parametrize("version", [None, "1", 0, -1, 1.5, []])
def test_refuses_an_invalid_version(folder, version):
    change(folder, version=version)
    assert "is damaged: space.json has no version" in refused(folder)


def test_refuses_a_newer_version_first(folder):
    change(folder, version=archive.VERSION + 1, weights="unknown", encoder="unknown")
    (folder / "weights.safetensors").unlink()
    sentence = refused(folder)
    assert (
        f"newer samekind (format {archive.VERSION + 1}, this one reads up to {archive.VERSION})" in sentence
    )
    assert sentence.endswith("upgrade samekind")


@pytest.mark.parametrize("digest", [None, 3, "0" * 64])
def test_a_changed_digest_is_damage(folder, digest):
    change(folder, weights=digest)
    assert "damaged: weights.safetensors" in refused(folder)


def test_a_refused_folder_is_left_as_it_is(folder):
    (folder / "space.json").write_text("{")
    (folder / "notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_other_files_in_the_folder_are_not_touched_by_reading(folder):
    (folder / "space.py").write_text("raise SystemExit('this must not run')")
    (folder / "weights.pkl").write_bytes(b"cos\nsystem\n(S'touch ran'\ntR.")
    content, _ = archive.read(folder)
    assert content["encoder"] == CONTENT["encoder"]
    assert sorted(path.name for path in folder.iterdir()) == [
        "space.json",
        "space.py",
        "weights.pkl",
        "weights.safetensors",
    ]


# --- where it may be written ------------------------------------------------------------------------


def test_writes_to_an_empty_folder(tmp_path):
    archive.write(tmp_path, CONTENT, TENSORS)
    assert archive.read(tmp_path)[0]["numbers"] == CONTENT["numbers"]


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a space"])
@pytest.mark.parametrize("name", ["thesis.tex", ".hidden", "below/file"])
def test_a_folder_that_holds_something_else_is_not_replaced(tmp_path, name, beside):
    folder = tmp_path / "folder"
    if beside:
        archive.write(folder, CONTENT, TENSORS)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("ten years of work")
    above = name.partition("/")[0]
    says = "holds something other than a space; choose another folder"
    if beside:
        says = f"holds {above} beside the space, which saving would lose; move that away, or choose another"
    with pytest.raises(SpaceError, match=says):
        archive.write(folder, {}, {})
    assert (folder / name).read_text() == "ten years of work"
    assert (folder / "space.json").exists() == beside


def test_of_many_other_files_a_few_are_named(folder):
    for number in range(9):
        (folder / f"{number}.txt").write_text("mine")
    with pytest.raises(SpaceError, match=r"holds 0\.txt, 1\.txt, 2\.txt, 3\.txt, 4\.txt, … beside the space"):
        archive.write(folder, CONTENT, TENSORS)


@pytest.mark.parametrize("protected", ["", "space.json", "weights.safetensors"])
def test_a_write_protected_space_is_not_replaced(folder, monkeypatch, protected):
    """Its parent is not protected, and would let it be swapped for another."""
    (folder / protected).chmod(0o555)
    monkeypatch.setattr(os, "access", lambda path, mode: bool(Path(path).stat().st_mode & 0o200))  # not root
    before = (folder / "space.json").read_bytes()
    with pytest.raises(SpaceError) as caught:
        archive.write(folder, {}, {})
    assert str(caught.value) == (
        f"{folder / protected} may not be written to, so the space in {folder} stays as it is; save to "
        "another folder, or let its owner allow it"
    )
    assert (folder / "space.json").read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="no such rights")
def test_a_space_that_is_replaced_keeps_the_modes_of_its_folder_and_files(folder, monkeypatch):
    modes = {"": 0o750, "space.json": 0o640, "weights.safetensors": 0o600}
    for name, mode in modes.items():
        (folder / name).chmod(mode)
    seen, real = {}, Path.write_bytes

    def written(path, content):
        seen[path.name] = path.stat().st_mode & 0o777
        return real(path, content)

    monkeypatch.setattr(Path, "write_bytes", written)
    archive.write(folder, CONTENT, TENSORS)
    assert {name: (folder / name).stat().st_mode & 0o777 for name in modes} == modes
    assert {"": 0o750, **seen} == modes  # before there was anything to read in them


def test_a_file_is_not_replaced_by_a_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SpaceError, match="holds something other"):
        archive.write(tmp_path / "file", CONTENT, TENSORS)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_damaged_space_can_be_written_anew(folder):
    (folder / "space.json").write_text("{")
    archive.write(folder, CONTENT, TENSORS)
    archive.read(folder)


# --- whole or not at all ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("owner", "name", "call"),
    [
        (safetensors.torch, "save", 1),
        (json, "dumps", 1),
        (Path, "mkdir", 2),
        (Path, "write_bytes", 1),
        (Path, "write_bytes", 2),
        (os, "fsync", 1),
        (os, "fsync", 2),
        (Path, "rename", 1),
        (Path, "rename", 2),
    ],
)
def test_a_failure_at_any_step_leaves_the_old_space_and_no_draft(folder, monkeypatch, owner, name, call):
    calls, real = [], getattr(owner, name)

    def failing(*arguments, **options):
        calls.append(arguments)
        if len(calls) == call:
            raise OSError("no space left on device")
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, failing)
    with pytest.raises(OSError, match="no space left"):
        archive.write(folder, {"encoder": "new"}, {"matrix": torch.zeros(1)})
    monkeypatch.undo()
    assert [path.name for path in folder.parent.iterdir()] == ["space"]
    content, tensors = archive.read(folder)
    assert content["encoder"] == CONTENT["encoder"]
    assert torch.equal(tensors["matrix"], TENSORS["matrix"])


def test_a_space_moved_aside_by_a_dying_process_is_found_by_the_next_reader(folder):
    folder.rename(folder.with_name(".space.old"))
    assert archive.read(folder)[0]["encoder"] == CONTENT["encoder"]
    assert [path.name for path in folder.parent.iterdir()] == ["space"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # newer Pythons: a fork where threads may be
def test_a_process_killed_in_the_middle_of_saving_leaves_a_whole_space(tmp_path):
    folder, seen = tmp_path / "space", set()
    archive.write(folder, {"number": -1}, {"number": torch.tensor(-1)})
    for moment in (0.0, 0.002, 0.005, 0.01, 0.03):
        child = os.fork()
        if child == 0:
            _save_until_killed(folder)
        before = _number(folder)
        for _ in range(5000):
            if _number(folder) not in (before, None):
                break
            time.sleep(0.001)
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        content, tensors = archive.read(folder)
        assert tensors["number"].item() == content["number"]
        seen.add(content["number"])
    assert len(seen) > 1


def _save_until_killed(folder):
    """In the child: numbered spaces, one after the other, as fast as the disk takes them."""
    try:
        start = int(time.time() * 1000)
        for number in range(start, start + 10_000):
            archive.write(folder, {"number": number}, {"number": torch.tensor(number)})
    finally:
        os._exit(1)


def _number(folder):
    """What the space says now, looked at without recovery, which is for after the writer's death."""
    with contextlib.suppress(FileNotFoundError):
        return json.loads((folder / "space.json").read_text())["number"]
    return None


def saved_between(folder, monkeypatch, *, times):
    """Between the header and the weights the space is saved anew, so often."""
    real, saves = storage.read_header, []

    def interrupted(*arguments, **options):
        content = real(*arguments, **options)
        if len(saves) < times:
            saves.append(len(saves))
            archive.write(folder, {"number": len(saves)}, {"number": torch.tensor(len(saves))})
        return content

    monkeypatch.setattr(storage, "read_header", interrupted)
    return saves


@pytest.mark.parametrize("times", [1, 3])
def test_a_space_saved_while_it_is_read_is_read_again(folder, monkeypatch, times):
    saves = saved_between(folder, monkeypatch, times=times)
    content, tensors = archive.read(folder)
    assert len(saves) == times
    assert content["number"] == tensors["number"].item() == times


def test_gives_up_if_the_space_is_saved_for_ever(folder, monkeypatch):
    monkeypatch.setattr(archive, "MOST_SAVES", 4)
    saves = saved_between(folder, monkeypatch, times=100)
    assert "weights.safetensors is not the file" in refused(folder)
    assert len(saves) == 5


@pytest.mark.parametrize("missing", ["space.json", "weights.safetensors", "folder"])
def test_a_file_missing_between_renames_is_read_again(folder, monkeypatch, missing):
    """The moment between two renames, or after the second while the old folder is removed file by file."""
    real, looks = storage.read_header, []

    def early(*arguments, **options):
        looks.append(1)
        if len(looks) > 1:
            return real(*arguments, **options)
        aside = folder.rename(folder.with_name("aside"))
        try:
            if missing != "folder":
                archive.write(folder, {}, {})
                (folder / missing).unlink()
            return real(*arguments, **options)
        finally:
            if missing == "folder":
                aside.rename(folder)
            else:
                archive.write(folder, CONTENT, TENSORS)

    monkeypatch.setattr(storage, "read_header", early)
    content, _ = archive.read(folder)
    assert content["encoder"] == CONTENT["encoder"]
    assert len(looks) == 2


def test_two_readers_may_recover_a_folder_at_once(folder, monkeypatch):
    real, calls = storage.recover_folder, []

    def late(given):
        calls.append(given)
        if len(calls) == 1:
            raise OSError("the folder is there already")
        real(given)

    monkeypatch.setattr(storage, "recover_folder", late)
    assert archive.read(folder)[0]["encoder"] == CONTENT["encoder"]


def test_damage_is_reported_at_the_second_try(folder, monkeypatch):
    (folder / "weights.safetensors").write_bytes(b"")
    looks, real = [], storage.read_header
    monkeypatch.setattr(
        storage, "read_header", lambda *given, **options: looks.append(1) or real(*given, **options)
    )
    assert "damaged" in refused(folder)
    assert len(looks) == 2


def test_reading_needs_no_permission_to_write(folder, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("reading wrote something")

    for owner, name in ((Path, "rename"), (Path, "write_bytes"), (Path, "mkdir"), (storage, "write_folder")):
        monkeypatch.setattr(owner, name, refuse)
    archive.read(folder)
