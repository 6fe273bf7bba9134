"""What an attack may do to items, by their medium."""

import torch

from samekind.attacks import PICTURES as PIXELS
from samekind.attacks import SOUNDS as SAMPLES
from samekind.attacks.regions import NORMS
from samekind.data import ARRAYS, PICTURES, SOUNDS, VECTORS, ImageReader, SoundReader


def test_every_medium_has_epsilons_for_every_norm():
    for medium, shape in ((PICTURES, (1, 8, 8)), (SOUNDS, (1, 100)), (VECTORS, (3,)), (ARRAYS, (5, 4, 4))):
        epsilons = medium.attacked(shape).epsilons
        assert set(epsilons) == set(NORMS)
        assert all(sorted(values) == list(values) and values[0] > 0 for values in epsilons.values())


def test_the_ranges_are_those_of_the_attacks():
    for medium, shape, limits in ((PICTURES, (1, 8, 8), PIXELS), (SOUNDS, (1, 100), SAMPLES)):
        valid = medium.attacked(shape).range
        assert (valid.low, valid.high, valid.padding) == (limits.low, limits.high, limits.padding)
    assert VECTORS.attacked((3,)).range is None
    assert SOUNDS.attacked((40, 300)) is None


def test_an_item_is_read_as_it_was_written(tmp_path):
    generator = torch.Generator().manual_seed(0)
    picture = torch.rand(3, 4, 6, generator=generator)
    sound = torch.tensor([[0.5, -0.25, 0.0, torch.nan]])
    readers = ImageReader(height=4, width=6, channels=3), SoundReader(rate=8000)
    for item, reader, tolerance in ((picture, readers[0], 1 / 255), (sound, readers[1], 1 / 32768)):
        path = tmp_path / f"item{reader.medium.ending}"
        reader.medium.write(path, item, reader)
        again = reader.read(path)
        torch.testing.assert_close(again, item[..., : again.shape[-1]], rtol=0, atol=tolerance)
    assert again.shape == (1, 3)
