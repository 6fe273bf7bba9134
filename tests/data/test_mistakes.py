# ruff: noqa: E501 (a row of the table is a line)
"""Mistakes people make with data, and the one sentence each of them gets.

`MISTAKES` is a table: what was done, how to do it, and a pattern of the answer. ``commit`` is given an empty
folder, and either runs into the error or returns what an examination says; `answer` is that text, with the
folder left out, so that a page can be made of the table.
"""

import gzip
import pickle
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from PIL import Image

from samekind.data import (
    DataSettings,
    ImageReader,
    Items,
    Split,
    SplitSettings,
    TableReader,
    VectorReader,
    clusters,
    collect,
    digits,
    examine,
    open_data,
    prepare,
    write_image,
)
from samekind.errors import SamekindError


class Mistake(NamedTuple):
    """What was done; how to do it in an empty folder; a pattern that the whole answer begins with."""

    what: str
    commit: Callable[[Path], object]
    says: str


def answer(mistake: Mistake, folder: Path) -> str:
    """The sentence, or sentences, a mistake gets, without the folder it was made in."""
    try:
        said = mistake.commit(folder)
    except SamekindError as error:
        said = str(error)
    return str(said).replace(f"{folder}/", "").replace(str(folder), "the folder")


# --- how to do it -----------------------------------------------------------------------------------


def picture(path: Path, seed: int = 0, *, height: int = 6, width: int = 8) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    Image.fromarray(drawn).save(path)
    return path


def animals(folder: Path, counts: dict[str, int] | None = None) -> Path:
    for place, (label, count) in enumerate((counts or {"cat": 3, "dog": 3}).items(), start=1):
        (folder / "animals" / label).mkdir(parents=True)
        for number in range(count):
            picture(folder / "animals" / label / f"{number}.png", 100 * place + number)
    return folder / "animals"


