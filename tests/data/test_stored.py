"""Stored pictures: indexed like the tensor they would be, and decoded only when asked for."""

import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from PIL import Image

from samekind.data import ImageReader, Stored
from samekind.data.files import Archive, Member
from samekind.data.stored import decode_all, unreadable_files
from samekind.errors import DataError

READER = ImageReader(height=4, width=5, channels=3)


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    """Six stored pictures, and the tensor they stand for."""
    folder = tmp_path_factory.mktemp("six")
    tensor = torch.randint(
        0, 256, (6, 3, 4, 5), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    for number, image in enumerate(tensor):
        Image.fromarray(image.permute(1, 2, 0).numpy()).save(folder / f"{number}.png")
    return Stored([folder / f"{number}.png" for number in range(6)], READER, workers=2), tensor


def test_looks_like_the_tensor(six):
    stored, tensor = six
    assert (stored.shape, stored.dtype, stored.dim(), len(stored)) == (tensor.shape, tensor.dtype, 4, 6)
    assert stored.nbytes == tensor.nbytes


@pytest.mark.parametrize(
    "chosen",
    [
        slice(None),
        slice(1, 4),
        slice(0, 6, 2),
        torch.tensor([5, 0, 5]),
        torch.tensor([], dtype=torch.int64),
        torch.tensor([-1]),
        torch.tensor([True, False, True, False, False, True]),
    ],
)
def test_is_indexed_like_the_tensor(six, chosen):
    stored, tensor = six
    assert torch.equal(stored[chosen], tensor[chosen])
    assert torch.equal(stored.take(chosen)[:], tensor[chosen])


@hypothesis_settings(max_examples=15)
@given(st.lists(st.integers(0, 5), max_size=6), st.data())
def test_a_selection_of_a_selection_is_a_selection(six, first, data):
    stored, tensor = six
    second = data.draw(st.lists(st.integers(0, len(first) - 1), max_size=4)) if first else []
    one, two = torch.tensor(first, dtype=torch.int64), torch.tensor(second, dtype=torch.int64)
    assert torch.equal(stored.take(one)[two], tensor[one][two])


def test_decoding_can_begin_before_it_is_waited_for(six):
    stored, tensor = six
    later = [stored.begin(slice(start, start + 2)) for start in (0, 2, 4)]
    assert torch.equal(torch.cat([wait() for wait in later]), tensor)


def test_a_mask_of_another_length_is_refused(six):
    with pytest.raises(IndexError, match="mask of 2 for 6 files"):
        six[0][torch.tensor([True, False])]


def test_choosing_reads_nothing(tmp_path):
    missing = Stored([tmp_path / "none.png"] * 3, READER)
    assert len(missing.take(slice(0, 2))) == 2
    with pytest.raises(DataError, match=r"3 of 3 files cannot be read.*\n  there is no file .*none\.png"):
        missing[:]


def test_archives_are_read_in_place(make_folder, zipped):
    folder = make_folder({"a": 3, "b": 3}, height=4, width=5)
    archive = Archive(zipped(folder))
    names = sorted(name for name in archive.members())
    inside = Stored([Member(archive, name) for name in names], READER, workers=4)
    outside = Stored([folder / name for name in names], READER)
    assert torch.equal(inside[:], outside[:])
    assert inside.digests() == outside.digests()


def test_each_file_is_hashed_once(six, monkeypatch):
    stored, _ = six
    every = stored.digests()
    assert len(set(every)) == 6
    monkeypatch.setattr("samekind.data.stored.digest", lambda file: pytest.fail("read again"))
    assert stored.take(torch.tensor([3, 1])).digests() == [every[3], every[1]]


def test_what_can_be_decoded_is_and_the_rest_is_named(six, tmp_path):
    stored, tensor = six
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    files = [stored.files[0], tmp_path / "broken.png", stored.files[2]]
    pixels, kept, unreadable = decode_all(files, READER)
    assert torch.equal(pixels, tensor[[0, 2]])
    assert kept == [0, 2]
    assert [name for name, _ in unreadable] == [str(tmp_path / "broken.png")]


def test_the_first_twenty_are_listed_and_the_rest_counted():
    message = str(unreadable_files([("", f"why {number}") for number in range(23)], 50))
    assert message.startswith("23 of 50 files cannot be read")
    assert "skip them with --skip-unreadable" in message
    assert "skip" not in str(unreadable_files([("", "why")], 50, skippable=False))
    assert str(unreadable_files([("", "why")], 1)) == "why"
    assert message.count("\n") == 21
    assert message.endswith("why 18;\n  why 19;\n  and 3 more")
