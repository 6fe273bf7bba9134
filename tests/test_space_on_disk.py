"""A space on disk: loaded it answers to the bit as before, and what is not a space of ours is refused."""

import builtins
import copy
import inspect
import json
import pickle
import sys
from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind import archive, prototypes, similarities
from samekind.auxiliary_head import AuxiliaryHead
from samekind.data import ImageReader, VectorReader
from samekind.decisions import Decision, Standing, Temperature
from samekind.encoders import MLP, Attended, Conv4, LeNet, Standardised, WithSize
from samekind.errors import SettingError, SpaceError
from samekind.inference import identify
from samekind.parts import describe
from samekind.prototypes import LearnedProxies, SupportMeans
from samekind.similarities import Cosine, Dot, LearnedScale, PairsNetwork
from samekind.space import MetricSpace

CLASSES = ["ant", "bee", 'Ä "quoted"\nname']
ITEMS = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
DECISIONS = {
    "similarity": Decision(
        "similarity", 0.1 + 0.2, "eer", "digits: 1 same, 2 different", 1 / 3, 0.0, (1.5, -2.0)
    ),
    "cosine": Decision("cosine", -1.0, "far=0.01", "digits: 1 same, 2 different", 0.0, 1.0),
}
OPEN_SET = Decision(
    "similarity", 0.3, "far=0.1", "4 known, 5 unknown", 0.2, 0.25, (2.0, 1.0), (0.1, 0.4), (0.0, 0.5), 4, 5, 2
)

TEMPERATURES = {
    "similarity": Temperature(1 / 3, "digits: 40 items", 40),
    "auxiliary": Temperature(2.5, "digits: 40 items", 40),
    "fused": Temperature(1e3, "digits: 40 items", 40, at_bound=True),
}
STANDINGS = {
    "similarity": Standing(1 / 3, 0.5, "digits, validation"),
    "cosine": Standing(0.1 + 0.2, 0.75, "digits, validation", (-0.1, 0.2), (0.1, 0.4)),
}


def a_similarity(name):
    takes = inspect.signature(getattr(similarities, name)).parameters
    needed = {"dimension": 4} if "dimension" in takes else {}
    return getattr(similarities, name)(scale=LearnedScale(3.0), **needed)


def a_space(similarity="PairsNetwork", kind="LearnedProxies", encoder=None, **options):
    torch.manual_seed(0)
    known = getattr(prototypes, kind)(CLASSES, dimension=4)
    known.assign(CLASSES, torch.randn(3, 1, 4))
    encoder = encoder or MLP(inputs=3, dimension=4, hidden=(5,), dropout=0.5)
    return MetricSpace(encoder, a_similarity(similarity), known, **options).eval()


def full_space():
    """One of everything a space can have."""
    torch.manual_seed(1)
    head = AuxiliaryHead(
        Dot(bias=True),
        LearnedProxies(CLASSES, dimension=2, count=2, pooling="soft"),
        projection=MLP(inputs=4, dimension=2, hidden=[3]),
        normalise=True,
        bias=True,
    )
    nn.init.normal_(head.offsets)
    space = a_space(auxiliary=head, reader=VectorReader(dimension=3))
    space.decisions = dict(DECISIONS)
    space.open_set = OPEN_SET
    space.temperatures = dict(TEMPERATURES)
    space.standings = dict(STANDINGS)
    return space.eval()


@torch.no_grad()
def answers(space):
    """Everything a space says about the items."""
    z = space.embed(ITEMS)
    heads = ["similarity"] + (["auxiliary", "fused"] if space.auxiliary else [])
    tensors = [z, *(space.score_all(z, z, kind=kind) for kind in space.kinds)]
    for head in heads if space.classes else []:
        tensors += space.classify(z, head=head)[:2]
    return tensors


def assert_same(loaded, space):
    assert loaded.classes == space.classes
    for one, other in zip(answers(loaded), answers(space), strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)


def saved(space, folder, **options):
    space.save(folder)
    return MetricSpace.load(folder, **options)


