"""Defences in a run: trained with any loss, and worth their cost under an attack."""

import inspect
from dataclasses import replace

import pytest
import torch

from samekind import losses, similarities
from samekind.acoustics import PAD
from samekind.attacks import PGD, PICTURES, Classes, Linf
from samekind.data import Items, SoundReader, SplitSettings, digits, prepare, scaled
from samekind.errors import SettingError
from samekind.recipes import RECIPES, fit, prototypical
from samekind.taxonomy import Tree
from samekind.training import Defence, Part, RunFolder, Term, build_space, train
from samekind.training.defences import DEFENCES
from samekind.training.extras.defence import build_defence
from samekind.training.extras.extra import Step
from samekind.training.fabric import launch
from samekind.training.learner import Learner

#: Similarities, one of which gives the scores that a loss accepts.
GIVERS = ("Cosine", "Dot", "Euclidean", "LogDistance", "PairsNetwork")

SMALL = [
    "epochs=2",
    "batches.size=16",
    "schedule={name='constant'}",
    "defence.epsilon=0.2",
    "defence.steps=2",
]


def refused(run, items, *settings):
    changed = run.override(settings)
    with pytest.raises(SettingError) as error:
        build_defence(changed, build_space(changed, items), items)
    return str(error.value)


# --- with any loss --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [name for name in DEFENCES if name != "negative-margin"])
@pytest.mark.parametrize("recipe", ["prototypical", "triplet", "norm-face", "proto-softmax"])
def test_every_method_trains_with_every_sort_of_term(method, recipe, items, validate, tmp_path):
    run = RECIPES[recipe](items.shape)
    small = [f"defence.method={method}", *SMALL]
    if recipe in ("triplet", "proto-softmax"):  # other batches
        small = [text for text in small if "batches" not in text]
    if recipe == "proto-softmax":
        small += [
            "batches.way=3",
            "batches.shot=1",
            "batches.queries=2",
            "batches.tasks=2",
            "batches.steps=2",
            "capture=false",
        ]
    run = replace(run.override(small), validate=("verification",), watch="eer", augment=())
    train(run, items, folder=tmp_path, validate=validate, device="cpu")
    last = RunFolder(tmp_path).record.lines()[-1]
    assert last["defence"]["loss"] > 0


@pytest.mark.parametrize("name", losses.__all__)
def test_every_loss_can_be_defended_by_every_method(name, run, items):
    """One step of each: what is attacked costs a number, and the encoder learns from it."""
    quantity = losses.ACCEPTS.get(name, ("logit",))[0]
    similarity = next(part for part in GIVERS if getattr(similarities, part).quantity == quantity)
    of_tree = set(losses.FROM_TREE) & set(inspect.signature(getattr(losses, name)).parameters)
    space = {"similarity": {"name": similarity}, "prototypes": {"name": "LearnedProxies"}, "auxiliary": None}
    term = Term(name, against="prototypes" if of_tree else "batch")
    placed = replace(items, tree=Tree(("all", *items.classes), (-1, *[0] * len(items.classes))))
    for method in (method for method in DEFENCES if method != "negative-margin"):
        defended = replace(run.update({"space": space}), terms={"only": term}, clip=None).override(
            [f"defence.method={method}", "defence.epsilon=0.2", "defence.steps=1"]
        )
        torch.manual_seed(0)
        learner = Learner(
            defended, build_space(defended, placed), placed, launch("cpu", "32-true"), batches=1
        )
        x, y = placed.inputs[::3].float(), placed.labels[::3]
        z, _ = learner.forward(x)
        step = Step(5, learner.space, x, y, z, None, learner.forward, learner.value, learner.value(z, y))
        cost = build_defence(defended, learner.space, placed).cost(step)
        first = next(learner.space.encoder.parameters())
        (slope,) = torch.autograd.grad(cost.loss, first)
        assert torch.isfinite(cost.loss)
        assert slope.isfinite().all()
        assert slope.any()


