"""The siamese embedding of plankton: its margins, its rates, and what it gives very unequal classes."""

import dataclasses

import pytest
import torch

from samekind.data import Items
from samekind.evaluation import validation
from samekind.measures import f1_by_class
from samekind.measures.geometry import centroid_shifts, class_radii
from samekind.recipes import siamese
from samekind.training import Record, build_space, train
from samekind.training.build import build_sampler
from samekind.training.context import Context
from samekind.training.objective import objective
from samekind.training.terms import build_terms


def unequal(seed=0):
    """Two numbers of three classes, with 60, 12 and 3 items."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.tensor([0] * 60 + [1] * 12 + [2] * 3)
    places = torch.tensor([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    inputs = places[labels] + 0.5 * torch.randn(len(labels), 2, generator=generator)
    return Items(inputs, labels, ("many", "some", "few"), "unequal")


def test_the_margin_grows():
    term = siamese((2,)).terms["triplet"]
    margins = [term.at(epoch).arguments["margin"] for epoch in (0, 19, 20, 29, 30, 100)]
    assert margins == [1.0, 1.0, 1.3, 1.3, 1.5, 1.5]


def test_the_loss_has_the_squared_distances_of_the_paper():
    run, items = siamese((2,)), unequal()
    space = build_space(run, items)
    z, y = torch.randn(3, 128), torch.tensor([0, 0, 1])
    a, p, n = torch.nn.functional.normalize(z, dim=1)
    for epoch, margin in ((0, 1.0), (20, 1.3)):
        value = objective(space, z, y, Context(build_terms(run, space, epoch=epoch))).total
        first = (margin + (a - p).square().sum() - (a - n).square().sum()).clamp(min=0)
        second = (margin + (a - p).square().sum() - (p - n).square().sum()).clamp(min=0)
        assert value.item() == pytest.approx((first + second).item() / 3, rel=1e-4)  # the third has no pair


def test_every_class_is_drawn_as_often_as_any_other():
    run, items = siamese((2,)), unequal()
    drawn = torch.cat(build_sampler(run, items.labels).batches(0)[:200])
    shares = torch.bincount(items.labels[drawn]).double() / len(drawn)
    torch.testing.assert_close(shares, torch.full((3,), 1 / 3, dtype=torch.double), atol=0.02, rtol=0)


def test_learns_unequal_classes(tmp_path, one_thread):
    items = unequal()
    run = siamese((2,)).override(["epochs=2", "batches.steps=30", "space.encoder.dimension=4"])
    run = dataclasses.replace(run, validate=("retrieval",), keep="last")
    torch.manual_seed(run.seed)
    with torch.no_grad():
        before = build_space(run, items).eval().embed(items.inputs)
    validate = validation(items, siamese((2,)).validate, watch=run.watch)
    space = train(run, items, folder=tmp_path, validate=validate, device="cpu")
    first, second = Record(tmp_path / "record.jsonl").lines()
    assert 0 < second["validation"]["centroid shift"] < first["validation"]["centroid shift"]
    assert second["validation"]["cluster radius"] < first["untrained"]["cluster radius"]
    with torch.no_grad():
        after = space.embed(items.inputs)
    assert centroid_shifts(before, after, items.labels).min() > 0
    old, new = (torch.nn.functional.normalize(z, dim=1) for z in (before, after))
    assert class_radii(new, items.labels).max() < class_radii(old, items.labels).max()
    means = torch.stack([new[items.labels == label].mean(0) for label in range(3)])
    f1 = f1_by_class(torch.cdist(new, means).argmin(1), items.labels, classes=3)
    assert f1.min() > 0.8
