"""What every encoder promises, checked on all of them; a new one is covered by being exported.

An encoder of sounds says by ``coefficients`` what it takes. An encoder of images says by ``channels``
and ``size`` what it takes, or takes any size; any other says by ``inputs`` how many numbers an item has.
One around another takes what that one takes. What the networks with named stages promise beyond that is
in the last part.
"""

import copy
import functools
import inspect
import json
from contextlib import nullcontext

import pytest
import torch

from samekind import encoders
from samekind.errors import DataError, SettingError
from samekind.parts import build, describe, fingerprint

# One possible value for each argument that any encoder has, and none of them a default.
OTHER = {
    "activation": "relu",
    "bands": 20,
    "batch_norm": "frozen",
    "channels": 2,
    "coefficients": 13,
    "checkpointing": True,
    "depth": 16,
    "depths": (1, 1, 1, 2),
    "deviations": [2.0] * 12,
    "dimension": 7,
    "dither": 0.5,
    "dropout": 0.25,
    "form": "multidimensional",
    "maps_from": "expansions",
    "middle": 5,
    "freeze": "features",
    "fuse": "sum",
    "hidden": [5, 6],
    "inputs": 12,
    "representation": "log-mel",
    "last_width": 5,
    "layer_norm": True,
    "layers": ["layer2", "layer3"],
    "library": "timm",
    "means": [0.5] * 12,
    "mirror": False,
    "network": "tiny",
    "normalise": 50,
    "pooling": "average+maximum",
    "projection": "needed",
    "rate": 8000,
    "second": True,
    "shared": True,
    "shortest": 20,
    "size": 20,
    "sizes": [16, 20],
    "stem": "imagenet",
    "stochastic_depth": 0.25,
    "values": "raw",
    "variant": 1,
    "voice_activity": False,
    "weights": False,
    "width": 3,
    "window": "hamming",
    "with_last": True,
}

# Where an encoder has only some of these, or its defaults would take long.
OTHER_OF = {
    "Backbone": {"channels": 1},
    "CAMPlusPlus": {"bands": 16},
    "ECAPA": {"width": 16, "variant": "speechbrain"},
    "EfficientNetLite": {"channels": 1},
    "SoundResNet": {"pooling": "attentive"},
    "SpeakerNetwork": {"network": "cam++"},
    "XVector": {"pooling": "attentive", "variant": "authors"},
}
LIGHT = {
    "Backbone": {"weights": False},
    "ECAPA": {"width": 32, "last_width": 48},
    "EfficientNetLite": {"weights": False},
    "SoundResNet": {"width": 4},
    "WideResNet": {"depth": 10, "width": 1},
    "XVector": {"width": 16, "last_width": 24},
}

# The side of an image for an encoder that takes any: the smallest where 16 pixels are too few; and large
# networks are shown fewer images.
SIDES = {"EfficientNetLite": 32, "InceptionV3": 75}
LARGE = ("InceptionV3", "ResNet34", "ResNet50")
# Networks of another library are one stage, without maps; the library is played by a stand-in.
PLAYED = {"Backbone": "timm"}
WITHOUT_MAPS = ("Backbone", "SideBySide", "SpeakerNetwork")
# A file that was read into the weights is not remembered: a saved space has no need of it.
NOT_STORED = {"SpeakerNetwork": ("weights", "fingerprint")}
# Of its own: `Standardised` has the stages of the encoder inside it, if that has any.
STAGED = [
    name
    for name in encoders.__all__
    if callable(getattr(getattr(encoders, name), "stages", None)) and name not in WITHOUT_MAPS
]
PACKAGES = {"EfficientNetLite": "efficientnet_lite_pytorch"}


@pytest.fixture(params=encoders.__all__)
def kind(request):
    if request.param in PLAYED:
        request.getfixturevalue(PLAYED[request.param])
    if request.param in PACKAGES:
        pytest.importorskip(PACKAGES[request.param])
    return getattr(encoders, request.param)


def parameters(kind):
    return inspect.signature(kind).parameters


#: Arguments that are encoders.
INSIDE = ("backbone", "encoder", "encoders", "head")


def small(*, dimension, channels=2):
    """A light network for pictures of any size."""
    return encoders.WideResNet(channels=channels, depth=10, width=1, dimension=dimension)