def text(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def table(folder: Path, content: str) -> Path:
    return text(folder / "flowers.csv", content)


def errors(source: object, **settings: object) -> str:
    return "; ".join(examine(source, settings=DataSettings(**settings)).errors)


def warnings(source: object, **settings: object) -> str:
    return "; ".join(examine(source, settings=DataSettings(**settings)).warnings)


def npz(folder: Path, **arrays: object) -> Path:
    np.savez(folder / "set.npz", **arrays)
    return folder / "set.npz"


def idx(folder: Path, *, images: bytes | None = None, labels: int = 2) -> Path:
    whole = struct.pack(">BBBBIII", 0, 0, 8, 3, 2, 4, 4) + bytes(32)
    text(folder / "train-images-idx3-ubyte", whole if images is None else images)
    text(folder / "train-labels-idx1-ubyte", struct.pack(">BBBBI", 0, 0, 8, 1, labels) + bytes(labels))
    return folder


def broken_among(folder: Path) -> Path:
    root = animals(folder)
    text(root / "cat" / "1.png", "not a picture")
    return root


def cut_short(folder: Path) -> Path:
    path = picture(animals(folder) / "cat" / "0.png", height=80, width=80)
    return text(path, path.read_bytes()[:3000])


def twice_in_a_manifest(folder: Path) -> Path:
    picture(folder / "a.png")
    return text(folder / "list.csv", "path,label\na.png,cat\na.png,dog\n")


def unlisted_part(folder: Path) -> Items:
    rows = "".join(f"{n},{'cat' if n % 2 else 'dog'},{'trian' if n else 'test'}\n" for n in range(6))
    return open_data(table(folder, f"size,label,split\n{rows}"))


def locked_archive(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "locked.zip", "w") as archive:
        archive.write(picture(folder / "cat" / "0.png"), "cat/0.png")
        archive.write(picture(folder / "cat" / "0.png"), "dog/0.png")
    content = bytearray((folder / "locked.zip").read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag "encrypted" of each entry
        for match in re.finditer(re.escape(mark), bytes(content)):
            content[match.start() + offset] |= 1
    return text(folder / "locked.zip", bytes(content))


def copied_across_parts(folder: Path) -> Path:
    rows = "".join(f"{n},{n * 7 % 5},{'cat' if n % 2 else 'dog'},train\n" for n in range(6))
    return table(folder, f"height,width,label,split\n{rows}0,0,dog,test\n9,8,cat,test\n")


def grouped(groups: list[int]) -> Items:
    items = clusters(classes=2, items=len(groups) // 2, dimension=2)
    return Items(items.inputs, items.labels, items.classes, "clusters", groups=torch.tensor(groups))


def saved_split(folder: Path) -> Path:
    split = prepare(clusters(classes=2, items=9, dimension=2)).split
    split.save(folder / "split.json")
    return folder / "split.json"


# --- the table --------------------------------------------------------------------------------------

MISTAKES = (
    # where the data is
    Mistake("a name misspelt", lambda f: open_data("digit"), 'there is no data "digit", nor a file or folder of that name; did you mean "digits"'),
    Mistake("a path misspelt", lambda f: open_data(f / "animels"), "there is no (data|file or folder)"),
    Mistake("a table that is not there", lambda f: open_data(f / "t.csv"), r"there is no file or folder t\.csv"),
    Mistake("a single picture", lambda f: open_data(picture(f / "a.png")), r"a\.png is a single picture"),
    Mistake("a kind of file not known", lambda f: open_data(text(f / "a.docx", "x")), r"cannot tell what a\.docx is"),
    Mistake("an array without labels", lambda f: open_data(text(f / "a.npy", "x")), r"a\.npy is an array without labels"),
    # folders and archives of pictures
    Mistake("an empty folder", lambda f: open_data(f), r".* has no pictures, sounds or arrays; expected folders of them"),
    Mistake("pictures without class folders", lambda f: open_data(picture(f / "x" / "a.png").parent), "the pictures of x lie in no class folder"),
    Mistake("some pictures outside the class folders", lambda f: open_data(picture(animals(f) / "a.png").parent), "1 of the 7 pictures of animals lie in no class folder"),
    Mistake("pictures and tables mixed", lambda f: open_data(text(animals(f) / "cat" / "a.csv", "x").parents[1]), "animals has pictures and tables in its class folders"),
    Mistake("pictures and arrays mixed", lambda f: (np.save(animals(f) / "cat" / "a.npy", np.zeros(3)), open_data(f / "animals"))[-1], r"animals has 1 \.npy arrays among 7 files"),
    Mistake("sounds of a kind that is not read", lambda f: open_data(text(f / "speech" / "anna" / "1.m4a", "").parents[1]), "speech has no pictures, sounds or arrays; .*; .m4a is not read: convert sounds"),
    Mistake("a sound that is an empty file", lambda f: open_data(text(f / "speech" / "anna" / "1.wav", "").parents[1]), r".*1\.wav is an empty file; expected a sound"),
    Mistake("a text named as a sound", lambda f: open_data(text(f / "speech" / "anna" / "1.wav", "no sound").parents[1]), "cannot read .*1.wav: Format not recognised; expected a sound"),
    Mistake("a single sound", lambda f: open_data(text(f / "a.flac", "x")), r"a\.flac is a single sound, without a label; put the sounds of each class in a folder"),
    Mistake("an empty class folder", lambda f: warnings(animals(f, {"cat": 3, "dog": 3, "emu": 0})), "1 class folder has no items: emu"),
    Mistake("one class only", lambda f: errors(animals(f, {"cat": 3})), 'there is one class only, "cat"'),
    Mistake("a class with a single picture", lambda f: warnings(animals(f, {"cat": 3, "dog": 1})), "1 class has a single item"),
    Mistake("classes that differ by case", lambda f: warnings(animals(f, {"cat": 3, "Cat": 3})), 'the classes "Cat" and "cat" differ only by case'),
    Mistake("pictures of different sizes", lambda f: warnings(picture(animals(f) / "cat" / "a.png", height=5).parents[1]), ".*the pictures have 2 different sizes, from 8 x 5 to 8 x 6; all are brought to 6 x 6"),
    Mistake("a file that is no picture", lambda f: open_data(broken_among(f)), r"1 of 6 files cannot be read; .*\n  cannot read .*1\.png: it is not an image"),
    Mistake("a picture cut short", lambda f: open_data(cut_short(f).parents[1], settings=DataSettings(size=8)), r"1 of 6 files cannot be read; .*\n  cannot read .*0\.png: "),
    Mistake("the same picture under two labels", lambda f: warnings(text(animals(f) / "cat" / "9.png", (f / "animals/dog/0.png").read_bytes()).parents[1]), "1 item repeats the content of another .*more than one label"),
    Mistake("a blank picture", lambda f: (Image.new("RGB", (8, 6)).save(animals(f) / "cat" / "1.png"), warnings(f / "animals"))[-1], r".*1 picture is blank"),
    Mistake("a zip that is none", lambda f: open_data(text(f / "a.zip", "x")), r"cannot read a\.zip as a \.zip archive"),
    Mistake("a zip with a password", lambda f: open_data(locked_archive(f)), r"(?s)2 of 2 files cannot be read.*cannot unpack cat/0\.png from locked\.zip: .*password"),
    # manifests
    Mistake("a manifest that names missing files", lambda f: open_data(text(f / "l.csv", "path,label\nx.png,a\n")), r"cannot read x\.png: No such file"),
    Mistake("a manifest that contradicts itself", lambda f: open_data(twice_in_a_manifest(f)), r'list\.csv names a file twice: a\.png is "cat" in row 1 and "dog" in row 2'),
    Mistake("a manifest without labels", lambda f: open_data(text(f / "l.csv", "path,lable\nx.png,a\n")), r'l\.csv has no column "label"; did you mean "lable"'),
    Mistake("a label that is no given class", lambda f: open_data(animals(f), settings=DataSettings(classes=("cat", "dot"))), 'animals has labels outside the given classes: "dog"; for the first, did you mean "dot"'),
    # tables
    Mistake("an empty table", lambda f: open_data(table(f, "")), r"flowers\.csv is empty"),
    Mistake("a table without rows", lambda f: open_data(table(f, "a,label\n")), r"flowers\.csv has a heading but no rows"),
    Mistake("a table without a heading", lambda f: open_data(table(f, "1,2\n3,4\n")), r"flowers\.csv has no heading"),
    Mistake("a table without the label column", lambda f: open_data(table(f, "a,Label\n1,x\n")), r'flowers\.csv has no column "label"; did you mean "Label".*; name the column of the class with --label '),
    Mistake("two columns of one name", lambda f: open_data(table(f, "a,a,label\n1,2,x\n")), r"flowers\.csv has columns of the same name: a"),
    Mistake("a row too short", lambda f: open_data(table(f, "a,b,label\n1,2,x\n1,x\n")), r"flowers\.csv: row 2 has 2 values where the heading has 3"),
    Mistake("a missing value", lambda f: open_data(table(f, "a,label\n1,x\n,y\n")), r'flowers\.csv has 1 missing values: row 2, column "a"'),
    Mistake("a missing label", lambda f: open_data(table(f, "a,label\n1,x\n2,\n")), r'flowers\.csv: the column "label" is empty in row 2'),
    Mistake("a column of words", lambda f: open_data(table(f, "a,label\n1,x\nred,y\n")), r'flowers\.csv: the column "a" is not numbers \("red" in row 2\)'),
    Mistake("decimal commas", lambda f: open_data(table(f, "a;label\n1,5;x\n2,5;y\n")), r'flowers\.csv: the column "a" is not numbers \("1,5" in row 1\)'),
    Mistake("an infinite value", lambda f: open_data(table(f, "a,label\n1,x\ninf,y\n")), r'flowers\.csv: row 2, column "a" is not a finite number'),
    Mistake("only a label column", lambda f: open_data(table(f, "label\nx\ny\n")), r"flowers\.csv has no column of features beside label"),
    Mistake("a feature that is not there", lambda f: open_data(table(f, "height,label\n1,x\n"), settings=DataSettings(columns=("hight",))), r'flowers\.csv has no column "hight"; did you mean "height"'),
    Mistake("a table not in UTF-8", lambda f: open_data(text(f / "t.csv", b"a,label\n1,\xe9\n")), r"t\.csv is not text in UTF-8"),
    Mistake("a broken Parquet file", lambda f: open_data(text(f / "t.parquet", "x")), r"cannot read t\.parquet as a Parquet table"),
    Mistake("measurements as labels", lambda f: errors(table(f, "a,label\n" + "".join(f"{n},{n / 8 + 0.01}\n{n * n},{n / 8 + 0.01}\n" for n in range(9)))), "the labels look like measurements, not classes"),
    Mistake("ages as labels", lambda f: warnings(table(f, "a,label\n" + "".join(f"{n * n},{20 + n % 30}\n" for n in range(90)))), "the 30 labels are numbers, with fewer than 5 items of each"),
    Mistake("a constant column", lambda f: warnings(table(f, "a,b,label\n" + "".join(f"{n * n % 7},5,{'xy'[n % 2]}\n" for n in range(6)))), '1 column is constant and tells nothing: "b"'),
    Mistake("a column that counts the rows", lambda f: warnings(table(f, "n,a,label\n" + "".join(f"{n},{n * n % 7},{'xy'[n % 2]}\n" for n in range(6)))), 'the column "n" counts the rows'),
    Mistake("the same row in train and test", lambda f: warnings(copied_across_parts(f)), r".*1 content is in more than one part: row 1 \(train\) = row 7 \(test\)"),
    # arrays, IDX files, sprites
    Mistake("an archive without inputs", lambda f: open_data(npz(f, foo=np.zeros(3))), r'set\.npz has no array "inputs" .*; it has foo'),
    Mistake("labels of another length", lambda f: open_data(npz(f, x=np.zeros((3, 2)), y=np.zeros(2))), r"labels of set\.npz must be one for each of the 3 items"),
    Mistake("whole numbers as inputs", lambda f: open_data(npz(f, x=np.zeros((3, 2), dtype=int), y=np.zeros(3))), r"inputs of set\.npz must hold floats or uint8, got int64"),
    Mistake("an array with NaN", lambda f: open_data(npz(f, x=np.full((3, 2), np.nan), y=np.zeros(3))), r"inputs of set\.npz holds values that are not finite"),
    Mistake("Python objects in an archive", lambda f: open_data(npz(f, x=np.array([{}, {}]), y=np.zeros(2))), r"cannot unpack x\.npy from set\.npz: it holds values of the type .*, not numbers or texts"),
    Mistake("an IDX file cut short", lambda f: open_data(idx(f, images=struct.pack(">BBBBIII", 0, 0, 8, 3, 2, 4, 4) + bytes(9))), r"train-images-idx3-ubyte should hold 32 bytes"),
    Mistake("an IDX file of something else", lambda f: open_data(idx(f, images=gzip.compress(b"x"))), r"train-images-idx3-ubyte is not an IDX file"),
    Mistake("IDX labels of another length", lambda f: open_data(idx(f, labels=5)), r"train-images-idx3-ubyte has 2 images, but train-labels-idx1-ubyte has 5 labels"),
    Mistake("a CIFAR file cut short", lambda f: (text(f / "c" / "batches.meta.txt", "cat"), open_data(text(f / "c" / "data_batch_1.bin", b"x" * 4000).parent))[-1], r"c/data_batch_1\.bin should hold records of 3,073 bytes"),
    Mistake("a CIFAR file that would run something", lambda f: (text(f / "c" / "batches.meta", pickle.dumps(print)), open_data(text(f / "c" / "data_batch_1", "").parent))[-1], r"cannot read c/batches\.meta .*asks for .*print, which is not run"),
    Mistake("a sprite that is no square", lambda f: (picture(f / "s" / "a.png"), open_data(text(f / "s" / "labels.json", "[1]").parent))[-1], r"s/a\.png is 8 pixels wide, which is not a square number"),
    # settings
    Mistake("a setting misspelt", lambda f: DataSettings.from_dict({"sise": 3}), r'data: there is no setting "sise"; did you mean "size"'),
    Mistake("a size of nothing", lambda f: DataSettings(size=0), r"data\.size: expected a whole number \(1 or more\) or a list of 2; got 0"),
    Mistake("two channels", lambda f: DataSettings(channels=2), r'data\.channels: "2" is not a choice; Known: 1, 3'),
    Mistake("a number for the name of a column", lambda f: DataSettings(label=5), r"data\.label: expected a text, got 5"),
    Mistake("a word for true or false", lambda f: DataSettings(skip_unreadable="yes"), r"data\.skip_unreadable: expected true or false, got 'yes'"),
    # splits
    Mistake("numbers for the names of classes", lambda f: SplitSettings(unseen=[7, 8]), r"split\.unseen: expected a list of texts or .* got \[7, 8\]"),
    Mistake("a number for the fractions", lambda f: SplitSettings(fractions=0.6), r"split\.fractions: expected a table of settings, got 0\.6"),
    Mistake("an unseen class that is not there", lambda f: prepare(digits(), unseen=["seven"]), 'digits has no class "seven"'),
    Mistake("every class unseen", lambda f: prepare(digits(), unseen=list("0123456789")), "a split by class needs items of seen and of unseen classes"),
    Mistake("fractions that are no whole", lambda f: prepare(digits(), fractions={"train": 0.5, "test": 0.2}), "the fractions of a split must sum to 1"),
    Mistake("a split by groups without groups", lambda f: prepare(digits(), SplitSettings(by="group")), "digits has no groups to keep together"),
    Mistake("fewer groups than parts", lambda f: prepare(grouped([0, 0, 1, 1]), SplitSettings(by="group")), "there are 2 groups for 3 parts"),
    Mistake("a split by parts that are not given", lambda f: prepare(digits(), SplitSettings(by="part")), "digits does not say which part an item belongs to"),
    Mistake("a part misspelt", lambda f: prepare(unlisted_part(f), SplitSettings(by="part")), r'flowers\.csv has items of a part "trian"; did you mean "train"'),
    Mistake("a split of other data", lambda f: Split.load(saved_split(f), digits()), r"split\.json splits another data set than digits"),
    # items given to a trained space
    Mistake("nothing to read", lambda f: collect([f], ImageReader(height=4, width=4)), "there is nothing to read in the folder"),
    Mistake("a table for a space of pictures", lambda f: collect([table(f, "a\n1\n")], ImageReader(height=4, width=4)), r"flowers\.csv is a table, but this space reads pictures"),
    Mistake("a picture for a space of vectors", lambda f: collect([picture(f / "a.png")], VectorReader(dimension=3)), r"cannot read a\.png: vectors are stored as \.npy arrays of shape \(3,\)"),
    Mistake("a picture for a space of tables", lambda f: collect([picture(f / "a.png")], TableReader(columns=["a", "b"])), r"cannot read a\.png: this space reads rows of a table"),
    Mistake("a table that lacks a column", lambda f: collect([table(f, "a\n1\n")], TableReader(columns=["a", "b"])), r'flowers\.csv has no column "b"'),
    Mistake("a vector of another length", lambda f: (np.save(f / "a.npy", np.zeros(4)), collect([f / "a.npy"], VectorReader(dimension=3)))[-1], r"a\.npy does not fit: .*got shape \(4,\)"),
    Mistake("a picture with values above 1", lambda f: write_image(f / "a.png", torch.full((1, 2, 2), 2.0)), r"an image has values in \[0, 1\]; got 2 to 2"),
)  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.what for mistake in MISTAKES])
def test_the_mistake_gets_its_message(mistake, tmp_path):
    said = answer(mistake, tmp_path)
    assert re.match(mistake.says, said), said
    assert str(tmp_path) not in said


def test_mistakes_are_many_and_different():
    assert len({mistake.what for mistake in MISTAKES}) == len(MISTAKES) >= 40
