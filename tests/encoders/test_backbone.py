"""Networks of other libraries by their names; the libraries are played by small stand-ins, for neither need
be installed. The last part asks the libraries themselves, where they can be imported.
"""

import sys
from importlib import import_module
from types import ModuleType

import pytest
import torch
from torch import nn

from samekind.encoders import Attended, Backbone, InceptionV3, ResNet18, ResNet50
from samekind.encoders.freezing import frozen_as_drawn
from samekind.errors import PackageError, SettingError, SpaceError
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace


def stand_in(monkeypatch, name, **content):
    module = ModuleType(name)
    for key, value in content.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)


def test_timm_gives_features_and_says_how_to_scale(timm):
    encoder = Backbone(library="timm", network="tiny", dimension=2, batch_norm="frozen")
    assert (encoder.feature_dimension, encoder.dimension, encoder.batch_norm) == (6, 2, "frozen")
    assert (encoder.module.stem.weight == 0.5).all()
    assert timm == [True]
    assert torch.equal(encoder.scaling(torch.full((1, 3, 1, 1), 0.75)), torch.ones(1, 3, 1, 1))
    with pytest.raises(SettingError, match='timm cannot make "huge": Unknown model'):
        Backbone(library="timm", network="huge")


def test_torchvision_loses_its_classifier(monkeypatch):
    asked = []

    def get_model(name, *, weights):
        asked.append(weights)
        body = [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
        classifier = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1000))
        return nn.Sequential(*body, *([classifier] if name == "net" else []))

    stand_in(monkeypatch, "torchvision")
    stand_in(monkeypatch, "torchvision.models", get_model=get_model)
    encoder = Backbone(library="torchvision", network="net", weights=False)
    assert encoder.feature_dimension == encoder.dimension == 4
    assert encoder(torch.rand(2, 3, 5, 5)).shape == (2, 4)
    assert encoder.scaling.mean.flatten().tolist() == pytest.approx([0.485, 0.456, 0.406])
    with pytest.raises(SettingError, match="no linear classifier"):
        Backbone(library="torchvision", network="bare")
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
    assert Backbone(library="timm", network="mobile")(torch.rand(2, 3, 4, 4)).shape == (2, 8)


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
    encoder = Backbone(library="torchvision", network="inception_v3").train()
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
        Backbone(library="torchvision", network="inception_v3", weights=value) for value in (True, False)
    )
    assert with_weights.module.transform_input is without.module.transform_input is True


@pytest.mark.parametrize("library", ["timm", "torchvision"])
def test_weights_that_cannot_be_fetched_are_reported(monkeypatch, library):
    def fail(*_, **__):
        raise OSError("no route to host")

    stand_in(monkeypatch, "timm", create_model=fail)
    stand_in(monkeypatch, "timm.data")
    stand_in(monkeypatch, "torchvision")
    stand_in(monkeypatch, "torchvision.models", get_model=fail)
    with pytest.raises(SettingError, match=f'{library} cannot make "net": no route to host'):
        Backbone(library=library, network="net")


@pytest.mark.parametrize("library", ["timm", "torchvision"])
def test_a_missing_library_is_reported(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(PackageError, match=f"{library} cannot be imported here .*pip install {library}"):
        Backbone(library=library, network="resnet50")


def test_refuses_another_library():
    with pytest.raises(SettingError, match='got "keras"'):
        Backbone(library="keras", network="resnet50")


# --- as a part of a space -------------------------------------------------------------------------


def tiny(**settings):
    return Backbone(library="timm", network="tiny", **settings)


def test_a_saved_space_is_loaded_without_the_published_weights(timm, tmp_path):
    space = MetricSpace(tiny(dimension=4), Cosine(), SupportMeans(dimension=4)).eval()
    space.save(tmp_path / "space")
    again = MetricSpace.load(tmp_path / "space")
    assert timm == [True, False]
    x = torch.rand(2, 3, 8, 8)
    assert torch.equal(again.embed(x), space.embed(x))


def test_a_folder_without_the_library_is_not_called_damaged(timm, tmp_path, monkeypatch):
    MetricSpace(tiny(), Cosine(), SupportMeans(dimension=6)).save(tmp_path / "space")
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(SpaceError, match=r"cannot be loaded here: timm cannot be imported.*pip install timm"):
        MetricSpace.load(tmp_path / "space")


@pytest.mark.usefixtures("timm")
def test_grey_images_are_three_equal_colours():
    torch.manual_seed(0)
    grey, colour = tiny(channels=1).eval(), tiny().eval()
    x = torch.rand(2, 1, 8, 8)
    assert torch.equal(grey(x), colour(x.expand(2, 3, 8, 8)))


@pytest.mark.usefixtures("timm")
def test_frozen_features_leave_the_embedding_to_learn():
    encoder = tiny(dimension=2, freeze="features").train()
    before = {name: tensor.clone() for name, tensor in encoder.module.state_dict().items()}
    encoder(torch.rand(4, 3, 8, 8)).square().sum().backward()
    assert all(torch.equal(tensor, before[name]) for name, tensor in encoder.module.state_dict().items())
    learning = [name for name, parameter in encoder.named_parameters() if parameter.grad is not None]
    assert learning == ["embedding.weight", "embedding.bias"]


@pytest.mark.usefixtures("timm")
def test_frozen_statistics_hold_in_training_mode_too():
    encoder = tiny(batch_norm="frozen").train()
    encoder(torch.rand(4, 3, 8, 8))
    assert encoder.module.norm.num_batches_tracked == 0
    assert encoder.module.norm.weight.requires_grad


@pytest.mark.usefixtures("timm")
@pytest.mark.parametrize("setting", [{"freeze": "features"}, {"batch_norm": "frozen"}])
def test_says_whether_it_came_with_weights(setting):
    assert frozen_as_drawn(tiny(**setting)) is None
    ((name, value),) = setting.items()
    assert frozen_as_drawn(tiny(weights=False, **setting)) == ("Backbone", f'{name} = "{value}"')


@pytest.mark.usefixtures("timm")
def test_it_has_no_maps_to_attend_to():
    with pytest.raises(SettingError, match="Backbone has none to attend to"):
        Attended(backbone=tiny())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"freeze": "stem"}, "stem of tiny is not known"),
        ({"channels": 2}, "1 or 3 channels; got 2"),
        ({"dimension": 0}, "got dimension 0"),
        ({"batch_norm": "off"}, 'got "off"'),
        ({"network": "hf-hub:owner/net"}, 'got a place: "hf-hub:owner/net"'),
    ],
)
def test_refuses_impossible_settings(timm, wrong, says):
    with pytest.raises(SettingError, match=says):
        Backbone(**{"library": "timm", "network": "tiny", **wrong})
    assert timm == []


