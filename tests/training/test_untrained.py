"""A part that no term trains is refused."""

import dataclasses

import pytest
import torch

from samekind import prototypes
from samekind.data import Items
from samekind.encoders import ResNet12
from samekind.errors import SettingError
from samekind.training import Batches, Part, Term, build_space, train
from samekind.training.context import Context
from samekind.training.objective import objective
from samekind.training.step import observe, settle
from samekind.training.terms import build_terms
from samekind.training.untrained import expect_trained

SAID = {
    "auxiliary": r"run\.space\.auxiliary: no term trains .*\(space\.auxiliary=none\)",
    "prototypes": r"run\.space\.prototypes: no term brings items and .* together.*SupportMeans",
    "similarity": r"run\.space\.similarity: no term trains .*, all are against the auxiliary head",
}


@pytest.fixture
def constant():
    return lambda space: {"eer": 0.5}


def with_parts(run, *, terms, similarity="Cosine", proxies="SupportMeans", head=False):
    parts = dataclasses.replace(
        run.space,
        similarity=similarity if isinstance(similarity, Part) else Part(similarity),
        prototypes=Part(proxies),
        auxiliary=run.space.auxiliary if head else None,
    )
    return dataclasses.replace(run, space=parts, terms=dict(zip("abc", terms, strict=False)))


BATCH, CLASSES = Term("triplet"), Term("softmax", against="prototypes")
HEAD, PAST = Term("softmax", against="auxiliary"), Term("triplet", against="memory")


@pytest.mark.parametrize(
    ("part", "settings"),
    [
        ("auxiliary", {"terms": [BATCH], "head": True}),
        ("auxiliary", {"terms": [CLASSES], "proxies": "RunningAverages", "head": True}),
        ("auxiliary", {"terms": [BATCH, dataclasses.replace(HEAD, weight=0.0)], "head": True}),
        ("prototypes", {"terms": [BATCH], "proxies": "LearnedProxies"}),
        ("prototypes", {"terms": [PAST], "proxies": "FixedProxies"}),
        ("prototypes", {"terms": [HEAD], "proxies": "LearnedProxies", "head": True}),
        ("similarity", {"terms": [HEAD], "similarity": "PairsNetwork", "head": True}),
        ("similarity", {"terms": [HEAD], "similarity": "Mahalanobis", "head": True}),
    ],
)
def test_a_part_that_no_term_trains_is_refused(run, items, tmp_path, constant, part, settings):
    changed = with_parts(run, **settings)
    space = build_space(changed, items)
    with pytest.raises(SettingError, match=SAID[part]):
        expect_trained(changed, space)
    with pytest.raises(SettingError, match=SAID[part]):
        train(changed, items, folder=tmp_path, validate=constant)
    assert not (tmp_path / "run.json").exists()
    # One that begins as a trained space left it is what it was there.
    expect_trained(changed, space, begun=[part])
    others = [value for value in ("encoder", *SAID) if value != part]
    with pytest.raises(SettingError, match=SAID[part]):
        expect_trained(changed, space, begun=others)


LEARNED_SCALE = Part("Cosine", {"scale": {"name": "LearnedScale"}})


@pytest.mark.parametrize(
    "settings",
    [
        {"terms": [BATCH]},
        {"terms": [BATCH], "proxies": "RunningAverages"},
        {"terms": [BATCH], "proxies": "EMAProxies"},
        {"terms": [CLASSES], "proxies": "LearnedProxies"},
        {"terms": [CLASSES], "proxies": "FixedProxies"},
        {"terms": [BATCH, HEAD], "head": True},
        {"terms": [HEAD], "head": True},
        # A scale changes no order, and has a temperature beside it.
        {"terms": [HEAD], "similarity": LEARNED_SCALE, "head": True},
        {"terms": [Term("pair_likelihood")], "similarity": "PairsNetwork"},
        {"terms": [Term("pair_likelihood", against="memory")], "similarity": "PairsNetwork"},
        {"terms": [CLASSES], "similarity": "PairsNetwork", "proxies": "RunningAverages"},
    ],
)
def test_accepts_parts_that_are_trained_or_need_no_training(run, items, settings):
    changed = with_parts(run, **settings)
    expect_trained(changed, build_space(changed, items))


