"""Attended features against loops over layers and places, on networks small enough to follow."""

import json
import math

import pytest
import torch
from torch import nn

from samekind.encoders import (
    MLP,
    Attended,
    BNInception,
    Conv4,
    EfficientNetLite,
    InceptionV3,
    LeNet,
    ResNet18,
    Standardised,
)
from samekind.encoders.stages import image_maps
from samekind.errors import DataError, SettingError
from samekind.parts import build, describe
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace

FORMS = ("additive", "multiplicative", "multidimensional")


class Tiny(nn.Module):
    """Three stages of 2, 3 and 4 channels; the last averaged is the query."""

    channels, smallest, checkpointing = 1, 1, False

    def __init__(self):
        super().__init__()
        self.map_channels = {"first": 2, "second": 3, "third": 4}
        self.first = nn.Conv2d(1, 2, 3, padding=1)
        self.second = nn.Conv2d(2, 3, 2, stride=2)
        self.third = nn.Conv2d(3, 4, 1)

    def stages(self):
        return {name: [self.get_submodule(name)] for name in self.map_channels}

    maps = image_maps


def tiny(**arguments):
    torch.manual_seed(0)
    defaults = {"backbone": Tiny(), "layers": ["first", "second"], "dimension": 5}
    return Attended(**{**defaults, **arguments}).double()


def pictures(count=2, side=4, channels=1):
    generator = torch.Generator().manual_seed(1)
    return torch.rand(count, channels, side, side, generator=generator, dtype=torch.double)


def by_hand(encoder, x):
    """The features and weights of one item, place by place, straight from the equations."""
    maps = {name: value[0] for name, value in encoder.backbone.maps(x[None]).items()}
    u = maps["third"].mean((1, 2))
    features, weights = [], {}
    for name in encoder.attended:
        whose = "every" if encoder.shared else name
        projection = encoder.projections[name]
        identity = isinstance(projection, nn.Identity)
        places = maps[name].flatten(1).T
        keys = [q if identity else projection.weight[:, :, 0, 0] @ q for q in places]
        query = encoder.queries[whose].weight @ u if encoder.second else u
        if encoder.form == "multiplicative":
            scores = [[float(key @ query) for key in keys]]
        else:
            act = {"tanh": torch.tanh, "relu": torch.relu, "none": lambda z: z}[encoder.activation]
            scores = [[float(w @ act(key + query)) for key in keys] for w in encoder.scorers[whose].weight]
        shares = [[math.exp(s) / sum(map(math.exp, row)) for s in row] for row in scores]
        values = keys if encoder.values == "projected" else list(places)
        row = [shares[k] if len(shares) > 1 else shares[0] for k in range(len(values[0]))]
        features.append(
            [sum(a * float(v[k]) for a, v in zip(row[k], values, strict=True)) for k in range(len(row))]
        )
        weights[name] = [sum(share) / len(shares) for share in zip(*shares, strict=True)]
    if encoder.fuse == "sum":
        features = [[sum(feature) for feature in zip(*features, strict=True)]]
    together = [value for layer in features for value in layer]
    return together + (u.tolist() if encoder.with_last else []), weights


CASES = [
    *({"form": form, "second": second} for form in FORMS for second in (False, True)),
    {"activation": "relu"},
    {"activation": "none"},
    {"form": "multidimensional", "values": "raw"},
    {"values": "raw", "with_last": True},
    {"shared": True, "second": True, "width": 6},
    {"form": "multidimensional", "shared": True, "fuse": "sum"},
    {"fuse": "sum", "with_last": True},
    {"layers": ["third", "first"], "projection": "needed"},
    {"form": "multiplicative", "width": 3, "second": True, "projection": "needed"},
]


@pytest.mark.parametrize("arguments", CASES, ids=str)
@torch.no_grad()
def test_agrees_with_the_equations(arguments):
    encoder, x = tiny(**arguments), pictures()
    features, attention = encoder.features(x), encoder.attention(x)
    assert features.shape == (2, encoder.feature_dimension)
    for item in range(2):
        expected, weights = by_hand(encoder, x[item])
        assert features[item].tolist() == pytest.approx(expected)
        for name, weight in weights.items():
            assert attention[name][item].flatten().tolist() == pytest.approx(weight)
    torch.testing.assert_close(encoder(x), encoder.embedding(features))


@pytest.mark.parametrize("arguments", CASES, ids=str)
def test_the_gradient_agrees_with_finite_differences(arguments):
    encoder = tiny(**arguments)
    assert torch.autograd.gradcheck(encoder.features, pictures(1).requires_grad_())


@pytest.mark.parametrize("form", FORMS)
def test_attention_adds_up_to_one_and_keeps_the_shape_of_each_map(form):
    attention = tiny(form=form).attention(pictures(3))
    assert {name: tuple(value.shape) for name, value in attention.items()} == {
        "first": (3, 4, 4),
        "second": (3, 2, 2),
    }
    for value in attention.values():
        torch.testing.assert_close(value.sum((1, 2)), torch.ones(3).double())


