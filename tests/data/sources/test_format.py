"""Every format answers the same calls, and one list names them all."""

import inspect
import re
from pathlib import Path

import pytest
import torch

from samekind.data import (
    ArrayReader,
    DataSettings,
    ImageReader,
    TableReader,
    VectorReader,
    open_data,
    sources,
)
from samekind.data.sources import FORMATS, KNOWN, named
from samekind.data.sources.format import Format, may_read, shaped
from samekind.errors import DataError

SRC = Path(sources.__file__).parents[2]


def test_every_format_answers_the_same_calls():
    for format in (named, *FORMATS):
        for call in ("recognises", "labelled", "unlabelled"):
            expected = list(inspect.signature(getattr(Format, call)).parameters)[1:]
            assert list(inspect.signature(getattr(format, call)).parameters) == expected, format.__name__


def test_the_sentence_of_formats_is_made_of_theirs():
    for format in (named, *FORMATS):
        assert format.FORMAT in KNOWN
    with pytest.raises(DataError, match=re.escape(f"expected {KNOWN}")):
        open_data("no/such/file.csv")


def test_formats_are_dispatched_in_one_place():
    """Only sources/__init__.py imports more than a few formats."""
    modules = [format.__name__.rpartition(".")[2] for format in FORMATS]
    several = {}
    for path in SRC.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        names = [name for name in modules if re.search(rf"sources(\.| import .*\b){name}\b", text)]
        if len(names) > 2 or "recognises(" in text.replace("def recognises(", ""):
            several[path.relative_to(SRC).as_posix()] = names
    assert list(several) == ["data/sources/__init__.py"]


def test_nothing_asks_a_reader_for_its_class_or_items_for_their_dimensions():
    """Outside data/media that is a question for the medium."""
    offences = [
        f"{path.relative_to(SRC)}: {line}"
        for path in SRC.rglob("*.py")
        for line in questions_for_the_medium(
            path.read_text(encoding="utf-8"), path.relative_to(SRC).as_posix()
        )
    ]
    assert offences == []


def questions_for_the_medium(source, module):
    """Lines that ask for the class of a reader, which no module may, or for the dimensions of items.

    Encoders and augmentations check the tensors that they are given, whatever the items are.
    """
    asked = [r"isinstance\([^)]*Reader\b"]
    if not module.startswith(("data/media/", "encoders/", "augmentations/")):
        asked += [r"\.(dim\(\)|ndim) *[=!]= *4\b", r"len\([\w.]*shape\) *[=!<>]=? *[0-9]"]
    return [line.strip() for line in source.splitlines() if re.search("|".join(asked), line)]


@pytest.mark.parametrize(
    ("line", "module", "offends"),
    [
        ("if isinstance(reader, ImageReader):", "data/media/vectors.py", True),
        ("if isinstance(reader, (A, TableReader)):", "cli/init.py", True),
        ("if x.dim() == 4:", "training/learner.py", True),
        ("if len(items.shape) == 3:", "recipes/encoder.py", True),
        ("if len(shape) == 3:", "data/media/arrays.py", False),
        ("if x.dim() == 4:", "encoders/images.py", False),
        ("if x.dim() == 2:", "losses/triplet.py", False),
    ],
)
def test_the_rule_about_readers_and_dimensions_can_fail(line, module, offends):
    assert questions_for_the_medium(line, module) == ([line] if offends else [])


def test_readers_take_files_by_their_endings():
    pictures, rows = ImageReader(height=2, width=2), TableReader(columns=["a"])
    vectors, arrays = VectorReader(dimension=2), ArrayReader(shape=(1, 2, 2))
    assert [may_read(reader, "a/b.PNG") for reader in (pictures, rows, vectors, arrays)] == [True] + [
        False
    ] * 3
    assert all(may_read(reader, "a.npy") for reader in (pictures, rows, vectors, arrays))
    assert [may_read(reader, "a.csv") for reader in (pictures, rows, vectors, arrays)] == [
        False,
        True,
        False,
        False,
    ]


def test_rows_of_another_shape_are_refused_and_pictures_resized(tmp_path):
    with pytest.raises(DataError, match=r"holds items of shape \(3,\); expected \(2,\)"):
        shaped(torch.zeros(4, 3), VectorReader(dimension=2), tmp_path)
    images = torch.zeros(4, 1, 6, 6, dtype=torch.uint8)
    assert shaped(images, ImageReader(height=2, width=2), tmp_path).shape == (4, 1, 2, 2)


def test_settings_reach_the_format(tmp_path):
    (tmp_path / "t.csv").write_text("x,species\n1,a\n2,b\n", encoding="utf-8")
    assert open_data(tmp_path / "t.csv", settings=DataSettings(label="species")).classes == ("a", "b")
