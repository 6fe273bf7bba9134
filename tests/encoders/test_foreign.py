"""Modules from elsewhere; the libraries are played by small stand-ins, for neither need be installed."""

import sys
from types import ModuleType

import pytest
import torch
from torch import nn

from samekind.encoders.foreign import Foreign, named_backbone
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
def test_another_output_is_refused_with_a_sentence(gives):
    class Odd(nn.Module):
        def forward(self, x):
            return gives(x)

    with pytest.raises(DataError, match=r"Odd should give \(2, 4\), .* it gave"):
        Foreign(Odd(), feature_dimension=4)(torch.rand(2, 4))


def test_frozen_features_leave_the_embedding_to_learn():
    module = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
    encoder = Foreign(module, feature_dimension=8, dimension=2, freeze="features").train()
    before = {name: each.clone() for name, each in module.state_dict().items()}
    encoder(torch.randn(6, 4)).square().sum().backward()
    assert all(torch.equal(each, before[name]) for name, each in module.state_dict().items())
    assert [name for name, each in encoder.named_parameters() if each.grad is not None] == [
        "embedding.weight",
        "embedding.bias",
    ]


def test_frozen_statistics_hold_in_training_mode_too():
    module = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
    encoder, x = Foreign(module, feature_dimension=8, batch_norm="frozen").train(), torch.randn(6, 4)
    trained = encoder(x)
    assert torch.equal(trained, encoder.eval()(x))
    assert module[1].num_batches_tracked == 0


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"freeze": "stem"}, "stem of a foreign module is not known"),
        ({"means": [0.0]}, "belong together"),
        ({"dimension": 0}, "got dimension 0"),
        ({"batch_norm": "off"}, 'got "off"'),
    ],
)
def test_refuses_what_cannot_be(wrong, says):
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


# --- by name --------------------------------------------------------------------------------------


def stand_in(monkeypatch, name, **content):
    module = ModuleType(name)
    for key, value in content.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)


def test_timm_gives_features_and_says_how_to_scale(monkeypatch):
    def create_model(name, *, pretrained, num_classes):
        if name != "tiny":
            raise RuntimeError(f"Unknown model ({name})")
        assert (pretrained, num_classes) == (True, 0)
        module = nn.Conv2d(3, 6, 1)
        module.num_features = 6
        return module

    config = {"mean": (0.5, 0.5, 0.5), "std": (0.25, 0.25, 0.25)}
    stand_in(monkeypatch, "timm", create_model=create_model)
    stand_in(monkeypatch, "timm.data", resolve_model_data_config=lambda _: config)
    encoder = named_backbone(library="timm", name="tiny", dimension=2, batch_norm="frozen")
    assert (encoder.feature_dimension, encoder.dimension, encoder.batch_norm) == (6, 2, "frozen")
    assert torch.equal(encoder.scaling(torch.full((1, 3, 1, 1), 0.75)), torch.ones(1, 3, 1, 1))
    with pytest.raises(SettingError, match='timm cannot make "huge": Unknown model'):
        named_backbone(library="timm", name="huge")


def test_torchvision_loses_its_classifier(monkeypatch):
    asked = []

    def get_model(name, *, weights):
        asked.append(weights)
        body = [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
        classifier = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1000))
        return nn.Sequential(*body, *([classifier] if name == "net" else []))

    stand_in(monkeypatch, "torchvision")
    stand_in(monkeypatch, "torchvision.models", get_model=get_model)
    encoder = named_backbone(library="torchvision", name="net", weights=False)
    assert encoder.feature_dimension == encoder.dimension == 4
    assert encoder(torch.rand(2, 3, 5, 5)).shape == (2, 4)
    assert encoder.scaling.mean.flatten().tolist() == pytest.approx([0.485, 0.456, 0.406])
    with pytest.raises(SettingError, match="no linear classifier"):
        named_backbone(library="torchvision", name="bare")
    assert asked == [None, "DEFAULT"]


def test_timm_counts_the_features_after_a_layer_of_the_head(monkeypatch):
    """MobileNet-v3: ``num_features`` are those of its last map, its output is one layer on."""

    def create_model(name, *, pretrained, num_classes):
        module = nn.Conv2d(3, 8, 1)
        module.num_features, module.head_hidden_size = 6, 8
        return module

    config = {"mean": (0.5, 0.5, 0.5), "std": (0.25, 0.25, 0.25)}
    stand_in(monkeypatch, "timm", create_model=create_model)
    stand_in(monkeypatch, "timm.data", resolve_model_data_config=lambda _: config)
    assert named_backbone(library="timm", name="mobile")(torch.rand(2, 3, 4, 4)).shape == (2, 8)


class WithASideClassifier(nn.Module):
    """As torchvision's Inception-v3 behaves."""

    def __init__(self):
        super().__init__()
        self.aux_logits = True
        self.AuxLogits = nn.Linear(3, 1000)
        self.fc = nn.Linear(3, 1000)

    def forward(self, x):
        x = x.mean((2, 3))
        return (self.fc(x), self.AuxLogits(x)) if self.training and self.aux_logits else self.fc(x)


def test_torchvision_loses_its_side_classifiers_too(monkeypatch):
    stand_in(monkeypatch, "torchvision")
    stand_in(monkeypatch, "torchvision.models", get_model=lambda name, *, weights: WithASideClassifier())
    encoder = named_backbone(library="torchvision", name="inception_v3").train()
    assert encoder(torch.rand(2, 3, 5, 5)).shape == (2, 3)
    assert list(encoder.parameters()) == []


def test_torchvision_sees_the_same_images_with_weights_and_without(monkeypatch):
    """Its Inception-v3 scales its input by itself where it has weights, and nothing a space keeps says so."""

    def get_model(name, *, weights):
        module = WithASideClassifier()
        module.transform_input = weights is not None
        return module

    stand_in(monkeypatch, "torchvision")
    stand_in(monkeypatch, "torchvision.models", get_model=get_model)
    with_weights, without = (
        named_backbone(library="torchvision", name="inception_v3", weights=each) for each in (True, False)
    )
    assert with_weights.module.transform_input is without.module.transform_input is True


@pytest.mark.parametrize("library", ["timm", "torchvision"])
def test_weights_that_cannot_be_fetched_are_a_sentence(monkeypatch, library):
    def fail(*_, **__):
        raise OSError("no route to host")

    stand_in(monkeypatch, "timm", create_model=fail)
    stand_in(monkeypatch, "timm.data")
    stand_in(monkeypatch, "torchvision")
    stand_in(monkeypatch, "torchvision.models", get_model=fail)
    with pytest.raises(SettingError, match=f'{library} cannot make "net": no route to host'):
        named_backbone(library=library, name="net")


@pytest.mark.parametrize("library", ["timm", "torchvision"])
def test_a_missing_library_is_a_sentence(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(SettingError, match=f"{library} cannot be imported here .*pip install {library}"):
        named_backbone(library=library, name="resnet50")


def test_refuses_another_library():
    with pytest.raises(SettingError, match='got "keras"'):
        named_backbone(library="keras", name="resnet50")
