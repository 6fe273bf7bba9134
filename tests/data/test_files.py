"""Files on the disk and in archives: the same bytes, from any thread, and a sentence when there are none."""

import hashlib
import pickle
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from samekind.data import files
from samekind.data.files import Archive, Member, digest, is_hidden, opened
from samekind.errors import DataError


@pytest.fixture
def archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as writer:
        writer.mkdir("empty")
        for number in range(50):
            writer.writestr(f"in/{number}.txt", f"{number}," * 1000)
    return Archive(tmp_path / "a.zip")


def test_an_archive_names_its_files_and_folders(archive):
    assert archive.members() == [f"in/{number}.txt" for number in range(50)]
    assert archive.folders() == ["empty"]


def packed(path, names, system):
    """An archive with these members, as if made under the system of that number; each holds its name."""
    with zipfile.ZipFile(path, "w") as writer:
        for name in names:
            entry = zipfile.ZipInfo("x")
            entry.filename, entry.create_system = name, system  # as it is: `ZipInfo` would tidy it up
            writer.writestr(entry, name)
    return Archive(path)


def test_backslashes_from_windows_are_slashes(tmp_path):
    """As .NET wrote them for years; a folder of its own ends in one."""
    archive = packed(tmp_path / "windows.zip", ["set\\cat\\0.png", "set\\dog\\", "plain.png"], system=0)
    assert archive.members() == ["set/cat/0.png", "plain.png"]
    assert archive.folders() == ["set/dog"]
    assert archive.read("set/cat/0.png") == b"set\\cat\\0.png"
    with opened(pickle.loads(pickle.dumps(Member(archive, "set/cat/0.png")))) as stream:
        assert stream.read() == b"set\\cat\\0.png"


@pytest.mark.parametrize(("name", "system"), [("a\\b.png", 3), ("set/a\\b.png", 0)])
def test_a_backslash_may_belong_to_a_name_elsewhere(tmp_path, name, system):
    archive = packed(tmp_path / "a.zip", [name], system)
    assert archive.members() == [name]
    assert archive.read(name) == name.encode()


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("/cat/0.png", "cat/0.png"),
        ("./cat/0.png", "cat/0.png"),
        ("../../cat/0.png", "cat/0.png"),
        ("set/../cat//./0.png", "set/cat/0.png"),
    ],
)
def test_a_name_starts_from_the_root_of_the_archive_and_stays_inside(tmp_path, name, listed):
    """Names as they are where the archive is unpacked by `zipfile`."""
    archive = packed(tmp_path / "a.zip", [name, "./", "./dog/"], system=3)
    assert (archive.members(), archive.folders()) == ([listed], ["dog"])
    assert archive.read(listed) == name.encode()
    with zipfile.ZipFile(archive.path) as unpacked:
        unpacked.extractall(tmp_path / "unpacked")
    assert (tmp_path / "unpacked" / listed).read_bytes() == name.encode()


def test_the_last_of_several_members_with_one_name_counts(tmp_path):
    archive = packed(tmp_path / "a.zip", ["cat/0.png", "dog/0.png", "./cat/0.png"], system=3)
    assert archive.members() == ["cat/0.png", "dog/0.png"]
    assert archive.read("cat/0.png") == b"./cat/0.png"


@pytest.mark.parametrize(
    ("stored", "listed"), [("Äpfel".encode(), "Äpfel"), ("Äpfel".encode("cp437"), "Äpfel"), (b"cat", "cat")]
)
def test_names_without_the_utf_8_flag(tmp_path, stored, listed):
    """UTF-8 as macOS writes it, and the encoding of MS-DOS, both without the flag."""
    stand_in, path = "x" * len(stored), tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as writer:
        writer.writestr(stand_in, b"content")
    path.write_bytes(path.read_bytes().replace(stand_in.encode(), stored))
    assert Archive(path).members() == [listed]
    assert Archive(path).read(listed) == b"content"


def test_threads_read_the_same_bytes(archive):
    names = archive.members() * 4
    with ThreadPoolExecutor(8) as pool:
        contents = list(pool.map(archive.read, names))
    assert contents == [f"{number},".encode() * 1000 for number in range(50)] * 4


def test_an_archive_can_be_sent_to_another_process(archive):
    again = pickle.loads(pickle.dumps(Member(archive, "in/7.txt")))
    with opened(again) as stream:
        assert stream.read() == b"7," * 1000


def test_a_digest_is_that_of_the_bytes_wherever_they_are(archive, tmp_path):
    content = b"3," * 1000
    (tmp_path / "plain").write_bytes(content)
    assert (
        digest(tmp_path / "plain") == digest(Member(archive, "in/3.txt")) == hashlib.sha256(content).digest()
    )


def test_refuses_missing_and_oversized_members(archive, tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"no file in/none\.txt in .*a\.zip"):
        archive.read("in/none.txt")
    with pytest.raises(DataError, match=r"no file .*none\.zip"):
        Archive(tmp_path / "none.zip")
    (tmp_path / "text.zip").write_text("no archive", encoding="utf-8")
    with pytest.raises(DataError, match=r"cannot read .*text\.zip as a \.zip archive"):
        Archive(tmp_path / "text.zip")
    content = bytearray(archive.path.read_bytes())
    content[content.index(b"PK\1\2") + 6] = 99  # what version it takes to unpack the first member
    (tmp_path / "later.zip").write_bytes(content)
    with pytest.raises(DataError, match=r"cannot read .*later\.zip as a \.zip archive: .*version 9\.9"):
        Archive(tmp_path / "later.zip")
    with pytest.raises(DataError, match=r"cannot read .*none"):
        digest(tmp_path / "none")
    monkeypatch.setattr(files, "MOST_UNPACKED", 10)
    with pytest.raises(DataError, match=r"in/1\.txt in .* unpacks to more than 10 bytes"):
        archive.read("in/1.txt")


def test_names_that_are_not_text_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as writer:
        writer.writestr("\u00e9.png", b"x")
    content = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(content.replace("\u00e9".encode(), b"\xff\xff"))
    with pytest.raises(DataError, match=r"cannot read .*a\.zip as a \.zip archive: .*decode"):
        Archive(tmp_path / "a.zip")


def test_a_member_that_claims_more_than_its_bytes_can_hold_is_refused(archive):
    inside = archive._inside["in/3.txt"]
    inside.file_size = 1032 * (inside.compress_size + 2)
    with pytest.raises(DataError, match="too short to hold what it claims"):
        archive.read("in/3.txt")


def test_refuses_a_damaged_member(archive):
    content = bytearray(archive.path.read_bytes())
    info = archive._zip.getinfo("in/0.txt")
    start = info.header_offset + 30 + len("in/0.txt")
    content[start : start + 8] = b"\xff" * 8
    archive.path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"cannot unpack in/0\.txt from"):
        Archive(archive.path).read("in/0.txt")


@pytest.mark.parametrize("name", [".DS_Store", "a/.hidden/b.png", "__MACOSX/a/b.png", "a/Thumbs.db"])
def test_system_files_are_hidden(name):
    assert is_hidden(name)
    assert not is_hidden(name.replace(".", "x").replace("__", "y").replace("Thumbs", "z"))
