"""The small convnet: how far it shrinks an image, and that it can learn the digits."""

import pytest
import torch
import torch.nn.functional as F

from samekind.data import digits
from samekind.encoders import SmallConvnet
from samekind.errors import SettingError


@pytest.mark.parametrize(
    ("size", "features"),
    [(8, 64 * 2 * 2), (12, 64 * 3 * 3), (16, 128 * 2 * 2), (28, 128 * 3 * 3), (32, 128 * 2 * 2)],
)
def test_shrinks_to_two_or_three_pixels(size, features):
    encoder = SmallConvnet(size=size).eval()
    assert encoder.features(torch.rand(2, 1, size, size)).shape == (2, features)


def test_knows_where_things_are():
    """The same spot in two corners: an average over places could not tell which."""
    images = torch.zeros(2, 1, 8, 8)
    images[0, 0, 1, 1] = images[1, 0, 6, 6] = 1
    torch.manual_seed(0)
    one, other = SmallConvnet().eval().features(images).reshape(2, 64, 2, 2)
    assert not torch.allclose(one[:, 0, 0], one[:, 1, 1])
    assert not torch.allclose(one, other)


def test_embeddings_have_both_signs():
    torch.manual_seed(0)
    embeddings = SmallConvnet().eval()(torch.rand(8, 1, 8, 8))
    assert embeddings.min() < 0 < embeddings.max()


def test_a_few_steps_lower_the_loss_on_digits():
    torch.manual_seed(0)
    encoder = SmallConvnet(dimension=10, width=8)
    inputs, labels = digits().batch(torch.arange(100))
    optimiser = torch.optim.Adam(encoder.parameters(), lr=0.01)
    losses = []
    for _ in range(15):
        loss = F.cross_entropy(encoder(inputs), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


def test_refuses_less_than_eight_pixels():
    with pytest.raises(SettingError, match="8 pixels or more, got 7"):
        SmallConvnet(size=7)