def other(kind, name):
    """A value for an argument; an encoder inside another is a new one each time."""
    if name == "encoder" and kind is encoders.Views:
        return small(dimension=7)
    if name == "encoder" and kind is encoders.WithSize:
        return small(dimension=7, channels=3)
    if name == "encoder" and kind is encoders.FrontEnd:
        return encoders.XVector(coefficients=13, dimension=7, width=8, last_width=8)
    if name == "encoder":
        return encoders.MLP(inputs=12, dimension=70 if kind is encoders.Compressed else 7)
    if name == "encoders":
        return [small(dimension=3), small(dimension=4)]
    if name == "head":
        return encoders.MLP(inputs=7, dimension=7)
    if name == "backbone":
        return encoders.Conv4(channels=2, size=32)
    return {**OTHER, **OTHER_OF.get(kind.__name__, {})}[name]


def taker(encoder):
    """What says which items it takes: the encoder, or the one inside it."""
    if isinstance(encoder, encoders.SideBySide):
        return encoder.encoders[0]
    return getattr(encoder, "encoder", getattr(encoder, "backbone", encoder))


def arguments_of(kind):
    """What `plain` builds it with: what has no default, and what keeps it light."""
    needed = [
        name for name, parameter in parameters(kind).items() if parameter.default is inspect.Parameter.empty
    ]
    return {**{name: other(kind, name) for name in needed}, **LIGHT.get(kind.__name__, {})}


@functools.cache
def built(kind):
    """An encoder with its defaults, which no test may change."""
    torch.manual_seed(0)
    return kind(**arguments_of(kind)).eval()


def plain(kind):
    """One of one's own, in training mode; fresh weights for a large one take longer than a copy."""
    return copy.deepcopy(built(kind)).train()


def shape_of(kind, arguments):
    """An encoder of which only the shapes are wanted: on the device without numbers, if it is large."""
    large = kind.__name__ in STAGED and "backbone" not in arguments  # one that is there already has numbers
    with torch.device("meta") if large else nullcontext():
        return kind(**arguments)


def items_for(encoder, count=6):
    takes = taker(encoder)
    if type(takes).__name__ in STAGED:
        count = min(count, 3 if type(takes).__name__ in LARGE else 5)
    if hasattr(takes, "inputs"):
        shape = (takes.inputs,)
    elif hasattr(takes, "coefficients"):
        shape = (
            (1, 4000)
            if isinstance(encoder, encoders.FrontEnd | encoders.SpeakerNetwork)
            else (takes.coefficients, 30)
        )
    else:
        side = getattr(takes, "size", SIDES.get(type(takes).__name__, 16))
        shape = (takes.channels + isinstance(encoder, encoders.WithSize), side, side)
    return torch.rand(count, *shape, generator=torch.Generator().manual_seed(1))


def test_takes_keywords_only_and_stores_them_under_their_names(kind):
    assert all(value.kind is value.KEYWORD_ONLY for value in parameters(kind).values())
    given = arguments_of(kind)
    encoder = shape_of(kind, given)
    for name, parameter in parameters(kind).items():
        if parameter.default is not inspect.Parameter.empty:
            expected = given.get(name, parameter.default)
            if name == "dimension" and expected is None:  # left open: that of the features
                expected = encoder.feature_dimension
            assert getattr(encoder, name) == expected
            if name not in NOT_STORED.get(kind.__name__, ()):
                assert parameter.default != other(kind, name)
    others = {
        name: other(kind, name) for name in parameters(kind) if name not in NOT_STORED.get(kind.__name__, ())
    }
    encoder = shape_of(kind, others)
    stored = {name: getattr(encoder, name) for name in others}
    assert {
        key: [*part] if isinstance(part, torch.nn.ModuleList) else part for key, part in stored.items()
    } == others
    items = items_for(encoder).to(next(encoder.parameters(), torch.empty(0)).device)
    given_by_input = (
        encoders.Unchanged,
        encoders.ResidualMLP,
        encoders.FrameStatistics,
        encoders.SpeakerNetwork,
    )
    dimension = encoder.dimension if kind in given_by_input else OTHER["dimension"]
    assert encoder.eval()(items).shape == (len(items), dimension)


def test_gives_one_embedding_per_item(kind):
    encoder = plain(kind)
    items = items_for(encoder)
    embeddings = encoder(items)
    assert embeddings.shape == (len(items), encoder.dimension)
    assert embeddings.dtype == items.dtype
    assert embeddings.isfinite().all()


def test_does_not_normalise(kind):
    encoder = built(kind)
    norms = encoder(items_for(encoder)).norm(dim=1)
    assert not torch.allclose(norms, torch.ones_like(norms), atol=1e-3)


def test_features_are_what_the_embedding_layer_sees(kind):
    encoder = built(kind)
    items = items_for(encoder)
    features = encoder.features(items)
    assert features.dim() == 2
    assert len(features) == len(items)
    torch.testing.assert_close(encoder.embedding(features), encoder(items))