def test_negative_margins_train_beside_norm_face(items, validate, tmp_path):
    run = RECIPES["norm-face"](items.shape).override(["defence.method=negative-margin", *SMALL])
    run = replace(run, validate=("verification",), watch="eer", augment=())
    train(run, items, folder=tmp_path, validate=validate, device="cpu")
    entries = RunFolder(tmp_path).record.lines()
    assert entries[-1]["defence"]["times as long"] > 2
    assert entries[-1]["loss"] < entries[0]["loss"]


def test_voronoi_cells_are_kept(items):
    run = prototypical(items.shape).override(["defence.cells=true", "defence.epsilon=5"])
    defence = build_defence(run, build_space(run, items), items)
    region, x = defence.ground.region, items.inputs.float()
    far = x + 4 * torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
    inside = region.project(far, x)
    nearest = torch.cdist(inside / region.scale, x / region.scale, p=torch.inf).argmin(1)
    assert nearest.tolist() == list(range(len(x)))
    assert (
        torch.cdist(far / region.scale, x / region.scale, p=torch.inf).argmin(1) != torch.arange(len(x))
    ).any()


# --- what does not suit is refused ----------------------------------------------------------------


def test_what_does_not_suit_the_run_is_refused(items):
    run = prototypical(items.shape)
    assert "norm-face" in refused(run, items, "defence.method=negative-margin")
    one_head = RECIPES["norm-face"](items.shape)
    assert "no term trains" in refused(one_head, items, "defence.through=auxiliary")
    noisy = replace(run, augment=(Part("GaussianNoise"),))
    assert "augment" in refused(noisy, items, "defence.cells=true")
    waves = torch.full((4, 1, 3200), PAD, dtype=torch.int16)
    waves[:, :, :1600], waves[0] = 100, 100
    sounds = Items(waves, torch.arange(4) % 2, ("a", "b"), "sounds", reader=SoundReader())
    assert "several lengths" in refused(
        replace(prototypical(sounds), augment=()), sounds, "defence.cells=true"
    )


@pytest.mark.parametrize(("method", "margin"), [("mix", 0.1), ("triplet", -0.1), ("negative-margin", 0.1)])
def test_a_margin_must_suit_the_method(method, margin):
    with pytest.raises(SettingError, match="margin"):
        Defence(method, margin=margin)


def test_fractions_are_read_from_the_command_line(items):
    run = prototypical(items.shape).override(["defence.method=trades", "defence.epsilon=8/255"])
    assert run.defence == Defence("trades", epsilon=8 / 255)
    assert prototypical(items.shape).update({"defence": {"epsilon": "8/255"}}).defence.epsilon == 8 / 255
    with pytest.raises(SettingError, match=r"run\.defence\.epsilon"):
        prototypical(items.shape).override(["defence.epsilon=8/0"])


# --- and it is worth its cost ---------------------------------------------------------------------

FEW = ["epochs=4", "batches.size=32", "schedule={name='constant'}", "optimiser={name='Adam', rate=0.003}"]


@pytest.fixture(scope="module")
def sets():
    return prepare(digits().take(torch.arange(600)), SplitSettings(seed=0))


@pytest.fixture(scope="module")
def plain_accuracy(sets, tmp_path_factory):
    return adversarial_accuracy(
        prototypical(sets.train).override(FEW), sets, tmp_path_factory.mktemp("plain")
    )


def adversarial_accuracy(run, sets, folder):
    """Of the dense layer under PGD, 20 steps of epsilon 0.15."""
    space, test = fit(run, sets, folder=folder, device="cpu"), sets.test
    goal = Classes(space, test.labels, head="auxiliary")
    attacked = PGD(Linf(0.15), steps=20)(goal, scaled(test.inputs[:]).float(), limits=PICTURES)
    return 1 - float(attacked.succeeded.double().mean())


@pytest.mark.parametrize("method", ["all", "trades"])
def test_training_with_a_defence_raises_the_adversarial_accuracy(method, sets, plain_accuracy, tmp_path):
    run = prototypical(sets.train).override(
        [*FEW, f"defence.method={method}", "defence.epsilon=0.15", "defence.steps=4"]
    )
    assert adversarial_accuracy(run, sets, tmp_path) > plain_accuracy + 0.15