def edit(folder, change):
    """Change the content of space.json in place."""
    path = folder / "space.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def refused(folder, **options):
    """The sentence with which a folder is refused."""
    with pytest.raises(SpaceError) as caught:
        MetricSpace.load(folder, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- there and back ---------------------------------------------------------------------------------


@pytest.mark.parametrize("similarity", similarities.SIMILARITIES)
def test_a_loaded_space_answers_to_the_bit_as_before(tmp_path, similarity):
    for kind in prototypes.PROTOTYPES:
        space = a_space(similarity, kind)
        assert_same(saved(space, tmp_path / "space"), space)
        space.enroll("dog", torch.ones(2, 4))
        space.remove("ant")
        assert_same(saved(space, tmp_path / "space"), space)


def test_so_does_one_with_everything(tmp_path):
    space = full_space()
    loaded = saved(space, tmp_path)
    assert_same(loaded, space)
    assert loaded.decisions == DECISIONS
    assert loaded.open_set == OPEN_SET
    assert loaded.temperatures == TEMPERATURES
    assert loaded.standings == STANDINGS
    assert describe(loaded.reader) == describe(space.reader)
    assert loaded.auxiliary.describe() == space.auxiliary.describe()


@pytest.mark.parametrize("projection", [False, True])
@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_so_does_every_form_of_auxiliary_head(tmp_path, projection, normalise, bias):
    torch.manual_seed(0)
    head = AuxiliaryHead(
        Cosine(scale=LearnedScale(30.0)),
        LearnedProxies(CLASSES[::-1], dimension=2 if projection else 4),
        projection=MLP(inputs=4, dimension=2, hidden=[]) if projection else None,
        normalise=normalise,
        bias=bias,
    )
    if bias:
        nn.init.normal_(head.offsets)
    space = a_space(auxiliary=head)
    assert_same(saved(space, tmp_path), space)


def test_a_head_that_no_longer_fits_is_remembered_as_such(tmp_path):
    space = full_space()
    space.enroll("bee", torch.ones(1, 4), replace=True)
    loaded = saved(space, tmp_path)
    with pytest.raises(SpaceError, match="was not trained with bee"):
        loaded.classify(torch.ones(1, 4), head="auxiliary")
    loaded.enroll("dog", torch.ones(1, 4))  # and a loaded space can be changed like any other
    assert loaded.classes == [*CLASSES, "dog"]


@pytest.mark.parametrize("pooling", ["mean", "max", "soft"])
def test_several_vectors_a_class_are_kept(tmp_path, pooling):
    known = SupportMeans(CLASSES, dimension=4, pooling=pooling)
    known.assign(CLASSES, torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0)))
    space = MetricSpace(MLP(inputs=3, dimension=4, hidden=[]), Cosine(), known).eval()
    assert_same(saved(space, tmp_path), space)


@pytest.mark.parametrize(
    "reader", [ImageReader(height=4, width=5, channels=3), VectorReader(dimension=3), None]
)
def test_the_reader_is_kept(tmp_path, reader):
    loaded = saved(a_space(reader=reader), tmp_path)
    assert (loaded.reader and describe(loaded.reader)) == (reader and describe(reader))


@pytest.mark.parametrize("dtype", [torch.double, torch.bfloat16])
def test_the_precision_is_kept(tmp_path, dtype):
    space = a_space("Dot", encoder=MLP(inputs=3, dimension=4, hidden=[])).to(dtype)
    loaded = saved(space, tmp_path)
    state = space.state_dict()
    assert set(loaded.state_dict()) == set(state)
    for name, tensor in loaded.state_dict().items():
        assert tensor.dtype == state[name].dtype
        assert torch.equal(tensor, state[name])


def test_a_space_without_classes_is_kept(tmp_path):
    space = a_space()
    for name in CLASSES:
        space.remove(name)
    assert_same(saved(space, tmp_path), space)


def test_batch_statistics_are_kept(tmp_path):
    torch.manual_seed(0)
    space = MetricSpace(LeNet(channels=1, size=16, dimension=4), Cosine(), SupportMeans(dimension=4))
    for module in space.modules():
        if hasattr(module, "running_mean"):
            nn.init.normal_(module.running_mean)
    images = torch.rand(2, 1, 16, 16)
    assert torch.equal(saved(space, tmp_path).embed(images), space.eval().embed(images))


def test_saving_changes_nothing_and_loading_gives_a_space_at_rest(tmp_path):
    space = a_space().train()
    before = copy.deepcopy(space.state_dict())
    loaded = saved(space, tmp_path)
    assert space.training
    assert space.encoder.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in space.state_dict().items())
    assert not any(module.training for module in loaded.modules())
    assert all(tensor.device.type == "cpu" for tensor in loaded.state_dict().values())
    assert all(parameter.requires_grad for parameter in loaded.parameters())  # it can be trained further


