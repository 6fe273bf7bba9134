"""An open space: what is printed about its items."""

import pytest

from samekind.cli import spaces
from samekind.errors import SettingError


@pytest.fixture(scope="module")
def opened(trained):
    return spaces.open_space(trained, "cpu")


def test_opens_the_space_of_a_run_for_use(opened, trained):
    again = spaces.open_space(trained / "space", "auto")
    assert again.space.classes == opened.space.classes
    assert not opened.space.training
    with pytest.raises(SettingError, match="expected a device"):
        spaces.open_space(trained, "gpu")


def test_names_skipped_files_in_one_line(opened, folders, tmp_path, capsys):
    for place in range(7):
        (tmp_path / f"{place}.png").write_text("no picture")
    items = opened.read([str(folders / "0"), str(tmp_path)], skip_unreadable=True)
    [line] = capsys.readouterr().err.splitlines()
    assert (len(items.ids), len(items.skipped)) == (12, 7)
    assert line.startswith("skipped 7: ")
    assert line.count("cannot read") == 7


def test_reads_labelled_items_of_a_run_a_name_and_a_folder(opened, trained, folders):
    names = [
        opened.read_labelled(str(source), skip_unreadable=False).name
        for source in (trained, "digits", folders)
    ]
    assert names == ["digits, validation", "digits", "folders"]


def test_warns_of_items_that_were_trained_on(opened, folders, capsys):
    spaces.warn_of_training_items(opened, [str(folders)])
    assert capsys.readouterr().err == ""
    spaces.warn_of_training_items(opened, [str(folders), "digits"])
    assert capsys.readouterr().err.startswith("careful: digits holds this space's training items")
