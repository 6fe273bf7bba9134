"""Which reader gives tensors like those of some items."""

from pathlib import Path

import pytest
import torch

from samekind.data import (
    ARRAYS,
    PICTURES,
    VECTORS,
    ArrayReader,
    ImageReader,
    Items,
    TableReader,
    VectorReader,
    medium_of,
    reader_for,
)
from samekind.errors import DataError


@pytest.mark.parametrize("shape", [(7,), (1, 4, 6), (3, 4, 6), (2, 4, 6)])
def test_finds_the_reader_that_gives_the_shape_of_the_items(shape):
    items = Items(torch.zeros(2, *shape), torch.tensor([0, 0]), ("a",), "x")
    assert reader_for(items).shape == shape


@pytest.mark.parametrize("shape", [(4, 6), (1, 2, 4, 6)])
def test_refuses_shapes_without_a_reader(shape):
    items = Items(torch.zeros(2, *shape), torch.tensor([0, 0]), ("a",), "odd")
    with pytest.raises(DataError, match=r"no reader gives items of shape .* as odd has"):
        reader_for(items)


def test_advises_how_to_save_features_over_time():
    items = Items(torch.zeros(2, 20, 40), torch.tensor([0, 0]), ("a",), "voices")
    with pytest.raises(DataError, match=r"as array\[None\], \(1, 20, 40\).* or save its mean over time"):
        reader_for(items)


def test_the_reader_the_items_came_with_goes_before_their_shape():
    reader = TableReader(columns=["a", "b"])
    items = Items(torch.zeros(2, 2), torch.tensor([0, 0]), ("a",), "table", reader=reader)
    assert reader_for(items) is reader
    assert reader_for(items.take(torch.tensor([1]))) is reader


@pytest.mark.parametrize(
    ("shape", "name"), [((7,), "vectors"), ((1, 4, 6), "pictures"), ((2, 4, 6), "arrays"), ((4, 6), "arrays")]
)
def test_items_without_a_reader_have_the_medium_of_their_shape(shape, name):
    items = Items(torch.zeros(2, *shape), torch.tensor([0, 0]), ("a",), "x")
    assert items.medium.name == medium_of(shape).name == name
    assert items.medium.batch([torch.zeros(shape)] * 3).shape == (3, *shape)


def test_every_reader_knows_its_medium_and_decodes_only_pictures():
    readers = [ImageReader(height=2, width=2), VectorReader(dimension=2), ArrayReader(shape=(1, 2, 2))]
    assert [reader.medium for reader in readers] == [PICTURES, VECTORS, ARRAYS]
    pictures = [Path("a.png")]
    assert [reader.medium.decoder(reader, pictures) for reader in readers] == [readers[0], None, None]
    assert PICTURES.decoder(readers[0], [Path("a.npy")]) is None
