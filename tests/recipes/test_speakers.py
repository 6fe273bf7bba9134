"""The recipes for speakers: the settings of the papers, two layers for two terms, and sounds of a folder."""

import pytest
import torch

from samekind.acoustics import as_samples
from samekind.data import SOUNDS, Items, SoundReader
from samekind.errors import SettingError
from samekind.recipes import RECIPES, speakers
from samekind.training import Batches, Optimiser, Part, Schedule, build_space, train
from samekind.training.context import Context
from samekind.training.objective import objective
from samekind.training.schedules import inverse_square_root
from samekind.training.terms import build_terms

NARROW = ["space.encoder.encoder.width=8", "space.encoder.encoder.last_width=12"]
NARROW += ["space.encoder.encoder.dimension=10", "space.similarity.hidden=8"]


@pytest.fixture(scope="module")
def voices():
    """Four voices, each a tone with six recordings of unequal length."""
    generator = torch.Generator().manual_seed(0)
    inputs = torch.full((24, 1, 6400), torch.nan)
    for row, sound in enumerate(inputs):
        time = torch.arange(4800 + 200 * (row % 6)) / 16000
        tone = torch.sin(2 * torch.pi * (120 + 60 * (row // 6)) * time).sign()
        sound[0, : len(time)] = 0.3 * tone + 0.01 * torch.randn(len(time), generator=generator)
    return Items(
        as_samples(inputs), torch.arange(24) // 6, ("a", "b", "c", "d"), "voices", reader=SoundReader()
    )


def test_the_settings_are_those_of_the_paper(voices):
    run = speakers(voices)
    assert voices.medium is SOUNDS
    assert run.space.encoder.arguments["encoder"] == {
        "name": "XVector",
        "dimension": 512,
        "variant": "authors",
    }
    assert run.space.similarity == Part("PairsNetwork", {"hidden": 256, "depth": 4, "dropout": 0.1})
    assert run.space.auxiliary.projection.arguments["dimension"] == 256
    assert run.batches == Batches("Tuples", {"tuples": 24, "size": 5})
    assert run.optimiser == Optimiser("SGD", rate=1.5, momentum=0.95, nesterov=True, weight_decay=1e-3)
    assert run.schedule == Schedule("inverse-square-root", warmup=2000)
    assert 1.5 * inverse_square_root(2000, warmup=2000) == pytest.approx(0.0335410)
    assert run.terms["pair"].arguments == {"smoothing": 0.05, "total": "mean"}
    assert run.clip == 10


def test_the_systems_differ_in_their_terms_and_layers(voices):
    assert list(RECIPES["speaker-alone"](voices).terms) == ["pair"]
    assert RECIPES["speaker-alone"](voices).space.auxiliary is None
    run = RECIPES["speaker-prototypical"](voices)
    assert list(run.terms) == ["class", "pair", "auxiliary"]
    assert run.space.auxiliary.projection is None
    assert run.space.encoder.arguments["encoder"]["dimension"] == 256
    assert [part.name for part in run.augment] == ["FeatureMasking", "TimeReversal", "RandomChunk"]
    assert not speakers((6,)).augment
    with pytest.raises(SettingError, match='there is no system "speker"'):
        speakers(voices, system="speker")


def test_pairs_take_the_inner_layer_and_the_margin_softmax_the_later_one(voices):
    run = speakers(voices).override([*NARROW, "space.auxiliary.projection.dimension=5"])
    space = build_space(run, voices)
    assert space.auxiliary.prototypes.vectors.shape == (4, 1, 5)
    z = torch.randn(6, 10, requires_grad=True)
    labels = torch.tensor([0, 0, 1, 1, 2, 3])
    costs = objective(space, z, labels, Context(build_terms(run, space))).costs
    later = list(space.auxiliary.parameters())
    assert all(
        g is None for g in torch.autograd.grad(costs["pair"], later, allow_unused=True, retain_graph=True)
    )
    assert all(g is not None for g in torch.autograd.grad(costs["auxiliary"], later, retain_graph=True))
    assert torch.autograd.grad(costs["auxiliary"], z)[0].abs().sum() > 0


@pytest.mark.parametrize("name", ["speaker", "speaker-prototypical"])
def test_sounds_are_learned_and_another_set_goes_on_from_there(name, voices, tmp_path):
    run = RECIPES[name](voices).override([*NARROW, "epochs=2", "schedule.warmup=1"])
    space = train(run, voices, folder=tmp_path / "one", validate=lambda space: {"eer": 0.5})
    others = Items(voices.inputs[6:], voices.labels[6:] - 1, ("x", "y", "z"), "others", reader=SoundReader())
    run = RECIPES[name](others).override([*NARROW, "epochs=1", "optimiser.rate=0"])
    again = train(run, others, folder=tmp_path / "two", validate=lambda space: {"eer": 0.5}, start=space)
    before, after = (dict(part.encoder.named_parameters()) for part in (space, again))
    assert all(torch.equal(before[key], after[key]) for key in before)
    assert again.classes == ["x", "y", "z"]
