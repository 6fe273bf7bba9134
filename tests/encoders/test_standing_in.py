"""A replaced method is called, and the former one comes back, of the class or of the module."""

import pytest
import torch

from samekind.encoders import MLP
from samekind.encoders.standing_in import standing_in


@pytest.fixture
def encoder():
    return MLP(inputs=4, dimension=3)


@pytest.fixture
def x():
    return torch.randn(2, 4, generator=torch.Generator().manual_seed(0))


def test_another_forward_stands_in_and_goes_away_again(encoder, x):
    expected, names = encoder(x), list(encoder.state_dict())
    with standing_in(encoder, lambda x: x + 1):
        assert torch.equal(encoder(x), x + 1)
        assert list(encoder.state_dict()) == names
    assert torch.equal(encoder(x), expected)
    with pytest.raises(ValueError, match="on purpose"), standing_in(encoder, lambda x: x):
        raise ValueError("on purpose")
    assert "forward" not in vars(encoder)
    with standing_in(encoder, None):
        assert torch.equal(encoder(x), expected)


def test_so_does_another_method(encoder, x):
    expected = encoder.features(x)
    with standing_in(encoder, lambda x: expected + 1, method="features"):
        assert torch.equal(encoder(x), encoder.embedding(expected + 1))
    assert torch.equal(encoder.features(x), expected)
    assert "features" not in vars(encoder)


@pytest.mark.parametrize("fails", [False, True])
def test_a_forward_of_its_own_comes_back(encoder, x, fails):
    """As the hooks and adapters of other libraries put there."""
    plain = encoder.forward
    own = encoder.forward = lambda x: 2 * plain(x)
    expected = encoder(x)
    try:
        with standing_in(encoder, lambda x: x):
            assert torch.equal(encoder(x), x)
            if fails:
                raise ValueError("on purpose")
    except ValueError:
        assert fails
    assert vars(encoder)["forward"] is own
    assert torch.equal(encoder(x), expected)