def test_a_folder_may_be_given_as_a_text(tmp_path):
    a_space().save(str(tmp_path / "space"))
    assert_same(MetricSpace.load(str(tmp_path / "space")), a_space())


# --- foreign encoders -------------------------------------------------------------------------------


class Mine(nn.Module):
    """An encoder samekind does not know, its two layers sharing one matrix."""

    def __init__(self, width=4):
        super().__init__()
        self.first = nn.Linear(3, width)
        self.second = nn.Linear(width, width, bias=False)
        self.third = nn.Linear(width, width, bias=False)
        self.third.weight = self.second.weight

    def forward(self, x):
        return self.third(self.second(self.first(x)))


class Theirs(Mine):
    """As mine, tensor by tensor, but computing something else."""

    def forward(self, x):
        return self.first(x)


def test_a_foreign_encoder_is_passed_in_and_given_its_weights(tmp_path):
    space = a_space(encoder=Mine())
    encoder = Mine()
    loaded = saved(space, tmp_path, encoder=encoder)
    assert loaded.encoder is encoder
    assert encoder.third.weight is encoder.second.weight
    assert_same(loaded, space)


def test_without_it_the_space_says_what_it_needs(tmp_path):
    a_space(encoder=Mine()).save(tmp_path)
    assert refused(tmp_path) == (
        "this space has an encoder of your own, Mine; pass it as load(folder, encoder=…)"
    )


@pytest.mark.parametrize("given", [Mine(width=5), Theirs(), MLP(inputs=3), nn.Identity(), Mine().double()])
def test_another_encoder_is_refused_and_left_as_it_is(tmp_path, given):
    a_space(encoder=Mine()).save(tmp_path)
    before = copy.deepcopy(given.state_dict())
    sentence = refused(tmp_path, encoder=given)
    assert (
        f"the encoder given ({type(given).__name__}) is not the one this space was saved with (Mine)"
        in sentence
    )
    assert all(torch.equal(tensor, before[name]) for name, tensor in given.state_dict().items())


def test_a_foreign_encoder_that_is_standardised_is_passed_in_with_that_or_without(tmp_path):
    def standardised(encoder, shift=0.0):
        return Standardised(encoder=encoder, means=[1.0 + shift, 2.0, 3.0], deviations=[0.5, 1.0, 2.0])

    space = a_space(encoder=standardised(Mine()))
    inner = Mine()
    loaded = saved(space, tmp_path, encoder=inner)
    assert loaded.encoder.encoder is inner
    assert_same(loaded, space)
    assert_same(saved(space, tmp_path, encoder=standardised(Mine(), shift=7.0)), space)
    assert "an encoder of your own, Mine" in refused(tmp_path)
    assert "the encoder given (Theirs) is not the one" in refused(tmp_path, encoder=Theirs(width=5))


def test_a_foreign_encoder_that_gets_the_size_is_passed_in_with_or_without_it(tmp_path):
    class Colours(Conv4):
        """Not ours."""

    def sized(encoder):
        wrapped = WithSize(encoder=Standardised(encoder=encoder, means=[0.5], deviations=[2.0]))
        nn.init.normal_(wrapped.size.weight)
        return wrapped

    def mine():
        return Colours(channels=1, size=16, dimension=4)

    space, x = a_space(encoder=sized(mine())), torch.rand(2, 2, 16, 16)
    space.save(tmp_path)
    for given in (mine(), sized(mine())):
        assert torch.equal(MetricSpace.load(tmp_path, encoder=given).embed(x), space.embed(x))
    assert "Colours; pass it as load" in refused(tmp_path)


def test_one_of_ours_around_a_foreign_one_is_foreign(tmp_path):
    class Maps(Conv4):
        """Not ours."""

    def attended():
        return Attended(backbone=Maps(channels=1, size=16), dimension=4)

    space = a_space(encoder=attended())
    space.save(tmp_path)
    assert "an encoder of your own, Attended" in refused(tmp_path)
    again, x = MetricSpace.load(tmp_path, encoder=attended()), torch.rand(2, 1, 16, 16)
    assert torch.equal(again.embed(x), space.embed(x))


def test_one_of_ours_may_be_passed_in_if_it_fits(tmp_path):
    space = a_space()
    encoder = MLP(inputs=3, dimension=4, hidden=(5,))
    assert_same(saved(space, tmp_path, encoder=encoder), space)
    assert "saved with (MLP)" in refused(tmp_path, encoder=MLP(inputs=3, dimension=4, hidden=(6,)))


