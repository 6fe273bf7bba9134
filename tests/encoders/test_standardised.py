"""Input less the mean, divided by the deviation, and then the encoder."""

import json

import pytest
import torch
from sklearn.preprocessing import StandardScaler

from samekind.encoders import MLP, Conv4, SmallConvnet, Standardised
from samekind.errors import DataError, SettingError
from samekind.parts import build, describe
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace


def vectors(count=9):
    x = torch.randn(count, 4, generator=torch.Generator().manual_seed(0))
    return x * torch.tensor([1.0, 1e4, 1e-3, 5.0]) + torch.tensor([0.0, 7e4, 1.0, -2.0])


def fitted(x, encoder):
    scaler = StandardScaler().fit(x.double().numpy())
    return Standardised(
        encoder=encoder, means=scaler.mean_.tolist(), deviations=scaler.scale_.tolist()
    ), scaler


def test_vectors_are_standardised_as_by_scikit_learn():
    x, inner = vectors(), MLP(inputs=4, dimension=3)
    encoder, scaler = fitted(x, inner)
    expected = torch.from_numpy(scaler.transform(x.double().numpy())).float()
    torch.testing.assert_close(encoder.standardise(x), expected, atol=1e-3, rtol=0)
    torch.testing.assert_close(encoder(x), inner(expected), atol=1e-3, rtol=0)
    assert encoder.dimension == 3
    assert encoder.embedding is inner.embedding


def test_images_are_standardised_channel_by_channel():
    x = torch.rand(5, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    encoder = Standardised(
        encoder=SmallConvnet(channels=3, size=8, width=2).eval(),
        means=[0.1, 0.2, 0.3],
        deviations=[1.0, 2.0, 4.0],
    )
    for channel, (mean, deviation) in enumerate([(0.1, 1.0), (0.2, 2.0), (0.3, 4.0)]):
        torch.testing.assert_close(encoder.standardise(x)[:, channel], (x[:, channel] - mean) / deviation)
    assert torch.equal(encoder(x), encoder.encoder(encoder.standardise(x)))


def test_stages_maps_and_features_are_those_of_the_encoder_inside():
    inner = Conv4(channels=3, size=16, dimension=5).eval()
    encoder = Standardised(encoder=inner, means=[0.1, 0.2, 0.3], deviations=[1.0, 2.0, 4.0])
    x = torch.rand(2, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    assert encoder.stages() == inner.stages()
    assert encoder.map_channels == inner.map_channels
    assert encoder.feature_dimension == inner.feature_dimension
    maps, expected = encoder.maps(x), inner.maps(encoder.standardise(x))
    assert list(maps) == list(expected) == list(inner.map_channels)
    assert all(torch.equal(maps[name], expected[name]) for name in maps)
    assert torch.equal(encoder.features(x), inner.features(encoder.standardise(x)))
    assert torch.equal(encoder.embedding(encoder.features(x)), encoder(x))


def test_an_encoder_without_stages_has_none_standardised():
    encoder = Standardised(encoder=MLP(inputs=4), means=[0.0] * 4, deviations=[1.0] * 4)
    assert not hasattr(encoder, "stages")
    assert not hasattr(encoder, "map_channels")


def test_the_numbers_are_kept_with_the_weights_and_are_not_trained():
    encoder, _ = fitted(vectors(), MLP(inputs=4))
    assert {"centre", "spread"} <= set(encoder.state_dict())
    assert not any(name in ("centre", "spread") for name, _ in encoder.named_parameters())
    other = Standardised(encoder=MLP(inputs=4), means=[0.0] * 4, deviations=[1.0] * 4)
    other.load_state_dict(encoder.state_dict())
    assert other.means == encoder.means
    assert other.deviations == encoder.deviations


def test_it_is_written_down_to_the_last_digit():
    encoder, _ = fitted(vectors(), MLP(inputs=4, dimension=3, hidden=[5]))
    again = build(json.loads(json.dumps(describe(encoder))), room="encoders")
    assert torch.equal(again.centre, encoder.centre)
    assert torch.equal(again.spread, encoder.spread)
    assert again.encoder.hidden == [5]


def test_a_saved_space_gives_the_same_embeddings(tmp_path):
    x = vectors()
    encoder, _ = fitted(x, MLP(inputs=4, dimension=3))
    space = MetricSpace(encoder, Cosine(), SupportMeans(dimension=3)).eval()
    space.save(tmp_path / "space")
    with torch.no_grad():
        assert torch.equal(MetricSpace.load(tmp_path / "space").embed(x), space.embed(x))


@pytest.mark.parametrize(
    ("means", "deviations"),
    [
        ([0.0], []),
        ([], []),
        ([0.0], [0.0]),
        ([0.0], [-1.0]),
        ([float("nan")], [1.0]),
        ([0.0], [float("inf")]),
    ],
    ids=str,
)
def test_refuses_impossible_numbers(means, deviations):
    with pytest.raises(SettingError, match="expected"):
        Standardised(encoder=MLP(inputs=1), means=means, deviations=deviations)


def test_refuses_items_with_other_features():
    encoder, _ = fitted(vectors(), MLP(inputs=4))
    with pytest.raises(DataError, match=r"items with 4 features or channels, .* got \(2, 5\)"):
        encoder(torch.rand(2, 5))