@pytest.mark.parametrize("name", prototypes.PROTOTYPES)
def test_the_prototypes_that_need_a_term_are_those_that_nothing_else_moves(run, items, name):
    """A step with a term against the batch alone."""
    kind = getattr(prototypes, name)
    changed = with_parts(run, terms=[BATCH], proxies=name)
    space = build_space(changed, items)
    before = space.prototypes.vectors.detach().clone()
    z = space.embed(items.inputs)
    observe(space, z, items.labels)
    value = objective(space, z, items.labels, Context(build_terms(changed, space)))
    value.costs["a"].backward()
    settle(space, z, items.labels, value)
    assert space.prototypes.vectors.grad is None
    still = torch.equal(before, space.prototypes.vectors)
    assert kind.needs_term == (still and kind.trained)


def test_a_head_that_began_trained_may_stay_without_a_term(run, items, constant, tmp_path):
    """A pairs network trained on, beside the head of a trained space."""
    space = train(run, items, folder=tmp_path / "first", validate=constant)
    alone = run.override(["terms.auxiliary=none"])
    with pytest.raises(SettingError, match=SAID["auxiliary"]):
        train(alone, items, folder=tmp_path / "alone", validate=constant)
    again = train(alone, items, folder=tmp_path / "second", validate=constant, start=space)
    for name, tensor in space.auxiliary.state_dict().items():
        assert torch.equal(again.auxiliary.state_dict()[name], tensor), name
    fewer = items.only(items.classes[:3])  # another head: that one knows other classes
    with pytest.raises(SettingError, match=SAID["auxiliary"]):
        train(alone, fewer, folder=tmp_path / "third", validate=constant, start=space)


# --- what is frozen ---------------------------------------------------------------------------------

RANDOM = r"run\.space\.encoder: {} has random weights, and {} would keep them; begin with"


@pytest.fixture
def images():
    draw = torch.Generator().manual_seed(0)
    inputs = torch.randint(256, (16, 3, 16, 16), dtype=torch.uint8, generator=draw)
    return Items(inputs, torch.arange(16) % 4, ("a", "b", "c", "d"), "images")


def of_images(run, name, *, standardise="none", **arguments):
    parts = dataclasses.replace(
        run.space,
        encoder=Part(name, arguments),
        similarity=Part("Cosine"),
        prototypes=Part("SupportMeans"),
        auxiliary=None,
        standardise=standardise,
    )
    batches = Batches("Balanced", {"classes": 4, "items": 2})
    return dataclasses.replace(run, space=parts, terms={"a": BATCH}, batches=batches, epochs=1)


@pytest.mark.parametrize("setting", [{"freeze": "stem"}, {"freeze": "features"}, {"batch_norm": "frozen"}])
@pytest.mark.parametrize("around", ["nothing", "Attended", "Standardised"])
def test_refuses_frozen_random_weights(run, images, setting, around, tmp_path, constant):
    if around == "Attended":
        frozen = of_images(run, "Attended", backbone={"name": "ResNet12", **setting}, dimension=4)
    else:
        how = "channels" if around == "Standardised" else "none"
        frozen = of_images(run, "ResNet12", standardise=how, dimension=4, **setting)
    ((name, value),) = setting.items()
    with pytest.raises(SettingError, match=RANDOM.format("ResNet12", f'{name} = "{value}"')):
        train(frozen, images, folder=tmp_path, validate=constant)
    assert not (tmp_path / "run.json").exists()
    expect_trained(frozen, build_space(frozen, images), begun=["encoder"])


def test_a_trained_space_or_an_encoder_of_ones_own_may_be_frozen(run, images, tmp_path, constant):
    plain = of_images(run, "ResNet12", dimension=4)
    frozen = of_images(run, "ResNet12", dimension=4, freeze="features")
    first = train(plain, images, folder=tmp_path / "first", validate=constant)
    again = train(frozen, images, folder=tmp_path / "again", validate=constant, start=first)
    assert torch.equal(again.encoder.layer1.conv1.weight, first.encoder.layer1.conv1.weight)
    # What goes on, or is finished, has its weights in the folder.
    train(frozen, images, folder=tmp_path / "again", validate=constant)
    own = ResNet12(dimension=4, freeze="features")
    train(plain, images, folder=tmp_path / "own", validate=constant, encoder=own)