def test_no_other_part_may_be_foreign(tmp_path):
    class Louder(Cosine):
        """Not ours."""

    a_space().save(tmp_path / "space")
    for broken in (
        MetricSpace(Mine(), Louder(), SupportMeans(dimension=4)),
        a_space(auxiliary=AuxiliaryHead(Louder(), SupportMeans(CLASSES, dimension=4))),
        a_space(
            auxiliary=AuxiliaryHead(Dot(), SupportMeans(CLASSES, dimension=4), projection=nn.Linear(4, 4))
        ),
    ):
        with pytest.raises(SettingError, match=r"(Louder|Linear) is not a part of samekind"):
            broken.save(tmp_path / "space")
    assert_same(MetricSpace.load(tmp_path / "space"), a_space())


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    ["encoder", "encoder fingerprint", "similarity", "prototypes", "auxiliary", "reader", "decisions"],
)
def test_a_missing_key_is_named(tmp_path, key):
    a_space().save(tmp_path)
    edit(tmp_path, lambda content: content.pop(key))
    assert f"is damaged: space.json has no '{key}'; restore it or train again" in refused(tmp_path)


@pytest.mark.parametrize("key", ["similarity", "prototypes", "projection", "normalise", "bias"])
def test_a_missing_key_of_the_head_is_named(tmp_path, key):
    full_space().save(tmp_path)
    edit(tmp_path, lambda content: content["auxiliary"].pop(key))
    assert f"space.json has no '{key}'" in refused(tmp_path)


@pytest.mark.parametrize(
    ("part", "changes", "sentence"),
    [
        ("similarity", {"name": "Cosin"}, '"Cosin" is not in similarities; did you mean "Cosine"'),
        ("encoder", {"name": "os.system"}, '"os.system" is not in encoders'),
        ("encoder", {"name": "__import__"}, '"__import__" is not in encoders'),
        ("encoder", {"room": "builtins", "name": "eval"}, 'expected a part of "encoders"'),
        ("encoder", {"room": "similarities", "name": "Cosine"}, 'expected a part of "encoders"'),
        ("prototypes", {"room": "torch.hub", "name": "load"}, 'expected a part of "prototypes"'),
        ("prototypes", {"arguments": {"path": "x"}}, 'LearnedProxies has no argument "path"'),
        ("prototypes", {"arguments": {}}, "LearnedProxies needs classes, dimension"),
        ("reader", {"name": "write_image"}, '"write_image" is not in data'),
        ("reader", {"arguments": {"dimension": 0}}, "dimension must be at least 1; got 0"),
    ],
)
def test_parts_that_are_not_ours_are_refused(tmp_path, part, changes, sentence):
    full_space().save(tmp_path)
    edit(tmp_path, lambda content: content[part].update(changes))
    assert sentence in refused(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"threshold": "0.5"},
        {"threshold": None},
        {"threshold": True},
        {"calibration": [1.0]},
        {"calibration": ["a", "b"]},
        {"calibration": 3},
        {"calibration": []},
        {"kind": "cosin"},
        {"kind": ["cosine"]},
        {"equal_error": "a"},
        {"point": 3},
        {"surprise": 1},
        {"false_accept_interval": [0.1]},
        {"false_reject_interval": ["a", 0.5]},
        {"same_trials": 2.5},
        {"classes": None},
    ],
)
@pytest.mark.parametrize("place", ["decisions", "open set"])
def test_refuses_a_malformed_decision(tmp_path, changes, place):
    full_space().save(tmp_path)

    def change(content):
        (content["decisions"]["similarity"] if place == "decisions" else content[place]).update(changes)

    edit(tmp_path, change)
    assert "is damaged: " in refused(tmp_path)


def test_a_decision_under_the_name_of_another_kind_is_refused(tmp_path):
    full_space().save(tmp_path)
    edit(tmp_path, lambda content: content["decisions"]["similarity"].update({"kind": "cosine"}))
    assert "is damaged: " in refused(tmp_path)


@pytest.mark.parametrize("kind", ["similarity", "cosine", "fused"])
def test_none_of_these_may_go_by_any_kind_of_score(tmp_path, kind):
    space = full_space()
    space.open_set = replace(OPEN_SET, kind=kind, equal_error=0.25)
    assert saved(space, tmp_path).open_set == space.open_set


