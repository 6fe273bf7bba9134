"""Pictures decoded side by side: the same bytes as one after another, wherever one fails."""

import threading

import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from samekind.data import ImageReader, write_image
from samekind.data.decoding import MOST_WORKERS, TOGETHER, TURNS, begin_decoding, parts, pool, threads
from samekind.errors import DataError

READER = ImageReader(height=5, width=4, channels=3)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Forty pictures, some to be shrunk and some to be enlarged."""
    folder = tmp_path_factory.mktemp("pictures")
    generator = torch.Generator().manual_seed(0)
    for place in range(40):
        write_image(folder / f"{place}.png", torch.rand(3, 3 + place % 5, 4, generator=generator))
    return [folder / f"{place}.png" for place in range(40)]


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 7, 40])
def test_many_at_once_are_as_one_by_one(pictures, workers, count):
    found = begin_decoding(pictures[:count], READER, workers=workers)()
    assert found.pixels.shape == (count, 3, 5, 4)
    assert found.pixels.is_contiguous()
    assert found.unreadable == []
    for place in range(count):
        assert torch.equal(found.pixels[place], READER.pixels(pictures[place]))


def test_what_cannot_be_read_is_named_in_order_and_spoils_no_other(pictures, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    files = [*pictures[:20], tmp_path / "broken.png", *pictures[20:], tmp_path / "none.png"]
    pixels, unreadable = begin_decoding(files, READER, workers=2)()
    assert [place for place, _ in unreadable] == [20, 41]
    assert [type(why) for _, why in unreadable] == [DataError, DataError]
    assert "broken.png: it is not an image" in str(unreadable[0][1])
    assert "there is no file" in str(unreadable[1][1])
    readable = torch.tensor([place for place in range(42) if place not in (20, 41)])
    assert torch.equal(pixels[readable], begin_decoding(pictures, READER)().pixels)


def test_what_is_no_fault_of_a_file_is_not_taken_for_one(pictures, monkeypatch):
    """A mistake in the program must not end as a file that cannot be read."""

    def broken(self, file, place):
        raise MemoryError("no room")

    monkeypatch.setattr(ImageReader, "read_into", broken)
    with pytest.raises(MemoryError, match="no room"):
        begin_decoding(pictures, READER, workers=2)()


def test_decoding_goes_on_before_it_is_waited_for(pictures, monkeypatch):
    """All are read although nobody has asked for them yet."""
    left, read_into, every = set(pictures), ImageReader.read_into, threading.Event()

    def noted(self, file, place):
        read_into(self, file, place)
        left.discard(file)
        if not left:
            every.set()

    monkeypatch.setattr(ImageReader, "read_into", noted)
    wait = begin_decoding(pictures, READER, workers=2)
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


def test_none_is_as_many_threads_as_cores_up_to_a_limit(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert (threads(0), threads(7)) == (3, 7)
    monkeypatch.setattr("os.cpu_count", lambda: 1000)
    assert threads(0) == MOST_WORKERS
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert threads(0) == 1


def test_those_who_want_as_many_share_their_threads():
    assert pool(2) is pool(2)
    assert pool(2) is not pool(3)
