"""Items to embeddings: the same as one item at a time, and the space does not change."""

import importlib

import numpy as np
import pytest
import torch
from torch import nn

from samekind.data import ImageReader, Stored, VectorReader, write_image
from samekind.encoders import MLP
from samekind.errors import DataError, SpaceError
from samekind.inference import asking, embed, embed_files
from samekind.inference.embed import device_of
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace


class Batches(nn.Module):
    """An encoder that notes the sizes of the batches it gets, its mode, and whether a gradient is kept."""

    def __init__(self):
        super().__init__()
        self.noted = []

    def forward(self, x):
        self.noted.append((len(x), self.training, torch.is_grad_enabled()))
        return x.flatten(1)


def a_space(encoder=None, **options):
    torch.manual_seed(0)
    encoder = encoder or MLP(inputs=3, dimension=4, hidden=[8], dropout=0.5)
    return MetricSpace(encoder, Cosine(), SupportMeans(dimension=4), **options)


def random(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("batch", [1, 3, 7, 512])
def test_the_batch_makes_no_difference(batch):
    space, items = a_space(), random(7, 3)
    by_hand = torch.cat([space.eval().embed(items[index : index + 1]) for index in range(7)])
    torch.testing.assert_close(embed(space.train(), items, batch=batch), by_hand)


def test_items_come_in_batches_in_evaluation_mode_without_gradient():
    space = a_space(Batches()).train()
    embed(space, random(7, 4), batch=3)
    assert space.encoder.noted == [(3, False, False), (3, False, False), (1, False, False)]


def test_a_cpu_encodes_few_large_items_at_a_time(monkeypatch):
    monkeypatch.setattr(importlib.import_module("samekind.inference.embed"), "CPU_NUMBERS", 10)
    space, items = a_space(Batches()), random(7, 4)
    assert torch.equal(embed(space, items, batch=5), items)
    assert [size for size, *_ in space.encoder.noted] == [2, 2, 1, 2]
    assert torch.equal(embed(a_space(Batches()), random(2, 20)), random(2, 20))


def test_no_items_give_no_embeddings():
    assert embed(a_space(), torch.empty(0, 3)).shape == (0, 4)
    assert embed(a_space(), torch.empty(0)).shape == (0, 4)


def test_the_embeddings_are_float_and_free_of_the_graph():
    z = embed(a_space().double(), random(2, 3).double())
    assert z.dtype == torch.float32
    assert not z.requires_grad


def test_every_part_is_left_in_the_mode_it_was_in():
    space = a_space().train()
    space.encoder.layers[3].eval()  # a layer frozen in evaluation mode, as one does with batch statistics
    before = [module.training for module in space.modules()]
    embed(space, random(2, 3))
    assert [module.training for module in space.modules()] == before
    with pytest.raises(DataError, match="the encoder takes items of 3 numbers"):
        embed(space, random(2, 9))
    assert [module.training for module in space.modules()] == before


def test_a_space_in_evaluation_mode_stays_there():
    space = a_space().eval()
    with asking(space):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    assert not any(module.training for module in space.modules())


def test_pictures_are_read_as_the_space_says(tmp_path):
    images = torch.rand(3, 1, 2, 2, generator=torch.Generator().manual_seed(0))
    images = (images * 255).round() / 255
    for index, image in enumerate(images):
        write_image(tmp_path / f"{index}.png", image)
    space = a_space(Batches(), reader=ImageReader(height=2, width=2))
    z = embed_files(space, [tmp_path / "2.png", str(tmp_path / "0.png"), tmp_path / "1.png"], batch=2)
    torch.testing.assert_close(z, images[[2, 0, 1]].flatten(1))
    assert [size for size, *_ in space.encoder.noted] == [2, 1]


def test_bytes_are_numbers_from_0_to_1_and_other_types_stay():
    pixels = torch.randint(256, (5, 1, 2, 2), generator=torch.Generator().manual_seed(0)).to(torch.uint8)
    space = a_space(Batches())
    assert torch.equal(embed(space, pixels, batch=2), pixels.flatten(1).float() / 255)
    assert torch.equal(embed(space, pixels.float()), pixels.flatten(1).float())


@pytest.mark.parametrize("batch", [1, 2, 512])
def test_stored_pictures_are_embedded_batch_by_batch(tmp_path, batch):
    pixels = torch.randint(256, (5, 1, 2, 2), generator=torch.Generator().manual_seed(0)).to(torch.uint8)
    for index, image in enumerate(pixels):
        write_image(tmp_path / f"{index}.png", image.float() / 255)
    stored = Stored([tmp_path / f"{index}.png" for index in range(5)], ImageReader(height=2, width=2))
    space = a_space(Batches())
    assert torch.equal(embed(space, stored, batch=batch), embed(space, pixels))
    assert max(size for size, *_ in space.encoder.noted[: -(-5 // batch)]) <= batch
    assert embed(space, stored.take(slice(0, 0))).shape == (0, 4)


def test_arrays_beside_pictures_are_read_too(tmp_path):
    image = torch.tensor([[[0.0, 0.2], [0.4, 1.0]]])
    write_image(tmp_path / "a.png", image)
    np.save(tmp_path / "b.npy", image.numpy())
    space = a_space(Batches(), reader=ImageReader(height=2, width=2))
    torch.testing.assert_close(
        embed_files(space, [tmp_path / "b.npy", tmp_path / "a.png"]), image.flatten().expand(2, 4)
    )


def test_vectors_are_read_as_the_space_says(tmp_path):
    vectors = random(3, 3)
    for index, vector in enumerate(vectors):
        np.save(tmp_path / f"{index}.npy", vector.numpy())
    space = a_space(reader=VectorReader(dimension=3))
    paths = (tmp_path / f"{index}.npy" for index in range(3))  # any iterable
    assert torch.equal(embed_files(space, paths), embed(space, vectors))


def test_no_files_give_no_embeddings():
    assert embed_files(a_space(reader=VectorReader(dimension=3)), []).shape == (0, 4)


def test_refuses_a_missing_reader_or_an_unreadable_file(tmp_path):
    with pytest.raises(SpaceError, match="does not say how to read a file; pass tensors to embed"):
        embed_files(a_space(), [tmp_path / "a.npy"])
    with pytest.raises(DataError, match=r"there is no file .*a\.npy"):
        embed_files(a_space(reader=VectorReader(dimension=3)), [tmp_path / "a.npy"])


def test_the_device_of_a_space():
    assert device_of(a_space()) == torch.device("cpu")
    assert device_of(a_space().to("meta")) == torch.device("meta")
    nothing = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=2))
    del nothing.prototypes.vectors
    assert device_of(nothing) == torch.device("cpu")


def test_pictures_have_their_channels_last_on_the_cpu():
    layouts = []

    class Layout(Batches):
        def forward(self, x):
            layouts.append(x.is_contiguous(memory_format=torch.channels_last))
            return super().forward(x)

    pictures = random(5, 3, 3, 3)
    assert torch.equal(embed(a_space(Layout()), pictures, batch=4), pictures.flatten(1))
    assert layouts == [True, True]
