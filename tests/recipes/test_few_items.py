"""Runs fitted to few pictures."""

from dataclasses import replace

import pytest

from samekind import recipes
from samekind.recipes.few_items import CHOSEN, FEW, STEPS, chosen, suited
from samekind.training import Batches

PICTURES = (3, 32, 32)


@pytest.fixture
def no_packages(monkeypatch):
    monkeypatch.setattr("samekind.recipes.encoder.find_spec", lambda name: None)


@pytest.mark.parametrize("recipe", ["prototypical", "verification", "triplet"])
def test_few_pictures_get_a_small_network_a_small_rate_and_steps_enough(recipe):
    own = recipes.RECIPES[recipe](PICTURES)
    run = suited(own, PICTURES, items=295)
    assert (run.space.encoder.name, run.space.encoder.arguments) == ("SmallConvnet", {"dimension": 64})
    assert (run.optimiser.name, run.optimiser.rate, run.schedule.name) == ("Adam", 0.001, "cosine")
    assert run.optimiser.weight_decay == own.optimiser.weight_decay
    assert run.epochs * 5 == STEPS  # 295 pictures are 5 batches of 64
    learns = recipe == "prototypical"
    assert run.space.prototypes.arguments == ({"momentum": 0.5} if learns else {})
    assert (run.space.similarity, run.terms, run.batches) == (own.space.similarity, own.terms, own.batches)


@pytest.mark.parametrize(
    ("recipe", "shape", "items"),
    [
        ("prototypical", PICTURES, FEW),
        ("verification", (13,), 100),
        ("unseen-proxy-nca-adapt-adv", (3, 64, 64), 100),
        ("unseen-triplet", PICTURES, 100),
    ],
)
def test_many_pictures_vectors_and_runs_with_adam_stay_as_they_are(recipe, shape, items):
    own = recipes.RECIPES[recipe](shape)
    assert suited(own, shape, items=items) == own


@pytest.mark.parametrize(("items", "epochs"), [(FEW - 1, 30), (400, 30), (295, 40), (20, 150)])
def test_epochs_are_never_fewer_than_the_recipes_nor_very_many(items, epochs):
    assert suited(recipes.prototypical(PICTURES), PICTURES, items=items).epochs == epochs


@pytest.mark.parametrize(
    ("batches", "epochs"),
    [
        (Batches("Shuffled"), 40),
        (Batches("Shuffled", {"size": 300}), 150),
        (Batches("Shuffled", {"size": 150}), 100),
        (Batches("Shuffled", {"size": 299}), 150),  # one item is no batch
        (Batches("Shuffled", {"size": 8}), 30),
        (Batches("Shuffled", {"size": 0}), 30),
        (Batches("Shuffled", {"size": "all"}), 30),
        (Batches("Balanced"), 30),
        (Batches("Tuples", {"size": 300}), 30),
    ],
)
def test_epochs_go_by_the_batches(batches, epochs):
    own = replace(recipes.prototypical(PICTURES), batches=batches)
    run = suited(own, PICTURES, items=300)
    assert (run.epochs, run.batches) == (epochs, batches)


def test_the_name_of_a_run_does_not_matter():
    own = recipes.triplet(PICTURES)
    other = replace(own, recipe="unseen-mine")
    assert suited(other, PICTURES, items=100) == replace(
        suited(own, PICTURES, items=100), recipe="unseen-mine"
    )


def test_chosen_lists_every_change(no_packages):
    own = recipes.prototypical(PICTURES)
    run = suited(own, PICTURES, items=100)
    assert tuple(chosen(own, run)) == CHOSEN
    assert chosen(own, run)["epochs"] == (30, 100)
    assert chosen(own, replace(own, clip=3.0)) == {}
    # Nothing else differs: CHOSEN is the whole list.
    told = {name: after for name, (_, after) in chosen(own, run).items()}
    parts = {name: told.pop(name) for name in ("encoder", "prototypes")}
    assert replace(own, space=replace(own.space, **parts), **told) == run


@pytest.mark.parametrize("name", CHOSEN)
def test_settings_that_were_given_stay(name):
    own = recipes.prototypical(PICTURES)
    run, free = suited(own, PICTURES, items=100, given=[name]), suited(own, PICTURES, items=100)
    for setting in CHOSEN:
        # How soon running averages forget goes with the steps.
        expected = own if setting == name or (setting, name) == ("prototypes", "optimiser") else free
        values = [
            getattr(one.space if hasattr(one.space, setting) else one, setting) for one in (run, expected)
        ]
        assert values[0] == values[1]


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        ((1, 8, 8), "SmallConvnet"),
        ((1, 28, 28), "LeNet"),
        ((3, 32, 32), "SmallConvnet"),
        ((3, 33, 33), "Conv4"),
        ((3, 64, 64), "Conv4"),
        ((1, 40, 80), "ResNet18"),
    ],
)
def test_the_network_fits_the_size_of_the_pictures(no_packages, shape, name):
    assert suited(recipes.triplet(shape), shape, items=100).space.encoder.name == name


@pytest.mark.parametrize("shape", [(3, 64, 64), (1, 64, 224)])
def test_large_pictures_get_the_pretrained_network_where_its_packages_are(monkeypatch, shape):
    monkeypatch.setattr("samekind.recipes.encoder.find_spec", lambda name: name)
    encoder = suited(recipes.triplet(shape), shape, items=100).space.encoder
    assert (encoder.name, encoder.arguments["dimension"]) == ("EfficientNetLite", 64)
