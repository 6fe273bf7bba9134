"""What is had without training, against loops and scikit-learn."""

import sys
from dataclasses import replace

import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from samekind.data import Items, digits, prepare
from samekind.errors import DataError
from samekind.evaluation import references
from samekind.evaluation.references import COMMONEST, NEAREST

pytestmark = pytest.mark.usefixtures("few_draws")


def value(rows, items, measure, kind):
    [row] = [row for row in rows if (row.items, row.measure, row.kind) == (items, measure, kind)]
    return row.value


def test_pictures_are_compared_pixel_by_pixel():
    sets = prepare(digits(), unseen=["8", "9"], seed=0)
    rows = references(sets.train, sets.tests())
    peer = KNeighborsClassifier(1).fit(sets.train.inputs.flatten(1), sets.train.labels)
    expected = peer.score(sets.test.inputs.flatten(1), sets.test.labels)
    assert value(rows, "seen", "accuracy", NEAREST) == pytest.approx(expected)
    commonest = torch.bincount(sets.train.labels).argmax()
    expected = (sets.test.labels == commonest).double().mean()
    assert value(rows, "seen", "accuracy", COMMONEST) == pytest.approx(float(expected))
    assert {row.measure for row in rows if row.items == "unseen"} == {"Recall@1"}
    x, labels = sets.unseen.inputs.flatten(1), sets.unseen.labels
    nearest = [min((float((x[i] - x[j]).norm()), j) for j in range(40) if j != i)[1] for i in range(40)]
    expected = sum(int(labels[i] == labels[j]) for i, j in enumerate(nearest)) / 40
    few = references(sets.train, {"few": sets.unseen.take(torch.arange(40))})
    assert value(few, "few", "Recall@1", NEAREST) == pytest.approx(expected)


def test_features_are_compared_in_deviations_of_the_training_items():
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(60) % 3
    # The second feature tells the classes apart, the first is large and tells nothing.
    noise = torch.randn(60, 2, generator=generator)
    inputs = noise * torch.tensor([1000.0, 0.1]) + labels[:, None] * torch.tensor([0.0, 1.0])
    sets = prepare(Items(inputs, labels, ("a", "b", "c"), "items"), seed=0)
    scaler = StandardScaler().fit(sets.train.inputs)
    peer = KNeighborsClassifier(1).fit(scaler.transform(sets.train.inputs), sets.train.labels)
    expected = peer.score(scaler.transform(sets.test.inputs), sets.test.labels)
    result = value(references(sets.train, {"seen": sets.test}), "seen", "accuracy", NEAREST)
    assert result == pytest.approx(expected)
    assert result > 0.8


def test_large_pictures_are_compared_at_fewer_pixels():
    small = (torch.arange(12 * 1024).reshape(12, 1, 32, 32) * 7919 % 256).to(torch.uint8)
    labels = torch.arange(12) % 2
    large = small.repeat_interleave(3, 2).repeat_interleave(3, 3)
    rows = [
        references(items, {"same": items})
        for items in (Items(value, labels, ("a", "b"), "x") for value in (small, large))
    ]
    assert rows[0] == rows[1]


def test_of_many_items_some_are_drawn_and_the_row_says_so(monkeypatch):
    module = sys.modules[references.__module__]
    monkeypatch.setattr(module, "MOST_KNOWN", 100)
    monkeypatch.setattr(module, "MOST_ASKED", 50)
    sets = prepare(digits(), seed=0)
    rows = references(sets.train, {"seen": sets.test})
    assert {(row.measure, row.note) for row in rows} == {("accuracy", "of 50 items drawn")}
    assert rows == references(sets.train, {"seen": sets.test})


def test_refuses_no_items():
    items = prepare(digits(), seed=0).test
    none = items.take(torch.arange(0))
    for train, queries in ((items, none), (none, items)):
        with pytest.raises(DataError, match="digits, test: expected at least one item to compare, got none"):
            references(train, {"seen": queries})


@pytest.mark.device
@pytest.mark.parametrize("flat", [False, True])
def test_distances_are_taken_on_the_device(flat, monkeypatch):
    sets = prepare(digits(), seed=0)
    train, queries = (
        Items(value.inputs.flatten(1) if flat else value.inputs, value.labels, value.classes, value.name)
        for value in (sets.train, sets.test)
    )
    devices, plain = set(), torch.cdist

    def watched(one, other):
        devices.update((one.device.type, other.device.type))
        return plain(one, other)

    monkeypatch.setattr(torch, "cdist", watched)
    result = references(train, {"seen": queries}, device="cuda")
    assert devices == {"cuda"}
    monkeypatch.undo()
    for one, other in zip(result, references(train, {"seen": queries}), strict=True):
        assert one[:4] == other[:4]
        assert one.value == pytest.approx(other.value, abs=0.01)


def test_the_nearest_of_items_with_groups_is_of_another():
    """Near-copies without anything in common with their class: found to be so, not one of them missed."""
    generator = torch.Generator().manual_seed(0)
    groups = torch.arange(240) // 4
    inputs = torch.randn(60, 5, generator=generator)[groups] + 0.01 * torch.randn(240, 5, generator=generator)
    items = Items(inputs, groups % 3, ("a", "b", "c"), "copies")
    grouped = replace(items, groups=groups)
    plain, apart = (references(items, {"x": entry}) for entry in (items, grouped))
    assert value(plain, "x", "Recall@1", NEAREST) == 1
    x = (inputs - inputs.mean(0)) / inputs.std(0, correction=0)
    hits = 0
    for query in range(240):
        others = [i for i in range(240) if groups[i] != groups[query]]
        nearest = min(others, key=lambda i, query=query: float((x[i] - x[query]).norm()))
        hits += int(groups[nearest] % 3 == groups[query] % 3)
    assert value(apart, "x", "Recall@1", NEAREST) == pytest.approx(hits / 240)
    assert [row.note for row in apart if row.measure == "Recall@1"] == ["own group left out"]
