"""What is compared, and when an export is refused."""

import numpy as np
import pytest
import torch

from samekind import data
from samekind.errors import SpaceError
from samekind.exporting.parity import Difference, differences, portable_items, random_items
from samekind.portable import PortableSpace


def test_compares_embeddings_pairs_and_classes(known_space, exported):
    items = random_items(known_space.reader, 8)
    rows = differences(known_space, PortableSpace.open(exported), items)
    kinds = known_space.kinds
    assert [row.what for row in rows] == [
        "embeddings",
        *(f"{kind}, {what}" for kind in kinds for what in ("pairs", "classes")),
    ]
    assert all(0 <= row.share < 1e-5 for row in rows)


@pytest.mark.parametrize("wrong", [1e-2, np.nan])
def test_another_encoder_is_refused(known_space, exported, wrong):
    portable = PortableSpace.open(exported)
    right = portable.encoder

    class Wrong:
        def run(self, items):
            return right.run(items) + np.float32(wrong)

    portable.encoder = Wrong()
    with pytest.raises(SpaceError, match="the export differs from the space: embeddings by"):
        differences(known_space, portable, random_items(known_space.reader, 8))


def test_a_share_is_of_the_largest_number_or_of_1():
    assert Difference("x", 0.5, 10.0).share == 0.05
    assert Difference("x", 0.5, 0.1).share == 0.5


def test_random_items_are_as_the_reader_gives_them():
    vectors = random_items(data.VectorReader(dimension=3), 5)
    assert (vectors.shape, vectors.dtype) == ((5, 3), torch.float32)
    pictures = random_items(data.ImageReader(height=4, width=6, channels=3), 5)
    assert (pictures.shape, pictures.dtype) == ((5, 3, 4, 6), torch.uint8)
    assert torch.equal(pictures, random_items(data.ImageReader(height=4, width=6, channels=3), 5))
    [first, *_] = portable_items(data.ImageReader(height=4, width=6, channels=3), pictures)
    np.testing.assert_allclose(first, pictures[0].numpy() / 255, rtol=1e-6)


def test_random_sounds_are_of_unequal_length():
    reader = data.SoundReader(seconds=0.5)
    sounds = random_items(reader, 6)
    items = portable_items(reader, sounds)
    lengths = {len(item) for item in items}
    assert len(lengths) > 1
    assert max(lengths) <= 8000
    assert all(np.isfinite(item).all() and np.abs(item).max() <= 1 for item in items)