def test_a_threshold_for_none_of_these_from_before_answers_as_before(tmp_path):
    """It had no equal error, and its kind was always the similarity."""
    space = full_space()
    before = identify(space, space.embed(ITEMS))
    space.save(tmp_path)
    edit(tmp_path, lambda content: content["open set"].pop("equal_error"))
    loaded = MetricSpace.load(tmp_path)
    assert loaded.open_set == OPEN_SET
    assert identify(loaded, loaded.embed(ITEMS)) == before
    best = space.score_classes(space.embed(ITEMS)).amax(1)
    assert [answer.name is not None for answer in before] == (best >= OPEN_SET.threshold).tolist()


def test_a_space_saved_before_there_were_intervals_is_read(tmp_path):
    full_space().save(tmp_path)

    def as_it_was(content):
        del content["open set"]
        for decision in content["decisions"].values():
            for name in ("false_accept_interval", "false_reject_interval"):
                del decision[name]
            for name in ("same_trials", "different_trials", "classes"):
                del decision[name]

    edit(tmp_path, as_it_was)
    loaded = MetricSpace.load(tmp_path)
    assert loaded.decisions == DECISIONS
    assert loaded.open_set is None


def test_a_space_saved_before_there_were_standings_has_none(tmp_path):
    full_space().save(tmp_path)
    edit(tmp_path, lambda content: content.pop("standings"))
    assert MetricSpace.load(tmp_path).standings == {}
    edit(tmp_path, lambda content: content.update({"standings": {"cosine": {"recall": 0.5}}}))
    assert "is damaged: " in refused(tmp_path)


def test_a_space_saved_before_there_were_temperatures_answers_as_before(tmp_path):
    space = full_space()
    space.save(tmp_path)
    edit(tmp_path, lambda content: content.pop("temperatures"))
    loaded = MetricSpace.load(tmp_path)
    assert loaded.temperatures == {}
    space.temperatures = {}
    assert_same(loaded, space)


@pytest.mark.parametrize(
    "changes",
    [
        {"value": 0.0},
        {"value": -1.0},
        {"value": float("inf")},
        {"value": float("nan")},
        {"value": "1"},
        {"value": True},
        {"items": 1.5},
        {"fitted_on": None},
        {"at_bound": 1},
        {"surprise": 1},
    ],
)
def test_refuses_a_malformed_temperature(tmp_path, changes):
    full_space().save(tmp_path)
    edit(tmp_path, lambda content: content["temperatures"]["fused"].update(changes))
    assert "is damaged: " in refused(tmp_path)


@pytest.mark.parametrize(
    "stored", [{"cosine": {"value": 1.0, "fitted_on": "x", "items": 40}}, {"fused": {}}, [], 3]
)
def test_temperatures_of_no_head_are_refused(tmp_path, stored):
    full_space().save(tmp_path)
    edit(tmp_path, lambda content: content.update({"temperatures": stored}))
    assert "is damaged: " in refused(tmp_path)


@pytest.mark.parametrize("changed", ["missing", "unexpected", "shape"])
def test_tensors_that_do_not_fit_are_named(tmp_path, changed):
    a_space().save(tmp_path)
    content, tensors = archive.read(tmp_path)
    weight = tensors["similarity.first.weight"]
    if changed == "missing":
        del tensors["similarity.first.weight"]
    else:
        name = "similarity.first.other" if changed == "unexpected" else "similarity.first.weight"
        tensors[name] = weight[:, 1:]
    rest = {key: value for key, value in content.items() if key not in ("format", "version", "weights")}
    archive.write(tmp_path, rest, tensors)
    sentence = refused(tmp_path)
    assert "is damaged: " in sentence
    assert "similarity.first." in sentence


