"""From maps to features: pooling and normalisation, on numbers that can be checked by eye."""

from types import SimpleNamespace

import pytest
import torch

from samekind.encoders.pooling import PooledMap, expect_pooling, normalised, pooled
from samekind.errors import SettingError

MAPS = torch.tensor([[[[1.0, 3.0], [0.0, 4.0]], [[-1.0, -1.0], [-1.0, -5.0]]]])  # one item, two channels


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [("average", [2.0, -2.0]), ("maximum", [4.0, -1.0]), ("average+maximum", [6.0, -3.0])],
)
def test_places_become_one_number_a_channel(pooling, expected):
    assert pooled(MAPS, pooling).tolist() == [expected]
    assert PooledMap(pooling)(MAPS).shape == (1, 2, 1, 1)
    assert PooledMap(pooling)(MAPS).flatten().tolist() == expected
    assert pooled(MAPS[:0], pooling).shape == (0, 2)


def test_an_unknown_pooling_is_refused():
    with pytest.raises(SettingError, match=r'pooling is .* got "sum"'):
        expect_pooling("sum")


def test_normalised_features_have_mean_0_and_variance_1():
    features = torch.tensor([[1.0, 2.0, 3.0], [30.0, 20.0, 10.0]])
    assert normalised(SimpleNamespace(layer_norm=False), features) is features
    result = normalised(SimpleNamespace(layer_norm=True), features)
    root = 1.5**0.5
    torch.testing.assert_close(
        result, torch.tensor([[-root, 0.0, root], [root, 0.0, -root]]), atol=1e-4, rtol=0
    )
