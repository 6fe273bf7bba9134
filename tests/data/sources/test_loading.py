"""Listings to items: in memory or stored, the same pictures under the same names."""

import numpy as np
import pytest
import torch

from samekind.data import DataSettings, ImageReader, Stored, VectorReader
from samekind.data.sources import folders
from samekind.data.sources.listing import Listing
from samekind.data.sources.loading import fitted, labelled, load, numbered
from samekind.errors import DataError


def list_folder(path):
    return folders.labelled(path, DataSettings())


@pytest.mark.parametrize("memory", ["auto", "always", "never"])
def test_pictures_come_with_their_labels(make_folder, make_picture, tmp_path, memory):
    root = make_folder({"cat": 2, "dog": 3})
    items = load(list_folder(root), DataSettings(memory=memory))
    assert isinstance(items.inputs, Stored) is (memory == "never")
    assert getattr(items.inputs, "stays", False) is (memory == "never")
    assert items.classes == ("cat", "dog")
    assert items.labels.tolist() == [0, 0, 1, 1, 1]
    assert items.ids == ("cat/0.png", "cat/1.png", "dog/0.png", "dog/1.png", "dog/2.png")
    assert items.inputs.dtype == torch.uint8
    for seed in range(5):
        by_hand = make_picture(tmp_path / "again.png", seed).transpose(2, 0, 1)
        assert torch.equal(items.inputs[seed : seed + 1][0], torch.tensor(by_hand.copy()))
    assert items.reader.shape == (3, 6, 8)


def test_pictures_above_the_memory_limit_stay_on_the_disk(make_folder):
    root = make_folder({"cat": 2, "dog": 2})
    size = 4 * 3 * 6 * 8
    assert isinstance(load(list_folder(root), DataSettings(memory_limit=size - 1)).inputs, Stored)
    assert isinstance(load(list_folder(root), DataSettings(memory_limit=size)).inputs, torch.Tensor)


def test_names_broken_headings_and_broken_content_in_one_error(make_folder):
    root = make_folder({"cat": 3, "dog": 3})
    (root / "cat/1.png").write_bytes(b"")
    whole = (root / "dog/0.png").read_bytes()
    (root / "dog/0.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(
        DataError, match=r"^2 of 6 files cannot be read(.|\n)*1\.png(.|\n)*0\.png: .*truncated"
    ):
        load(list_folder(root), DataSettings())


@pytest.mark.parametrize("memory", ["always", "never"])
@pytest.mark.parametrize("given", [{}, {"size": (6, 8), "channels": 3}])
def test_unreadable_files_are_all_named_or_all_skipped(make_folder, memory, given):
    root = make_folder({"cat": 3, "dog": 3})
    for name in ("cat/1.png", "dog/0.png"):
        (root / name).write_bytes(b"broken")
    with pytest.raises(DataError, match=r"(?s)2 of 6 files cannot be read.*cat/1\.png.*dog/0\.png"):
        load(list_folder(root), DataSettings(memory=memory, **given))
    items = load(list_folder(root), DataSettings(memory=memory, skip_unreadable=True, **given))
    assert items.ids == ("cat/0.png", "cat/2.png", "dog/1.png", "dog/2.png")
    assert items.labels.tolist() == [0, 0, 1, 1]
    assert [note.partition(":")[0] for note in items.notes] == ["skipped", "skipped"]
    assert len(items.inputs[:]) == 4


def test_a_picture_cut_short_is_found_when_it_is_decoded(make_folder):
    root = make_folder({"cat": 2, "dog": 2}, height=60, width=60)
    cut = root / "cat" / "0.png"
    cut.write_bytes(cut.read_bytes()[:4000])
    with pytest.raises(DataError, match=r"1 of 4 files cannot be read"):
        load(list_folder(root), DataSettings())
    stored = load(list_folder(root), DataSettings(memory="never"))
    with pytest.raises(DataError, match=r"cannot read .*cat/0\.png"):
        stored.batch(torch.tensor([0, 1]))


