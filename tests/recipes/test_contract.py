"""What every recipe promises: a run that can be written down, built, trained and used on any kind of item."""

import functools
import json
from dataclasses import replace

import pytest
import torch

from samekind import recipes
from samekind.data import Items, clusters
from samekind.evaluation import validation
from samekind.prototypes import fixed_proxies, layout
from samekind.recipes.defended import DEFENDED
from samekind.recipes.few_shot import FEW_SHOT
from samekind.recipes.proxies import BY_TREE, OTHER_SPACES, PROXIES
from samekind.recipes.retrieval import RETRIEVAL
from samekind.recipes.speakers import SPEAKERS
from samekind.recipes.unseen import UNSEEN
from samekind.taxonomy import Tree
from samekind.training import Run, RunFolder, build_space, train
from samekind.training.build import build_optimiser, build_sampler
from samekind.training.terms import build_penalties, build_terms

TREE = Tree(("all", "a", "b", "c"), (-1, 0, 0, 0))
SHAPES = [(6,), (1, 8, 8), (1, 28, 28), (3, 32, 32), (3, 64, 64)]


#: Every loss and every extension of the recipes for unseen classes, but not each with each.
TRAINED = ("prototypical", "triplet", "verification", "unseen-triplet-energy", "unseen-angular-soft-adv")
TRAINED += ("unseen-proxy-nca-adapt-adv", "softmax", "norm-face-ema-dynamic", "proxy-dr-dynamic", "proto-dr")
#: The functions that are behind several recipes.
FAMILIES = {"few_shot": FEW_SHOT, "proxies": {**PROXIES, **BY_TREE, **OTHER_SPACES}, "unseen": UNSEEN}
FAMILIES |= {"speakers": SPEAKERS, "retrieval": RETRIEVAL}


@pytest.fixture(params=TRAINED)
def recipe(request):
    return recipes.RECIPES[request.param]


def small(run):
    """The settings that make batches of 16, or of small tasks, whichever sampler makes them."""
    sizes = {
        "Shuffled": ["batches.size=16"],
        "Episodes": ["batches.way=3", "batches.queries=2", "batches.steps=5"],
    }
    return sizes.get(run.batches.sampler, ["batches.tuples=4"])


def test_the_recipes_are_public_and_carried_out_by_fit():
    families = (*FAMILIES.values(), DEFENDED)
    systems = {name for name in recipes.RECIPES if not any(name in names for names in families)}
    public = {"RECIPES", "climb", "fit", "leave_one_out", "suited", *FAMILIES, *systems}
    assert set(recipes.__all__) == public
    assert all(getattr(recipes, name) is recipes.RECIPES[name] for name in systems)


@pytest.fixture
def few_steps(monkeypatch):
    """Proxies are laid out in a step in place of a thousand."""
    quick = functools.partial(layout.multidimensional_scaling, steps=1)
    monkeypatch.setattr(fixed_proxies, "multidimensional_scaling", quick)


@pytest.mark.parametrize("name", recipes.RECIPES)
@pytest.mark.usefixtures("few_steps")
def test_a_run_can_be_written_down_and_built(name):
    for shape in SHAPES if name not in FAMILIES["proxies"] else SHAPES[::4]:
        run = recipes.RECIPES[name](shape)
        assert run.recipe == name
        assert Run.from_dict(json.loads(json.dumps(run.to_dict()))) == run
        if name in FEW_SHOT:
            run = run.override(small(run))
        items = Items(torch.rand(12, *shape), torch.arange(12) // 4, ("a", "b", "c"), "items", tree=TREE)
        space = build_space(run, items)
        assert list(build_terms(run, space)) == list(run.terms)
        assert list(build_penalties(run)) == list(run.penalties)
        assert len(build_sampler(run, items.labels)) == run.batches.arguments.get("steps", 1)
        assert build_optimiser(run.optimiser, space).param_groups


def test_trains_a_few_epochs_on_images(recipe, sets, tmp_path, one_thread):
    run = recipe(sets.train.shape)
    narrow = ["space.encoder.width=4"] if "dimension" in run.space.encoder.arguments else []
    run = run.override(["epochs=3", *small(run), *narrow])
    families = (*run.validate, "verification")
    space = train(run, sets.train, folder=tmp_path, validate=validation(sets.validation, families))
    line = RunFolder(tmp_path).record.lines()[-1]
    assert list(line["terms"]) == [*run.terms, *run.penalties]
    assert ("adversary" in line) == (run.adversary is not None)
    assert 0 <= line["validation"]["eer"] < 0.5
    with torch.no_grad():
        z = space.embed(sets.test.inputs)
    assert z.shape == (len(sets.test), run.space.encoder.arguments["dimension"])
    assert space.classes == ["0", "1", "2", "3"]


def constant(space):
    """A measure for every recipe."""
    return {"eer": 0.5, "eer best": 0.5, "recall@1": 0.5}


def test_a_few_epochs_make_a_difference(recipe, tmp_path, one_thread):
    items = clusters(classes=4, items=12, dimension=6, seed=1, spread=0.5)
    run = recipe(items.shape)
    settings = ["epochs=8", *small(run), "space.encoder.hidden=[16]", "space.encoder.dimension=8"]
    if "hidden" in run.space.similarity.arguments:
        settings.append("space.similarity.hidden=16")
    if run.optimiser.name == "Adam":
        settings.append("optimiser.rate=0.01")
    train(run.override(settings), items, folder=tmp_path, validate=constant)
    lines = RunFolder(tmp_path).record.lines()
    first, last = (sum(line["terms"][name] for name in run.terms) for line in (lines[0], lines[-1]))
    assert last < 0.9 * first


def test_the_scale_of_features_makes_no_difference(recipe, tmp_path, one_thread):
    """Raw tables train as well as prepared ones: millions beside millionths."""
    items = clusters(classes=4, items=12, dimension=6, seed=1, spread=0.5)
    scales = torch.tensor([1e6, 1.0, 1e-6, 1e3, 1e-3, 1.0])
    raw = replace(items, inputs=items.inputs * scales + scales)
    run = recipe(items.shape)
    run = run.override(["epochs=3", *small(run), "space.encoder.hidden=[16]"])
    for name, data in (("plain", items), ("raw", raw)):
        train(run, data, folder=tmp_path / name, validate=constant)
    plain, other = (RunFolder(tmp_path / name).record.lines()[-1]["loss"] for name in ("plain", "raw"))
    assert other == pytest.approx(plain, rel=0.02)
