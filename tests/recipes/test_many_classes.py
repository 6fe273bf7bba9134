"""Runs for many classes: pairs of the batch in place of proxies."""

import pytest
import torch

from samekind.data import Items, clusters, prepare
from samekind.evaluation import references
from samekind.recipes import fit
from samekind.recipes.house import head, house
from samekind.recipes.many_classes import MANY, are_many, by_pairs


@pytest.mark.parametrize(("classes", "many"), [(MANY - 1, False), (MANY, True)])
def test_the_number_of_classes_decides(classes, many):
    items = clusters(classes=classes, items=3, dimension=4)
    assert are_many(items) is many
    assert house(items).space.prototypes.name == ("SupportMeans" if many else "LearnedProxies")


def test_of_a_shape_alone_classes_are_not_many():
    assert not are_many((1, 28, 28))


def test_a_head_has_proxies_whatever_the_encoder_has():
    items = clusters(classes=MANY, items=3, dimension=4)
    run = head(house(items), items)
    assert [term.against for term in run.terms.values()] == ["prototypes"]


def test_such_a_run_learns(tmp_path):
    """Classes differ in two directions, and forty others are noise: training finds the two."""
    near = clusters(classes=10, items=20, dimension=2, spread=0.05)
    noise = torch.randn(len(near), 40, generator=torch.Generator().manual_seed(0))
    sets = prepare(Items(torch.cat([near.inputs, noise], 1), near.labels, near.classes, "noisy"))
    run = by_pairs(house(sets.train)).override(["epochs=8", "batches.tuples=8"])
    space = fit(run, sets, folder=tmp_path)
    raw = references(sets.train, {"validation": sets.validation})[-1]
    assert raw.measure == "Recall@1"
    assert space.standings["similarity"].recall > raw.value + 0.1