def test_an_embedding_does_not_depend_on_the_batch(kind):
    encoder = built(kind)
    items = items_for(encoder)
    torch.testing.assert_close(encoder(items[:1]), encoder(items)[:1], atol=1e-5, rtol=1e-4)
    assert encoder(items[:0]).shape == (0, encoder.dimension)


def test_tells_different_items_apart(kind):
    encoder = built(kind)
    embeddings = encoder(items_for(encoder))
    assert len(embeddings.unique(dim=0)) == len(embeddings)


def test_the_gradient_reaches_every_parameter(kind):
    encoder = plain(kind)
    embeddings = encoder(items_for(encoder, count=16).requires_grad_())
    torch.manual_seed(2)
    (embeddings * torch.randn_like(embeddings)).sum().backward()
    unmoved = [
        name
        for name, parameter in encoder.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    ]
    assert unmoved == []


def test_weights_travel_to_an_encoder_of_the_same_arguments(kind):
    encoder = plain(kind)
    items = items_for(encoder)
    encoder(items)  # so that batch statistics are not at their start either
    same = {name: getattr(encoder, name) for name in parameters(kind)}
    twin = kind(**{name: other(kind, name) if name in INSIDE else value for name, value in same.items()})
    assert torch.equal(twin.eval()(items), encoder.eval()(items)) == (not encoder.state_dict())
    twin.load_state_dict(encoder.state_dict())
    assert torch.equal(twin(items), encoder(items))


def test_refuses_input_of_another_shape(kind):
    encoder = built(kind)
    items = items_for(encoder)
    wrong = [items[0], items[:, :0]]
    if items.dim() == 4:
        wrong += [items[:, [0] * (items.shape[1] + 1)], items.flatten(1)]
    if hasattr(taker(encoder), "size"):
        wrong += [items[:, :, 1:, :], items[:, :, :, 1:]]
    if hasattr(taker(encoder), "inputs"):
        wrong += [items[:, 1:]]
    for value in wrong:
        with pytest.raises(DataError, match=r"the encoder takes .* got \(") as caught:
            encoder(value)
        assert str(tuple(value.shape)) in str(caught.value)


def test_refuses_sizes_below_1(kind):
    for argument in ("channels", "depth", "dimension", "inputs", "size", "width"):
        if argument in parameters(kind):
            with pytest.raises(SettingError, match=r"got .*0"):
                kind(**{**arguments_of(kind), argument: 0})


def test_is_written_down_and_built_again(kind):
    encoder = built(kind)
    with torch.device("meta") if kind.__name__ in STAGED else nullcontext():
        again = build(json.loads(json.dumps(describe(encoder))), room="encoders")
    shapes = {name: tensor.shape for name, tensor in encoder.state_dict().items()}
    assert {name: tensor.shape for name, tensor in again.state_dict().items()} == shapes
    assert again.dimension == encoder.dimension


#: What saved spaces were checked by before networks were composed: names, shapes and types of weights.
FINGERPRINTS = {
    "BNInception": "aa5322b371ec9ccb",
    "Conv4": "37a35b5dadd166a5",
    "LeNet": "e3207d3572d5ec7d",
    "PreActResNet18": "c87b84977b8aaee5",
    "ResNet12": "70ffaeb7e46dc5e4",
    "ResNet18": "83c82dd81a2fbfb9",
    "ResNet34": "9458d8d4e2f69954",
    "ResNet50": "4802f67484865134",
    "InceptionV3": "c9dde800bf8cc99a",
    "SmallConvnet": "c4917e6e0916c05a",
    "WideResNet": "2b2a559be8d1e943",
}


def test_weights_of_spaces_saved_earlier_still_fit():
    with torch.device("meta"):
        fingerprints = {name: fingerprint(getattr(encoders, name)())[:16] for name in FINGERPRINTS}
    assert fingerprints == FINGERPRINTS


# --- networks with named stages -------------------------------------------------------------------


@pytest.fixture(params=STAGED)
def staged(request):
    if request.param in PACKAGES:
        pytest.importorskip(PACKAGES[request.param])
    return getattr(encoders, request.param)


def test_stages_hold_every_parameter_once_and_in_order(staged):
    encoder = built(staged)
    modules = [module for modules in encoder.stages().values() for module in modules]
    listed = [id(parameter) for module in modules for parameter in module.parameters()]
    assert listed == [id(parameter) for parameter in encoder.parameters()]
    between = ["attention"] if staged is encoders.Attended else []
    assert list(encoder.stages()) == [*encoder.map_channels, *between, "embedding"]
    assert encoder.stages()["embedding"] == [encoder.embedding]


