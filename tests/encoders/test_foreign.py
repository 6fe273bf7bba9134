"""Foreign modules: wrapped, frozen, saved and loaded again."""

import pytest
import torch
from torch import nn

from samekind.encoders.foreign import Foreign
from samekind.encoders.freezing import frozen_as_drawn
from samekind.errors import DataError, SettingError, SpaceError
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace


def test_features_of_a_module_are_embeddings_or_mapped_to_them():
    torch.manual_seed(0)
    module, x = nn.Linear(4, 8), torch.rand(3, 4)
    same = Foreign(module, feature_dimension=8)
    assert (same.dimension, same.feature_dimension) == (8, 8)
    assert torch.equal(same(x), module(x))
    mapped = Foreign(module, feature_dimension=8, dimension=2)
    assert torch.equal(mapped(x), mapped.embedding(module(x)))
    assert mapped(x).shape == (3, 2)


def test_maps_are_averaged_over_their_places():
    module, x = nn.Conv2d(3, 5, 3), torch.rand(2, 3, 8, 8)
    torch.testing.assert_close(
        Foreign(module, feature_dimension=5)(x), module(x).flatten(2).mean(2), atol=1e-6, rtol=1e-5
    )


def test_images_are_scaled_if_asked():
    module, x = nn.Conv2d(3, 5, 1), torch.rand(2, 3, 4, 4)
    encoder = Foreign(module, feature_dimension=5, means=[0.5] * 3, deviations=[0.25] * 3)
    assert torch.equal(encoder(x), Foreign(module, feature_dimension=5)((x - 0.5) / 0.25))


@pytest.mark.parametrize("gives", [lambda x: x[:, :3], lambda x: (x, x), lambda x: x[:, :, None]])
def test_refuses_another_output(gives):
    class Odd(nn.Module):
        def forward(self, x):
            return gives(x)

    with pytest.raises(DataError, match=r"Odd should give \(2, 4\), .* it gave"):
        Foreign(Odd(), feature_dimension=4)(torch.rand(2, 4))


def test_frozen_features_leave_the_embedding_to_learn():
    module = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
    encoder = Foreign(module, feature_dimension=8, dimension=2, freeze="features").train()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    encoder(torch.randn(6, 4)).square().sum().backward()
    assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())
    assert [name for name, parameter in encoder.named_parameters() if parameter.grad is not None] == [
        "embedding.weight",
        "embedding.bias",
    ]


def test_frozen_statistics_hold_in_training_mode_too():
    module = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
    encoder, x = Foreign(module, feature_dimension=8, batch_norm="frozen").train(), torch.randn(6, 4)
    trained = encoder(x)
    assert torch.equal(trained, encoder.eval()(x))
    assert module[1].num_batches_tracked == 0
    assert frozen_as_drawn(encoder) is None  # whether a module of yours is trained, you know


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"freeze": "stem"}, "stem of a foreign module is not known"),
        ({"means": [0.0]}, "belong together"),
        ({"dimension": 0}, "got dimension 0"),
        ({"batch_norm": "off"}, 'got "off"'),
    ],
)
def test_refuses_impossible_settings(wrong, says):
    with pytest.raises(SettingError, match=says):
        Foreign(nn.Linear(4, 8), feature_dimension=8, **wrong)


def test_a_saved_space_is_loaded_with_the_same_module(tmp_path):
    def encoder(width):
        return Foreign(nn.Linear(4, width), feature_dimension=width, dimension=2)

    x = torch.rand(3, 4)
    space = MetricSpace(encoder(8), Cosine(), SupportMeans(dimension=2)).eval()
    space.save(tmp_path / "space")
    again = MetricSpace.load(tmp_path / "space", encoder=encoder(8))
    assert torch.equal(again.embed(x), space.embed(x))
    with pytest.raises(SpaceError, match="encoder"):
        MetricSpace.load(tmp_path / "space", encoder=encoder(9))
    with pytest.raises(SpaceError, match="encoder of your own"):
        MetricSpace.load(tmp_path / "space")
