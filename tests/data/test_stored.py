"""Stored pictures: indexed like the tensor they would be, and decoded only when asked for."""

import threading

import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from PIL import Image

from samekind.data import ImageReader, Stored, write_image
from samekind.data.files import Archive, Member
from samekind.data.stored import (
    AHEAD,
    MOST_WORKERS,
    TOGETHER,
    TURNS,
    begin_decoding,
    decode_all,
    fetched,
    parts,
    pool,
    threads,
    unreadable_files,
)
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


def test_refuses_a_mask_of_another_length(six):
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


def test_decodes_readable_files_and_names_the_others(six, tmp_path):
    stored, tensor = six
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    files = [stored.files[0], tmp_path / "broken.png", stored.files[2]]
    pixels, readable, unreadable = decode_all(files, READER)
    assert torch.equal(pixels, tensor[[0, 2]])
    assert readable == [0, 2]
    assert [name for name, _ in unreadable] == [str(tmp_path / "broken.png")]


def test_the_first_twenty_are_listed_and_the_rest_counted():
    message = str(unreadable_files([("", f"why {number}") for number in range(23)], 50))
    assert message.startswith("23 of 50 files cannot be read")
    assert "skip them with --skip-unreadable" in message
    assert "skip" not in str(unreadable_files([("", "why")], 50, skippable=False))
    assert str(unreadable_files([("", "why")], 1)) == "why"
    assert message.count("\n") == 21
    assert message.endswith("why 18;\n  why 19;\n  and 3 more")


PORTRAIT = ImageReader(height=5, width=4, channels=3)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Forty pictures, some to be shrunk and some to be enlarged."""
    folder = tmp_path_factory.mktemp("pictures")
    generator = torch.Generator().manual_seed(0)
    for place in range(40):
        write_image(folder / f"{place}.png", torch.rand(3, 3 + place % 5, 4, generator=generator))
    return [folder / f"{place}.png" for place in range(40)]


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
def test_threads_decode_the_same_as_one_by_one(pictures, workers):
    expected = torch.stack([PORTRAIT.pixels(path) for path in pictures])
    for count in (0, 1, 7, 40):
        decoded = begin_decoding(pictures[:count], PORTRAIT, workers=workers)()
        assert decoded.pixels.is_contiguous()
        assert decoded.unreadable == []
        assert torch.equal(decoded.pixels, expected[:count])


def test_unreadable_files_are_named_in_order(pictures, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    files = [*pictures[:20], tmp_path / "broken.png", *pictures[20:], tmp_path / "none.png"]
    pixels, unreadable = begin_decoding(files, PORTRAIT, workers=2)()
    assert [place for place, _ in unreadable] == [20, 41]
    assert [type(why) for _, why in unreadable] == [DataError, DataError]
    assert "broken.png: it is not an image" in str(unreadable[0][1])
    assert "there is no file" in str(unreadable[1][1])
    readable = torch.tensor([place for place in range(42) if place not in (20, 41)])
    assert torch.equal(pixels[readable], begin_decoding(pictures, PORTRAIT)().pixels)


def test_other_errors_are_raised(pictures, monkeypatch):
    """A mistake in the program must not end as a file that cannot be read."""

    def broken(self, file, place):
        raise MemoryError("no room")

    monkeypatch.setattr(ImageReader, "read_into", broken)
    with pytest.raises(MemoryError, match="no room"):
        begin_decoding(pictures, PORTRAIT, workers=2)()


def test_decoding_goes_on_before_it_is_waited_for(pictures, monkeypatch):
    """All are read although nobody has asked for them yet."""
    left, read_into, every = set(pictures), ImageReader.read_into, threading.Event()

    def noted(self, file, place):
        read_into(self, file, place)
        left.discard(file)
        if not left:
            every.set()

    monkeypatch.setattr(ImageReader, "read_into", noted)
    wait = begin_decoding(pictures, PORTRAIT, workers=2)
    assert every.wait(timeout=60)
    assert wait().unreadable == []


@hypothesis_settings(max_examples=50, deadline=None)
@given(st.integers(0, 3000), st.integers(1, 64))
def test_every_picture_is_in_one_part_and_all_threads_get_some(count, workers):
    portions = parts(count, workers)
    assert [place for portion in portions for place in portion] == list(range(count))
    assert all(0 < len(portion) <= TOGETHER for portion in portions)
    # Nobody is left without work while others have more than one picture.
    if any(len(portion) > 1 for portion in portions):
        assert len(portions) >= TURNS * workers


def test_0_workers_are_as_many_threads_as_cores_up_to_a_limit(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert (threads(0), threads(7)) == (3, 7)
    monkeypatch.setattr("os.cpu_count", lambda: 1000)
    assert threads(0) == MOST_WORKERS
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert threads(0) == 1


def test_pools_of_one_size_are_shared():
    assert pool(2) is pool(2)
    assert pool(2) is not pool(3)


@pytest.fixture
def stored(tmp_path):
    images = torch.randint(256, (10, 1, 4, 4), generator=torch.Generator().manual_seed(0)).float() / 255
    for place, image in enumerate(images):
        write_image(tmp_path / f"{place}.png", image)
    files = [tmp_path / f"{place}.png" for place in range(10)]
    return Stored(files, ImageReader(height=4, width=4), workers=2), (images * 255).round().to(torch.uint8)


CHOICES = [torch.tensor([3, 1]), slice(2, 5), torch.tensor([9]), slice(8, 20), torch.tensor([0, 0])]


def test_pictures_come_in_the_order_asked_for(stored):
    files, pixels = stored
    for batch, choice in zip(fetched(files, CHOICES), CHOICES, strict=True):
        assert torch.equal(batch, pixels[choice])


def test_a_tensor_is_indexed(stored):
    _, pixels = stored
    for batch, choice in zip(fetched(pixels, CHOICES), CHOICES, strict=True):
        assert torch.equal(batch, pixels[choice])


def test_no_choices_fetch_nothing(stored):
    assert list(fetched(stored[0], [])) == []


def test_a_few_batches_are_decoded_ahead(stored, monkeypatch):
    files, _ = stored
    begun, begin = [], Stored.begin

    def noted(self, choice):
        begun.append(choice)
        return begin(self, choice)

    monkeypatch.setattr(Stored, "begin", noted)
    batches = fetched(files, [slice(place, place + 1) for place in range(8)])
    for place in range(8):
        next(batches)
        assert len(begun) == min(place + 1 + AHEAD, 8)


def test_a_broken_file_raises_when_its_batch_is_due(stored, tmp_path):
    files, pixels = stored
    (tmp_path / "5.png").write_bytes(b"no picture")
    batches = fetched(files, [slice(0, 5), slice(5, 10)])
    assert torch.equal(next(batches), pixels[:5])
    with pytest.raises(DataError, match=r"5\.png"):
        next(batches)