def paths(value, path=()):
    """Every place in a JSON value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in inner:
        yield from paths(inside, (*path, key))


@pytest.mark.parametrize("value", [None, -1, 1.5, "x", [], "removed"], ids=str)
def test_whatever_is_changed_in_it_loading_refuses_with_a_sentence_or_gives_a_space_that_works(
    tmp_path, value
):
    full_space().save(tmp_path)
    whole, refusals = json.loads((tmp_path / "space.json").read_text()), 0
    for *path, last in filter(None, paths(whole)):
        content = copy.deepcopy(whole)
        place = content
        for key in path:
            place = place[key]
        if value == "removed":
            del place[last]
        else:
            place[last] = value
        (tmp_path / "space.json").write_text(json.dumps(content))
        try:
            said = answers(MetricSpace.load(tmp_path))
        except SpaceError:
            refusals += 1
        else:
            assert all(answer.isfinite().all() for answer in said), (*path, last)
    assert refusals > 20


# --- loading runs nothing ---------------------------------------------------------------------------


def test_loading_runs_and_imports_nothing_of_what_lies_in_the_folder(tmp_path, monkeypatch):
    full_space().save(tmp_path)
    MetricSpace.load(tmp_path)  # so that what loading itself needs is imported
    trap = "open('ran', 'w').close()\n"
    for name in ("space.py", "encoders.py", "MLP.py", "conftest.py", "sitecustomize.py", "__init__.py"):
        (tmp_path / name).write_text(trap)
    for name in ("weights.pkl", "weights.pt", "data.pkl"):
        (tmp_path / name).write_bytes(b"cos\nsystem\n(S'touch ran'\ntR.")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def refuse(*_, **__):
        raise AssertionError("loading ran something")

    for owner, name in ((pickle, "load"), (pickle, "loads"), (torch, "load"), (builtins, "exec")):
        monkeypatch.setattr(owner, name, refuse)
    before = set(sys.modules)
    loaded = MetricSpace.load(tmp_path)
    assert set(sys.modules) == before
    monkeypatch.undo()
    assert not (tmp_path / "ran").exists()
    assert_same(loaded, full_space())


@pytest.mark.parametrize(
    "description",
    [
        {"room": "os", "name": "system", "arguments": {"command": "touch ran"}},
        {"room": "encoders", "name": "os.system", "arguments": {"command": "touch ran"}},
        {"room": "builtins", "name": "exec", "arguments": {"source": "open('ran', 'w')"}},
        {"room": "data", "name": "write_image", "arguments": {"path": "ran", "image": 0}},
        {"foreign": "os.system"},
    ],
)
@pytest.mark.parametrize("part", ["encoder", "similarity", "prototypes", "reader", "auxiliary"])
def test_a_part_that_names_something_dangerous_is_refused_and_not_run(
    tmp_path, monkeypatch, part, description
):
    monkeypatch.chdir(tmp_path)
    full_space().save(tmp_path / "space")
    edit(tmp_path / "space", lambda content: content.update({part: description}))
    refused(tmp_path / "space")
    edit(
        tmp_path / "space",
        lambda content: content["similarity"].update({"arguments": {"scale": description}}),
    )
    refused(tmp_path / "space")
    assert [path.name for path in tmp_path.iterdir()] == ["space"]


# --- whole or not at all ----------------------------------------------------------------------------


def test_a_failed_save_leaves_the_space_that_was_there(tmp_path, monkeypatch):
    folder = tmp_path / "space"
    space = full_space()
    space.save(folder)
    changed = full_space()
    changed.enroll("dog", torch.ones(1, 4))

    def fail(_):
        raise OSError("no space left on device")

    monkeypatch.setattr(archive.safetensors.torch, "save", fail)
    with pytest.raises(OSError, match="no space left"):
        changed.save(folder)
    assert_same(MetricSpace.load(folder), space)
    assert [path.name for path in tmp_path.iterdir()] == ["space"]
    monkeypatch.undo()
    assert saved(changed, folder).classes == [*CLASSES, "dog"]


def test_a_folder_of_something_else_is_not_saved_into(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(SpaceError, match="holds something other than a space"):
        a_space().save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("encoder", "dimension", 2**31),
        ("encoder", "hidden", [100_000, 100_000]),
        ("encoder", "hidden", [8] * 5_000),
        ("similarity", "depth", 10**7),
        ("similarity", "hidden", 10**30),
        ("similarity", "slope", 10**30),
        ("similarity", "slope", 1e308),
        ("prototypes", "dimension", 10**9),
    ],
)
def test_a_description_that_asks_for_more_than_was_saved_gets_no_memory(tmp_path, part, name, value):
    space = MetricSpace(
        MLP(inputs=3, dimension=4, hidden=[]),
        PairsNetwork(dimension=4, hidden=8, depth=1),
        SupportMeans(["a"], dimension=4),
    )
    space.save(tmp_path / "space")
    path = tmp_path / "space" / "space.json"
    content = json.loads(path.read_text())
    content[part]["arguments"][name] = value
    path.write_text(json.dumps(content))
    with pytest.raises(SpaceError, match=f"is damaged: (its parts are larger|.*{name} must be)"):
        MetricSpace.load(tmp_path / "space")