# --- with the libraries themselves ------------------------------------------------------------------


def real(library):
    """The library, where it is installed and works: a build that does not fit PyTorch fails in many ways."""
    try:
        return import_module("torchvision.models" if library == "torchvision" else library)
    except Exception as error:
        pytest.skip(f"{library} cannot be imported here: {error!r}")


@pytest.mark.filterwarnings("ignore")  # what the libraries warn of is not ours to mend
@pytest.mark.parametrize(
    ("library", "network", "features", "side"),
    [
        ("timm", "resnet18", 512, 64),
        ("timm", "vit_tiny_patch16_224", 192, 224),
        ("timm", "inception_v3", 2048, 75),
        ("timm", "mobilenetv3_small_100", 1024, 64),
        ("torchvision", "resnet18", 512, 64),
        ("torchvision", "vit_b_16", 768, 224),
        ("torchvision", "inception_v3", 2048, 75),
        ("torchvision", "mobilenet_v3_small", 1024, 64),
    ],
)
def test_real_networks_give_their_features_learn_and_are_saved(library, network, features, side, tmp_path):
    real(library)
    torch.manual_seed(0)
    encoder = Backbone(library=library, network=network, weights=False, dimension=4, batch_norm="frozen")
    assert encoder.feature_dimension == features
    x = torch.rand(2, 3, side, side)
    encoder.train()(x).square().sum().backward()
    unmoved = [name for name, parameter in encoder.named_parameters() if parameter.grad is None]
    assert unmoved == []
    space = MetricSpace(encoder, Cosine(), SupportMeans(dimension=4)).eval()
    space.save(tmp_path / "space")
    with torch.no_grad():
        torch.testing.assert_close(MetricSpace.load(tmp_path / "space").embed(x), space.embed(x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("ours", "theirs"), [(ResNet18, "resnet18"), (ResNet50, "resnet50"), (InceptionV3, "inception_v3")]
)
def test_our_networks_take_the_weights_of_real_ones_and_give_what_they_give(ours, theirs):
    models = real("torchvision")
    torch.manual_seed(0)
    network = models.get_model(theirs, weights=None).eval()
    encoder = (ours() if ours is InceptionV3 else ours(stem="imagenet")).eval()
    weights = {
        name: tensor
        for name, tensor in network.state_dict().items()
        if not name.startswith(("fc.", "AuxLogits."))
    }
    encoder.load_state_dict(weights)
    network.fc = nn.Identity()
    x = torch.rand(2, 3, 96, 96)
    with torch.no_grad():
        torch.testing.assert_close(encoder(x), network(x), atol=1e-5, rtol=1e-4)


def test_another_pooling_replaces_that_of_torchvision(monkeypatch):
    def get_model(name, *, weights):
        module = nn.Sequential()
        module.avgpool = nn.AdaptiveAvgPool2d(1 if name == "net" else 7)
        module.flatten = nn.Flatten()
        module.fc = nn.Linear(3, 1000)
        return module

    stand_in(monkeypatch, "torchvision")
    stand_in(monkeypatch, "torchvision.models", get_model=get_model)
    encoder = Backbone(library="torchvision", network="net", weights=False, pooling="maximum")
    x = torch.rand(2, 3, 5, 5)
    torch.testing.assert_close(encoder(x), encoder.scaling(x).amax((2, 3)))
    with pytest.raises(SettingError, match="no pooling to replace"):
        Backbone(library="torchvision", network="vgg", weights=False, pooling="maximum")


def test_maps_of_timm_are_pooled(timm):
    encoder = Backbone(library="timm", network="tiny", pooling="average+maximum", layer_norm=True).eval()
    maps = encoder.module(encoder.scaling(x := torch.rand(2, 3, 5, 5)))
    expected = nn.functional.layer_norm(maps.mean((2, 3)) + maps.amax((2, 3)), (6,))
    torch.testing.assert_close(encoder(x), expected)
