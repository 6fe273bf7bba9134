"""An encoder passed in is trained in place of the run's, stored apart from others, and refused in words."""

import dataclasses
import json

import pytest
import torch
from torch import nn

from samekind.data import Items
from samekind.encoders import MLP, Standardised
from samekind.encoders.foreign import Foreign
from samekind.errors import SettingError, TrainingError
from samekind.space import MetricSpace
from samekind.training import Adversary, Run, build_space, train
from samekind.training.own_encoder import GIVEN, try_out, with_encoder


def an_encoder(width=8, *, dimension=5, **settings):
    """Six features to five, the same weights each time."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        module = nn.Sequential(nn.Linear(6, width), nn.BatchNorm1d(width), nn.Dropout(0.2))
        return Foreign(module, feature_dimension=width, dimension=dimension, **settings)


class Plain(nn.Module):
    """The least there is: a dimension, and a forward."""

    def __init__(self, dimension=5, gives=lambda z: z):
        super().__init__()
        self.dimension = dimension
        self.gives = gives
        self.layer = nn.Linear(6, 5)

    def forward(self, x):
        return self.gives(self.layer(x))


@pytest.fixture
def constant():
    return lambda space: {"eer": 0.5}


# --- trained --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [an_encoder, Plain])
def test_the_module_itself_learns_and_the_space_takes_its_dimension(run, items, constant, tmp_path, make):
    encoder, before = make(), make().state_dict()
    space = train(run, items, folder=tmp_path, validate=constant, encoder=encoder)
    assert space.encoder is encoder
    assert space.prototypes.dimension == space.similarity.dimension == 5
    learned = [name for name, _ in encoder.named_parameters()]
    assert not any(torch.equal(encoder.state_dict()[name], before[name]) for name in learned)


def test_a_stopped_run_goes_on_with_another_copy_and_ends_as_an_unbroken_one(run, items, constant, tmp_path):
    whole = train(run, items, folder=tmp_path / "whole", validate=constant, encoder=an_encoder())

    epochs = []

    def stops(space):
        epochs.append(space)
        if len(epochs) == 3:  # the first is the start
            raise KeyboardInterrupt
        return constant(space)

    with pytest.raises(KeyboardInterrupt):
        train(run, items, folder=tmp_path / "broken", validate=stops, encoder=an_encoder())
    other = an_encoder()
    nn.init.zeros_(other.embedding.weight)  # its own weights do not matter any more
    space = train(run, items, folder=tmp_path / "broken", validate=constant, encoder=other)
    assert all(torch.equal(value, space.state_dict()[name]) for name, value in whole.state_dict().items())


def test_a_rate_for_a_stage_and_for_a_part_of_the_module(run, items, constant, tmp_path):
    rates = ["encoder=0.1", "encoder.embedding=0", "encoder.module.0=0"]
    changed = run.override([*(f"optimiser.rates.{rate}" for rate in rates), "optimiser.weight_decay=0"])
    space = train(changed, items, folder=tmp_path, validate=constant, encoder=an_encoder())
    before, after = dict(an_encoder().named_parameters()), dict(space.encoder.named_parameters())
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert moved == {"module.1.weight", "module.1.bias"}


@pytest.mark.parametrize("standardise", ["none", "features"])
def test_a_saved_space_is_loaded_with_an_encoder_of_the_same_shape(
    run, items, constant, tmp_path, standardise
):
    changed = run.override([f"space.standardise={standardise}"])
    space = train(changed, items, folder=tmp_path / "run", validate=constant, encoder=an_encoder())
    assert isinstance(space.encoder, Standardised) == (standardise == "features")
    space.save(tmp_path / "space")
    again = MetricSpace.load(tmp_path / "space", encoder=an_encoder())
    assert torch.equal(again.embed(items.inputs), space.embed(items.inputs))


def test_an_adversary_reads_its_features(run, items, constant, tmp_path):
    watched = dataclasses.replace(run, adversary=Adversary("soft", hidden=4))
    space = train(watched, items, folder=tmp_path / "wrapped", validate=constant, encoder=an_encoder())
    assert isinstance(space.encoder, Foreign)
    with pytest.raises(SettingError, match=r"Plain does not have both; wrap it in .*Foreign"):
        train(watched, items, folder=tmp_path / "plain", validate=constant, encoder=Plain())


def test_start_gives_its_weights_to_the_encoder(run, items, constant, tmp_path):
    frozen = run.override(["epochs=1", "optimiser.rate=0"])
    first = train(
        run, items, folder=tmp_path / "first", validate=constant, encoder=an_encoder(batch_norm="frozen")
    )
    fresh = an_encoder(batch_norm="frozen")
    space = train(frozen, items, folder=tmp_path / "next", validate=constant, start=first, encoder=fresh)
    assert torch.equal(fresh.module[0].weight, first.encoder.module[0].weight)
    assert space.encoder is fresh
    with pytest.raises(
        SettingError,
        match=r"\(Foreign\) does not fit this run's \(Foreign\): module.0.weight is \(8, 6\) there",
    ):
        train(
            frozen,
            items,
            folder=tmp_path / "other",
            validate=constant,
            start=first,
            encoder=an_encoder(width=9),
        )


# --- what the folder says, and another encoder in it ----------------------------------------------


def test_run_json_names_the_class_of_the_encoder(run, items, constant, tmp_path):
    train(run, items, folder=tmp_path, validate=constant, encoder=an_encoder())
    stored = json.loads((tmp_path / "run.json").read_text())
    assert stored["space"]["encoder"].keys() == {"name", "class", "fingerprint"}
    assert (stored["space"]["encoder"]["name"], stored["space"]["encoder"]["class"]) == (GIVEN, "Foreign")
    del stored["space"]["encoder"]
    without = run.to_dict()
    del without["space"]["encoder"]
    assert stored == without


def test_the_run_of_a_folder_goes_on_with_the_encoder_and_not_without(run, items, constant, tmp_path):
    train(run, items, folder=tmp_path, validate=constant, encoder=an_encoder())
    stored = Run.from_dict(json.loads((tmp_path / "run.json").read_text()))
    train(stored, items, folder=tmp_path, validate=constant, encoder=an_encoder())
    with pytest.raises(
        SettingError, match="this run has an encoder of your own, Foreign; pass it as encoder"
    ):
        train(stored, items, folder=tmp_path, validate=constant)


@pytest.mark.parametrize(
    "other",
    [
        lambda: an_encoder(width=9),
        lambda: an_encoder(freeze="features"),
        lambda: an_encoder(batch_norm="frozen"),
        lambda: Plain(),
    ],
    ids=["shapes", "freeze", "statistics", "class"],
)
def test_refuses_another_encoder_in_the_folder(run, items, constant, tmp_path, other):
    train(run, items, folder=tmp_path, validate=constant, encoder=an_encoder())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(TrainingError, match=r"holds a run with another encoder \(Foreign there, "):
        train(run, items, folder=tmp_path, validate=constant, encoder=other())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_refuses_to_go_on_with_another_kind_of_encoder(run, items, constant, tmp_path):
    train(run, items, folder=tmp_path / "with", validate=constant, encoder=an_encoder())
    with pytest.raises(TrainingError, match="with an encoder of your own, Foreign; pass it as encoder"):
        train(run, items, folder=tmp_path / "with", validate=constant)
    train(run, items, folder=tmp_path / "without", validate=constant)
    with pytest.raises(TrainingError, match="a run with the encoder MLP, and not with Foreign; choose"):
        train(run, items, folder=tmp_path / "without", validate=constant, encoder=an_encoder())


def test_refuses_other_settings_by_name(run, items, constant, tmp_path):
    train(run, items, folder=tmp_path, validate=constant, encoder=an_encoder())
    with pytest.raises(TrainingError, match=r"other settings \(seed\)"):
        train(run.override(["seed=5"]), items, folder=tmp_path, validate=constant, encoder=an_encoder())


def test_the_fingerprint_does_not_depend_on_the_weights(run):
    one, other = an_encoder(), an_encoder()
    nn.init.zeros_(other.embedding.weight)
    assert with_encoder(run, one) == with_encoder(run, other)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoder", "says"),
    [
        (nn.Linear(6, 5), "the encoder Linear has no dimension; set encoder.dimension .*Foreign"),
        (Plain(dimension="5"), "the encoder Plain has the dimension '5'; set"),
        (Plain(dimension=0), "has the dimension 0"),
        (Plain(dimension=4), r"Plain should give embeddings \(2, 4\), .* it gave \(2, 5\)"),
        (Plain(gives=lambda z: (z, z)), r"should give embeddings \(2, 5\), .* it gave tuple"),
        (Plain(gives=lambda z: z.mean(0)), r"it gave \(5,\)"),
        (Plain(gives=lambda z: z @ z), r"Plain does not take these items, \(n, 6\): mat1 and mat2"),
        (Plain(gives=lambda z: 1 / 0), "does not take these items.*: division by zero"),
        (MLP(inputs=7, dimension=5), r"the encoder takes .* got \(2, 6\)"),
    ],
)
def test_refuses_an_encoder_that_does_not_fit_before_anything_is_written(
    run, items, constant, tmp_path, encoder, says
):
    with pytest.raises(Exception, match=says) as refused:
        train(run, items, folder=tmp_path / "run", validate=constant, encoder=encoder)
    assert type(refused.value).__name__ in ("SettingError", "DataError")
    assert not (tmp_path / "run" / "run.json").exists()


def test_trying_an_encoder_out_changes_nothing_in_it(items):
    encoder = an_encoder().train()
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    try_out(encoder, items)
    assert encoder.training
    assert encoder.module[1].training
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())


def test_without_items_nothing_is_tried(items):
    none = items.take(torch.arange(0))
    try_out(Plain(dimension=4), none)


def test_refuses_to_standardise_an_encoder_that_scales_its_input(run, items):
    changed = run.override(["space.standardise=features"])
    wrapped = Standardised(encoder=an_encoder(), means=[0.0] * 6, deviations=[1.0] * 6)
    with pytest.raises(SettingError, match=r"Standardised scales its input by itself.*to \"none\""):
        build_space(changed, items, encoder=wrapped)
    assert build_space(run, items, encoder=wrapped).encoder is wrapped
    pictures = Items(torch.rand(6, 3, 4, 4), torch.arange(6) % 3, ("a", "b", "c"), "pictures")
    scaling = Foreign(
        nn.Conv2d(3, 5, 1), feature_dimension=5, means=[0.5] * 3, deviations=[0.25] * 3, dimension=5
    )
    with pytest.raises(SettingError, match="Foreign scales its input by itself"):
        build_space(run.override(["space.standardise=channels"]), pictures, encoder=scaling)
    assert build_space(run, pictures, encoder=scaling).embed(pictures.inputs).shape == (6, 5)
