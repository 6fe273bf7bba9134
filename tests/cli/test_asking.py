"""The space on its device, items read its way, embeddings with a bar."""

import shutil

import pytest
import torch
from rich.console import Console

from samekind.cli import asking
from samekind.data import Stored
from samekind.errors import DataError, SettingError, SpaceError
from samekind.inference import embed_files
from samekind.inference.open_set import divided
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def space(trained):
    return asking.open_space(trained, "cpu")


def test_the_space_is_that_of_the_run_ready_for_use(space, trained):
    again = asking.open_space(trained / "space", "auto")
    assert again.classes == space.classes
    assert not space.training
    with pytest.raises(SettingError, match="expected a device"):
        asking.open_space(trained, "gpu")


def test_a_kind_is_one_the_space_has(space):
    assert [asking.known_kind(space, kind) for kind in space.kinds] == space.kinds
    with pytest.raises(SpaceError, match=r'no score "cosin"; did you mean "cosine"\?'):
        asking.known_kind(space, "cosin")


def test_items_are_read_as_single_files_are(space, folders):
    paths = sorted(folders.glob("1/*.png"))
    items = asking.collected(space, [str(each) for each in paths], skip_unreadable=False)
    z = asking.embedded(space, items.inputs, title="any")
    assert items.ids == tuple(str(each) for each in paths)
    torch.testing.assert_close(z, embed_files(space, paths))


def test_batches_make_no_difference(space, folders, monkeypatch):
    items = asking.collected(space, [str(folders)], skip_unreadable=False)
    whole = asking.embedded(space, items.inputs, title="any")
    monkeypatch.setattr(asking, "BATCH", 5)
    torch.testing.assert_close(asking.embedded(space, items.inputs, title="any"), whole)


def test_a_space_without_a_reader_cannot_read(space):
    bare = MetricSpace(space.encoder, space.similarity, space.prototypes)
    with pytest.raises(SpaceError, match="does not say how to read a file"):
        asking.collected(bare, ["anything"], skip_unreadable=False)


def test_an_empty_folder_is_nothing_to_read(space, tmp_path):
    with pytest.raises(DataError):
        asking.collected(space, [str(tmp_path)], skip_unreadable=True)


def test_what_is_skipped_is_named_in_one_line(space, folders, tmp_path, capsys):
    for place in range(7):
        (tmp_path / f"{place}.png").write_text("no picture")
    items = asking.collected(space, [str(folders / "0"), str(tmp_path)], skip_unreadable=True)
    [line] = capsys.readouterr().err.splitlines()
    assert (len(items.ids), len(items.skipped)) == (12, 7)
    assert line.startswith("skipped 7: ")
    assert line.count("cannot read") == 7


@pytest.mark.parametrize(("stored", "known"), [("o\u0308", "\u00f6"), ("\u00f6", "o\u0308")])
def test_labels_are_spelt_as_the_space_has_them(trained, folders, tmp_path, stored, known):
    space = asking.open_space(trained, "cpu")
    space.rename(space.classes[0], known)
    shutil.copytree(folders / "0", tmp_path / "new" / stored)
    shutil.copytree(folders / "7", tmp_path / "new" / "other")
    found = asking.collected(space, [str(tmp_path / "new")], skip_unreadable=False)
    assert set(found.labels) == {known, "other"}
    items = asking.labelled(space, str(tmp_path / "new"), skip_unreadable=False)
    assert [len(each) for each in divided(space, items)] == [12, 12]


def test_the_bar_counts_on_a_terminal_and_is_silent_elsewhere(monkeypatch, capsys):
    with asking.bar("title", 10) as advance:
        advance(10)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(
        asking, "messages", lambda: Console(stderr=True, force_terminal=True, width=80, color_system=None)
    )
    with asking.bar("[red]title", 10) as advance:
        advance(4)
        advance(6)
    assert "[red]title" in (told := capsys.readouterr().err)
    assert "10/10" in told


def test_pictures_that_stay_on_the_disk_are_embedded_too(space, folders, monkeypatch):
    paths = sorted(folders.rglob("*.png"))
    monkeypatch.setattr(asking, "BATCH", 7)
    z = asking.embedded(space, Stored(paths, space.reader), title="any")
    torch.testing.assert_close(z, embed_files(space, paths))