def test_refuses_if_no_file_is_readable(make_folder):
    root = make_folder({"cat": 1})
    (root / "cat" / "0.png").write_bytes(b"broken")
    with pytest.raises(DataError, match=r"^cannot read .*0\.png: it is not an image"):
        load(list_folder(root), DataSettings(skip_unreadable=True))


def test_arrays_in_class_folders_are_items(tmp_path):
    for label in ("a", "b"):
        (tmp_path / "set" / label).mkdir(parents=True)
        for number in range(2):
            np.save(tmp_path / "set" / label / f"{number}.npy", np.full(3, number + 0.5))
    items = load(list_folder(tmp_path / "set"), DataSettings())
    assert items.inputs.tolist() == [[0.5] * 3, [1.5] * 3] * 2
    assert items.labels.tolist() == [0, 0, 1, 1]
    assert isinstance(items.reader, VectorReader)


def test_given_classes_decide_the_order_and_exclude_others(make_folder):
    root = make_folder({"cat": 1, "dog": 1})
    items = load(list_folder(root), DataSettings(classes=("emu", "dog", "cat")))
    assert items.classes == ("emu", "dog", "cat")
    assert items.labels.tolist() == [2, 1]
    with pytest.raises(DataError, match=r'outside the given classes: "cat"; for the first, .*"bat"'):
        load(list_folder(root), DataSettings(classes=("dog", "bat")))


def test_notes_say_what_was_left_out(make_folder):
    root = make_folder({"cat": 1, "dog": 1, "emu": 0})
    (root / "README").write_text("about", encoding="utf-8")
    notes = load(list_folder(root), DataSettings()).notes
    assert notes == (
        'the class "emu" has no items and is left out',
        "1 file is neither picture, sound nor array and is left out: README",
    )


def test_texts_become_numbers_by_their_order():
    numbers, names = numbered(["b", "a", "b", "c"], [0, 1, 2])
    assert numbers.tolist() == [1, 0, 1]
    assert names == ("a", "b")
    assert numbered(None, [0]) == (None, ())


def test_extras_follow_the_files():
    listing = Listing(
        name="x",
        files=(),
        labels=["p", "q", "p"],
        ids=["0", "1", "2"],
        domains=["u", "v", "u"],
        parts=["train", "test", "test"],
        groups=["9", "10", "9"],
    )
    items = labelled(torch.zeros(2, 4), listing, DataSettings(), [1, 2])
    assert (items.labels.tolist(), items.classes) == ([1, 0], ("p", "q"))
    assert (items.domains.tolist(), items.domain_names) == ([1, 0], ("u", "v"))
    assert (items.parts, items.ids, items.groups.tolist()) == (("test", "test"), ("1", "2"), [1, 0])


def test_pictures_in_memory_are_resized_and_floats_are_not():
    inputs, reader, _ = fitted(torch.zeros(2, 3, 8, 8, dtype=torch.uint8), DataSettings(size=4, channels=1))
    assert inputs.shape == (2, 1, 4, 4)
    assert isinstance(reader, ImageReader)
    with pytest.raises(DataError, match="size is for pictures of bytes"):
        fitted(torch.zeros(2, 5), DataSettings(size=4))
    assert fitted(torch.zeros(2, 7, 8), DataSettings())[1] is None


@pytest.mark.parametrize("memory", ["always", "never"])
@pytest.mark.parametrize("channels", [3, None])
def test_the_middle_of_larger_pictures(make_folder, memory, channels):
    folder = make_folder({"cat": 2, "dog": 1})
    larger = load(list_folder(folder), DataSettings(size=10, channels=3, fit="crop"))
    cut = DataSettings(size=(6, 8), channels=channels, fit="crop", cut_from=10, memory=memory)
    items = load(list_folder(folder), cut)
    assert items.reader.cut_from == (10, 10)
    assert torch.equal(items.inputs[:], larger.inputs[:, :, 2:8, 1:9])