def test_maps_are_what_comes_out_of_each_stage_and_the_last_becomes_the_features(staged):
    encoder = built(staged)
    items = items_for(encoder)
    with torch.no_grad():
        maps, x = encoder.maps(items), items
        for name in encoder.map_channels:
            for module in encoder.stages()[name]:
                x = module(x)
            assert torch.equal(maps[name], x)
            assert x.dim() == 4
            assert x.shape[:2] == (len(items), encoder.map_channels[name])
        features = encoder.features(items)
    assert list(maps) == list(encoder.map_channels)
    assert features.shape == (len(items), encoder.feature_dimension)
    if staged is encoders.Attended:  # whose features are made of several maps
        return
    averaged = x.flatten(2).mean(2)
    torch.testing.assert_close(features, x.flatten(1) if staged is encoders.Conv4 else averaged)


def test_maps_refuse_what_features_refuse(staged):
    encoder = built(staged)
    with pytest.raises(DataError, match="the encoder takes"):
        encoder.maps(items_for(encoder)[0])


@pytest.mark.parametrize("of_features", [True, False])
def test_there_is_no_embedding_layer_without_a_dimension_of_its_own(staged, of_features):
    features = built(staged).feature_dimension
    encoder = shape_of(staged, {**arguments_of(staged), "dimension": features if of_features else 5})
    count = sum(parameter.numel() for parameter in encoder.embedding.parameters())
    assert count == (0 if of_features else features * 5 + 5)


@pytest.mark.parametrize("pooling", ["maximum", "average+maximum"])
def test_the_places_of_the_last_map_are_pooled_and_the_features_normalised(staged, pooling):
    if "pooling" not in parameters(staged):
        pytest.skip("it does not pool its last map")
    encoder = copy.deepcopy(built(staged))
    items = items_for(encoder)
    encoder.pooling = pooling  # a setting without weights
    with torch.no_grad():
        last = list(encoder.maps(items).values())[-1].flatten(2)
        expected = last.max(2).values + (last.mean(2) if "average" in pooling else 0)
        torch.testing.assert_close(encoder.features(items), expected)
        encoder.layer_norm = True
        features = encoder.features(items)
    torch.testing.assert_close(features.mean(1), torch.zeros(len(items)), atol=1e-5, rtol=0)
    centred = expected - expected.mean(1, keepdim=True)
    torch.testing.assert_close(
        torch.nn.functional.normalize(features), torch.nn.functional.normalize(centred), atol=1e-5, rtol=1e-4
    )


# --- what training leaves as it is ------------------------------------------------------------------

#: Every network with stages of its own; what `Attended` is around may freeze.
FREEZABLE = [name for name in STAGED if name != "Attended"]


@pytest.fixture(params=FREEZABLE)
def freezable(request):
    if request.param in PACKAGES:
        pytest.importorskip(PACKAGES[request.param])
    return getattr(encoders, request.param)


@pytest.mark.parametrize("freeze", ["none", "stem", "features"])
def test_frozen_stages_do_not_learn_and_stay_in_evaluation_mode(freezable, freeze):
    encoder = shape_of(freezable, {**arguments_of(freezable), "dimension": 5, "freeze": freeze})
    stages = encoder.stages()
    frozen = {"none": [], "stem": list(stages)[:1], "features": list(stages)[:-1]}[freeze]
    for _ in range(2):  # as it is made, and after an evaluation
        for name, modules in stages.items():
            learns = {parameter.requires_grad for module in modules for parameter in module.parameters()}
            trains = {value.training for module in modules for value in module.modules()}
            assert learns <= {name not in frozen}
            assert trains == {name not in frozen}
        assert encoder.training
        encoder.eval().train()


def test_frozen_batch_normalisation_stays_in_evaluation_mode_and_learns(freezable):
    encoder = shape_of(freezable, {**arguments_of(freezable), "batch_norm": "frozen"})
    norms = [module for module in encoder.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    others = [module for module in encoder.modules() if not isinstance(module, torch.nn.BatchNorm2d)]
    assert norms
    for _ in range(2):
        assert not any(norm.training for norm in norms)
        assert all(value.training for value in others)
        encoder.eval().train()
    assert all(parameter.requires_grad for parameter in encoder.parameters())


@pytest.mark.parametrize("wrong", [{"batch_norm": "eval"}, {"freeze": "all"}, {"pooling": "median"}])
def test_refuses_unknown_words(freezable, wrong):
    (name, value), *_ = wrong.items()
    if name not in parameters(freezable):
        pytest.skip(f"it has no {name}")
    with pytest.raises(SettingError, match=f'{name} is .* got "{value}"'):
        shape_of(freezable, {**arguments_of(freezable), **wrong})
