"""Batches of tensors and of stored pictures; those are decoded ahead, in order."""

import pytest
import torch

from samekind.data import ImageReader, Stored, write_image
from samekind.data.fetching import AHEAD, fetched
from samekind.errors import DataError


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


def test_a_tensor_is_merely_indexed(stored):
    _, pixels = stored
    for batch, choice in zip(fetched(pixels, CHOICES), CHOICES, strict=True):
        assert torch.equal(batch, pixels[choice])


def test_nothing_asked_for_is_nothing_fetched(stored):
    assert list(fetched(stored[0], [])) == []


def test_a_few_are_begun_ahead_and_no_more(stored, monkeypatch):
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


def test_a_broken_file_is_told_when_its_batch_is_asked_for(stored, tmp_path):
    files, pixels = stored
    (tmp_path / "5.png").write_bytes(b"no picture")
    batches = fetched(files, [slice(0, 5), slice(5, 10)])
    assert torch.equal(next(batches), pixels[:5])
    with pytest.raises(DataError, match=r"5\.png"):
        next(batches)
