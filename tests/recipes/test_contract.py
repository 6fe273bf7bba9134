"""What every recipe promises: a run that can be written down, built, trained and used on any kind of item."""

import json
from dataclasses import replace

import pytest
import torch

from samekind import recipes
from samekind.data import Items, clusters
from samekind.evaluation import validation
from samekind.training import Record, Run, build_space, train
from samekind.training.build import build_optimiser, build_penalties, build_sampler, build_terms

SHAPES = [(6,), (1, 8, 8), (1, 28, 28), (3, 32, 32), (3, 64, 64)]


@pytest.fixture(params=recipes.RECIPES)
def recipe(request):
    return getattr(recipes, request.param)


def test_the_recipes_are_public_and_carried_out_by_fit():
    assert set(recipes.__all__) == {"RECIPES", "fit", "leave_one_out", *recipes.RECIPES}


def test_a_run_knows_the_recipe_it_came_from(recipe):
    assert recipe((6,)).recipe == recipe.__name__


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_run_can_be_written_down_and_built(recipe, shape):
    run = recipe(shape)
    assert Run.from_dict(json.loads(json.dumps(run.to_dict()))) == run
    items = Items(torch.rand(4, *shape), torch.tensor([0, 0, 1, 1]), ("a", "b"), "items")
    space = build_space(run, items)
    assert list(build_terms(run, space)) == list(run.terms)
    assert list(build_penalties(run)) == list(run.penalties)
    assert len(build_sampler(run, items.labels)) == 1
    assert build_optimiser(run.optimiser, space).param_groups


def test_one_epoch_on_images(recipe, sets, tmp_path, one_thread):
    run = recipe(sets.train.shape).override(["epochs=1", "batches.size=16", "space.encoder.width=4"])
    space = train(run, sets.train, folder=tmp_path, validate=validation(sets.validation))
    (line,) = Record(tmp_path / "record.jsonl").lines()
    assert list(line["terms"]) == [*run.terms, *run.penalties]
    assert 0 <= line["validation"]["eer"] < 0.5
    with torch.no_grad():
        z = space.embed(sets.test.inputs)
    assert z.shape == (len(sets.test), 64)
    assert space.classes == ["0", "1", "2", "3"]


def test_a_few_epochs_make_a_difference(recipe, tmp_path, one_thread):
    items = clusters(classes=4, items=12, dimension=6, seed=1, spread=0.5)
    small = ["epochs=8", "batches.size=16", "space.encoder.hidden=[16]", "space.encoder.dimension=8"]
    if "hidden" in recipe((6,)).space.similarity.arguments:
        small.append("space.similarity.hidden=16")
    train(recipe(items.shape).override(small), items, folder=tmp_path, validate=lambda space: {"eer": 0.5})
    lines = Record(tmp_path / "record.jsonl").lines()
    assert lines[-1]["loss"] < 0.9 * lines[0]["loss"]


def test_the_scale_of_features_makes_no_difference(recipe, tmp_path, one_thread):
    """Raw tables train as well as prepared ones: millions beside millionths."""
    items = clusters(classes=4, items=12, dimension=6, seed=1, spread=0.5)
    scales = torch.tensor([1e6, 1.0, 1e-6, 1e3, 1e-3, 1.0])
    raw = replace(items, inputs=items.inputs * scales + scales)
    run = recipe(items.shape).override(["epochs=3", "batches.size=16", "space.encoder.hidden=[16]"])
    for name, each in (("plain", items), ("raw", raw)):
        train(run, each, folder=tmp_path / name, validate=lambda space: {"eer": 0.5})
    plain, other = (Record(tmp_path / name / "record.jsonl").lines()[-1]["loss"] for name in ("plain", "raw"))
    assert other == pytest.approx(plain, rel=0.02)