@pytest.mark.parametrize(("activation", "moves"), [("tanh", True), ("relu", True), ("none", False)])
@torch.no_grad()
def test_the_query_counts_unless_there_is_no_activation(activation, moves):
    encoder, x = tiny(activation=activation), pictures()
    before = encoder.attention(x)
    # The last layer is the query's alone: what changes the attention here changes it through u.
    encoder.backbone.third.weight.mul_(-3)
    encoder.backbone.third.bias.add_(2)
    after = encoder.attention(x)
    for name in before:
        moved = (before[name] - after[name]).abs().max() > 1e-3
        assert bool(moved) is moves


# --- which layers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("backbone", "side", "layers", "channels", "sides"),
    [
        (BNInception, 224, ["inception_4d", "inception_4e", "inception_5a"], (608, 1056, 1024), (14, 7, 7)),
        (InceptionV3, 299, ["Mixed_6e", "Mixed_7a", "Mixed_7b"], (768, 1280, 2048), (17, 8, 8)),
        (ResNet18, 32, ["layer1", "layer2", "layer3"], (64, 128, 256), (32, 16, 8)),
    ],
)
def test_the_last_three_before_the_final_one_by_default(backbone, side, layers, channels, sides):
    with torch.device("meta"):  # shapes alone
        encoder = Attended(backbone=backbone()).eval()
        x = torch.empty(2, 3, side, side)
        maps = encoder.maps(x)
        assert [maps[name].shape[1:] for name in layers] == [
            (count, pixels, pixels) for count, pixels in zip(channels, sides, strict=True)
        ]
        assert encoder.attended == layers
        assert encoder.layers is None
        assert encoder.features(x).shape == (2, 3 * encoder.backbone.feature_dimension)
        assert encoder(x).shape == (2, 64)


def test_a_pretrained_network_will_do_with_what_it_freezes():
    pytest.importorskip("efficientnet_lite_pytorch")
    backbone = EfficientNetLite(weights=False, batch_norm="frozen", freeze="features", checkpointing=True)
    encoder = Attended(backbone=backbone, dimension=8).train()
    assert encoder.attended == ["stage5", "stage6", "stage7"]
    assert encoder.checkpointing
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items() if "running" in name}
    encoder(torch.rand(2, 3, 64, 64)).sum().backward()
    assert all(torch.equal(value, encoder.state_dict()[name]) for name, value in before.items())
    learning = {
        name.split(".")[0] for name, parameter in encoder.named_parameters() if parameter.grad is not None
    }
    assert learning == {"projections", "scorers", "embedding"}
    assert not any(module.training for module in backbone.modules() if isinstance(module, nn.BatchNorm2d))


def test_checkpointing_of_the_backbone_changes_memory_and_nothing_else():
    x = torch.rand(3, 3, 16, 16, generator=torch.Generator().manual_seed(2))
    result = []
    for checkpointing in (False, True):
        torch.manual_seed(3)
        encoder = Attended(backbone=ResNet18(checkpointing=checkpointing), dimension=4)
        encoder(x).square().sum().backward()
        result.append({name: parameter.grad for name, parameter in encoder.named_parameters()})
    for name, gradient in result[0].items():
        torch.testing.assert_close(result[1][name], gradient)


def test_a_flattening_network_has_its_last_map_averaged_for_a_query():
    encoder = Attended(backbone=Conv4(size=32), dimension=None).eval()
    assert encoder.attended == ["layer1", "layer2", "layer3"]
    assert encoder.feature_dimension == encoder.dimension == 3 * 64
    assert encoder(torch.rand(2, 3, 32, 32)).shape == (2, 192)


def test_a_layer_of_the_width_can_be_kept_as_it_is():
    encoder = tiny(layers=["second", "third"], projection="needed", shared=True, activation="none")
    assert isinstance(encoder.projections["third"], nn.Identity)
    assert list(encoder.scorers) == ["every"]
    assert isinstance(tiny(layers=["third"]).projections["third"], nn.Conv2d)


def test_each_layer_has_its_own_weights_unless_shared():
    own, shared = (tiny(second=True, shared=value) for value in (False, True))
    assert list(own.scorers) == list(own.queries) == list(own.projections) == ["first", "second"]
    assert list(shared.scorers) == list(shared.queries) == ["every"]
    assert list(shared.projections) == ["first", "second"]


# --- a member like any other ------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [False, True])
def test_a_space_with_attention_is_saved_and_loaded(tmp_path, shared):
    torch.manual_seed(4)
    encoder = Attended(
        backbone=ResNet18(channels=1), layers=["layer2", "layer3"], shared=shared, second=True, dimension=6
    )
    encoder(torch.rand(4, 1, 16, 16))  # batch statistics of its own
    space = MetricSpace(encoder, Cosine(), SupportMeans(dimension=6)).eval()
    space.save(tmp_path / "space")
    again = MetricSpace.load(tmp_path / "space")
    x = torch.rand(2, 1, 16, 16)
    assert torch.equal(again.embed(x), space.embed(x))
    assert again.encoder.attended == ["layer2", "layer3"]


