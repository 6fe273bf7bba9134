"""Sprites: a row is a picture, line after line, and labels go through the sprites in order."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from samekind.data import DataSettings
from samekind.data.sources.sprites import labelled, read_sprite, recognises
from samekind.errors import DataError


def save_sprite(path, count, seed, side=4):
    drawn = np.random.default_rng(seed).integers(0, 256, (count, side * side, 3), dtype=np.uint8)
    Image.fromarray(drawn).save(path)
    return torch.tensor(drawn.reshape(count, side, side, 3)).permute(0, 3, 1, 2)


@pytest.fixture
def folder(tmp_path):
    """Two sprites to train with and one to test with, and the pictures they hold."""
    pictures = [
        save_sprite(tmp_path / "data_batch_1.png", 3, 1),
        save_sprite(tmp_path / "data_batch_2.png", 2, 2),
        save_sprite(tmp_path / "test_batch.png", 2, 3),
    ]
    (tmp_path / "train_lables.json").write_text("[4, 0, 4, 2, 0]", encoding="utf-8")
    (tmp_path / "test_lables.json").write_text("[2, 4]", encoding="utf-8")
    (tmp_path / "package.json").write_text("{}", encoding="utf-8")
    return tmp_path, torch.cat(pictures)


def test_pictures_come_in_order_with_their_labels_and_parts(folder):
    path, pictures = folder
    assert recognises(path, DataSettings(), None)
    items = labelled(path, DataSettings())
    assert torch.equal(items.inputs, pictures)
    assert [items.classes[label] for label in items.labels] == ["4", "0", "4", "2", "0", "2", "4"]
    assert items.parts == ("train",) * 5 + ("test",) * 2
    assert items.reader.shape == (3, 4, 4)


def test_the_tenth_sprite_comes_after_the_second(tmp_path):
    """Labels go through the sprites by number; in the order of letters they would be those of others."""
    for number in range(1, 12):
        Image.fromarray(np.full((1, 4), number, dtype=np.uint8)).save(tmp_path / f"data_batch_{number}.png")
    (tmp_path / "train_labels.json").write_text(json.dumps(list(range(1, 12))), encoding="utf-8")
    for name in ("._data_batch_1.png", "._train_labels.json"):  # as macOS leaves them behind
        (tmp_path / name).write_bytes(b"x")
    items = labelled(tmp_path, DataSettings())
    assert [items.classes[label] for label in items.labels] == [
        str(int(image.max())) for image in items.inputs
    ]
    assert len(items) == 11


def test_labels_may_be_names(folder):
    path, _ = folder
    (path / "test_lables.json").rename(path / "test_labels.json")
    (path / "test_labels.json").write_text(json.dumps(["cat", "dog"]), encoding="utf-8")
    assert labelled(path, DataSettings()).classes == ("0", "2", "4", "cat", "dog")


def test_refuses_a_row_that_is_not_square(tmp_path):
    Image.new("RGB", (15, 3)).save(tmp_path / "odd.png")
    with pytest.raises(DataError, match=r"odd\.png is 15 pixels wide, which is not a square number"):
        read_sprite(tmp_path / "odd.png")
    (tmp_path / "text.png").write_text("none", encoding="utf-8")
    with pytest.raises(DataError, match=r"cannot read .*text\.png"):
        read_sprite(tmp_path / "text.png")


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (
            "[1, 2]",
            r"train_lables\.json has 2 labels, but data_batch_1\.png, data_batch_2\.png have 5 pictures",
        ),
        ('{"a": 1}', "must be a JSON list of labels"),
        ("[1.5, 1, 1, 1, 1]", "must be a JSON list of labels"),
        ('["a", "", "a", "b", "b"]', "must be a JSON list of labels"),
        ("[1, 2", "cannot read the labels"),
    ],
)
def test_refuses_labels_that_do_not_fit(folder, labels, says):
    path, _ = folder
    (path / "train_lables.json").write_text(labels, encoding="utf-8")
    with pytest.raises(DataError, match=says):
        labelled(path, DataSettings())


def test_refuses_labels_without_sprites_and_sprites_of_two_sizes(folder):
    path, _ = folder
    save_sprite(path / "data_batch_2.png", 2, 2, side=5)
    with pytest.raises(DataError, match="different sizes"):
        labelled(path, DataSettings())
    (path / "test_batch.png").unlink()
    with pytest.raises(DataError, match=r"no sprite \(\.png\) for test"):
        labelled(path, DataSettings())


def test_does_not_recognise_a_folder_of_class_folders(folder):
    """Whatever lies beside the class folders."""
    root, _ = folder
    assert recognises(root, DataSettings(), None)
    (root / ".git").mkdir()
    assert recognises(root, DataSettings(), None)
    (root / "cats").mkdir()
    assert not recognises(root, DataSettings(), None)
