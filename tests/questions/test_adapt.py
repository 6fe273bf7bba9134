"""Another domain: what was adapted, what it gained, and which thresholds are gone."""

import torch

from samekind.data import Collection, Items
from samekind.questions import adapt
from samekind.questions.adapt import NOT_MEASURED, WITHOUT_LABELS
from samekind.similarities import TwoCovariance


def moved(classes, *, seed=0, shift=0.0):
    """Points of classes on the plane, eight each, with more noise from left to right."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(classes).repeat_interleave(8)
    means = torch.randn(classes, 2, generator=generator)
    noise = torch.tensor([0.2 + shift, 0.2]) * torch.randn(len(labels), 2, generator=generator)
    names = tuple(f"class {number}" for number in range(classes))
    return Items(means[labels] + noise + shift, labels, names, "moved")


def fitted(plane, threshold):
    old = moved(20)
    plane.fitted = TwoCovariance(dimension=2, shrinkage=0.1).fit(old.inputs, old.labels).eval()
    plane.decisions = {"similarity": threshold(0.5), "fitted": threshold(0.5, kind="fitted")}
    plane.open_set = threshold(0.5, kind="fitted")
    return plane


def test_with_labels_the_gain_is_measured(plane, threshold, progress):
    space = fitted(plane, threshold)
    other, answer = adapt(space, moved(20, seed=1, shift=0.5), progress=progress)
    assert (answer.kinds, answer.items, answer.classes) == (("fitted",), 160, 20)
    assert (answer.dropped, answer.warnings) == (("fitted", "none of these"), ())
    assert answer.measured.after["fitted"] < answer.measured.before["fitted"]
    assert list(other.decisions) == ["similarity"]
    assert list(space.decisions) == ["similarity", "fitted"]
    assert progress.titles == {"adapt": [160, 160]}
    content = answer.to_json()
    assert content["measured"]["classes"] == 10
    assert content["warning"] is None


def test_without_labels_nothing_is_measured(plane, threshold):
    items = moved(20, seed=1, shift=0.5)
    ids = tuple(map(str, range(len(items))))
    collection = Collection(items.inputs, ids, (None,) * len(items), ())
    _, answer = adapt(fitted(plane, threshold), collection)
    assert (answer.classes, answer.measured, answer.warnings) == (None, None, (WITHOUT_LABELS,))


def test_few_classes_and_no_gain_are_reported(plane, threshold):
    space = fitted(plane, threshold)
    assert adapt(space, moved(3))[1].warnings == (NOT_MEASURED,)
    answer = adapt(space, moved(20, seed=1, shift=0.5))[1]
    measured = answer.measured._replace(after=answer.measured.before)
    [content] = type(answer)(answer.kinds, 160, 20, (), measured).warnings
    assert content.startswith("on classes that were not adapted to, the error of fitted did not fall")
