"""Embeddings projected."""

import pytest
import torch

from samekind.encoders import MLP, Compressed
from samekind.errors import SettingError


def test_it_projects_the_embeddings_without_an_offset():
    torch.manual_seed(0)
    inside, x = MLP(inputs=3, dimension=5), torch.rand(4, 3)
    encoder = Compressed(encoder=inside, dimension=2)
    assert torch.equal(encoder(x), inside(x)[:, :2])
    encoder.embedding.matrix = torch.randn(2, 5)
    torch.testing.assert_close(encoder(x), inside(x) @ encoder.embedding.matrix.T)
    assert "embedding.matrix" in encoder.state_dict()
    assert not any(name.startswith("embedding") for name, _ in encoder.named_parameters())


def test_nothing_becomes_longer():
    with pytest.raises(SettingError, match="5 numbers cannot be compressed to 6"):
        Compressed(encoder=MLP(inputs=3, dimension=5), dimension=6)