def test_standardised_input_goes_all_the_way():
    inner = Attended(backbone=ResNet18(), layers=["layer3"], dimension=4).eval()
    encoder = Standardised(encoder=inner, means=[0.1, 0.2, 0.3], deviations=[1.0, 2.0, 4.0])
    x = torch.rand(2, 3, 16, 16)
    scaled = encoder.standardise(x)
    assert torch.equal(encoder(x), inner(scaled))
    assert torch.equal(encoder.attention(x)["layer3"], inner.attention(scaled)["layer3"])
    assert list(encoder.stages())[-2:] == ["attention", "embedding"]
    without = Standardised(encoder=ResNet18(), means=[0.0] * 3, deviations=[1.0] * 3)
    assert not hasattr(without, "attention")


def test_a_standardised_network_can_be_the_backbone():
    backbone = Standardised(encoder=ResNet18(), means=[0.1, 0.2, 0.3], deviations=[1.0, 2.0, 4.0])
    encoder = Attended(backbone=backbone, layers=["layer3"], dimension=4).eval()
    x = torch.rand(2, 3, 16, 16)
    inside = Attended(backbone=backbone.encoder, layers=["layer3"], dimension=4).eval()
    inside.load_state_dict(
        {
            name.replace("backbone.encoder.", "backbone."): tensor
            for name, tensor in encoder.state_dict().items()
            if not name.endswith(("centre", "spread"))
        }
    )
    torch.testing.assert_close(encoder(x), inside(backbone.standardise(x)))
    assert build(json.loads(json.dumps(describe(encoder))), room="encoders").dimension == 4


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("form", FORMS)
def test_half_precision_by_autocast_is_finite_and_near(dtype, form):
    torch.manual_seed(5)
    encoder = Attended(backbone=ResNet18(), form=form, dimension=4).eval()
    x = torch.rand(2, 3, 16, 16)
    with torch.no_grad():
        exact = encoder.attention(x)
        with torch.autocast("cpu", dtype):
            half, z = encoder.attention(x), encoder(x)
    assert z.isfinite().all()
    for name, value in half.items():
        assert value.dtype == torch.float32
        torch.testing.assert_close(value, exact[name], atol=0.05, rtol=0)


def test_a_whole_encoder_in_half_precision_keeps_it():
    encoder = Attended(backbone=ResNet18(), dimension=4).eval().bfloat16()
    assert encoder(torch.rand(2, 3, 16, 16).bfloat16()).dtype == torch.bfloat16


# --- mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"backbone": MLP(inputs=3)}, "expected a backbone with named maps, .*; MLP has none to attend to"),
        ({"backbone": LeNet()}, "LeNet has none to attend to"),
        (
            {"backbone": ResNet18(dimension=7)},
            "without a dimension, .* got ResNet18 with 7; give the dimension",
        ),
        ({"layers": ["layer5"]}, 'Tiny has no map "layer5"; Known: first, second, third'),
        ({"layers": ["frist"]}, 'Tiny has no map "frist"; did you mean "first"?'),
        ({"layers": []}, "one layer or more to attend to, each once; got"),
        ({"layers": ["first", "first"]}, "each once; got .'first', 'first'"),
        ({"width": 6}, "the last feature has 4 channels, so a width of 6 needs a matrix for it: set second"),
        ({"values": "raw", "fuse": "sum"}, "layers of 2, 3 channels cannot be added up as they are"),
        (
            {"form": "multidimensional", "values": "raw", "shared": True},
            "layers of 2, 3 channels cannot share a vector for each",
        ),
        ({"form": "aditive"}, 'no form "aditive"; did you mean "additive"?'),
        ({"activation": "gelu"}, 'no activation "gelu"; '),
        ({"fuse": "concat"}, 'no fuse "concat"; did you mean "concatenate"?'),
        ({"values": "row"}, 'no values "row"; did you mean "raw"?'),
        ({"projection": "never"}, 'no projection "never"; '),
        ({"dimension": 0}, "dimension must be at least 1; got dimension 0"),
        ({"width": 0}, "must be at least 1; got width 0"),
    ],
)
def test_refuses_impossible_settings(arguments, says):
    with pytest.raises(SettingError, match=says):
        tiny(**{"backbone": Tiny(), **arguments})


def test_refuses_attention_over_attention():
    inner = Attended(backbone=ResNet18(), dimension=None)
    with pytest.raises(SettingError, match="attends to its layers already; give its backbone"):
        Attended(backbone=inner)


def test_input_of_another_shape_is_refused_by_the_backbone():
    encoder = Attended(backbone=ResNet18())
    for ask in (encoder, encoder.features, encoder.maps, encoder.attention):
        with pytest.raises(DataError, match="the encoder takes images"):
            ask(torch.rand(2, 1, 16, 16))
