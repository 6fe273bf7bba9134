"""A linear discriminant: against scikit-learn on mapped vectors; what it names, and in which unit."""

from dataclasses import replace

import pytest
import torch
from sklearn.linear_model import LogisticRegression

from samekind.data import clusters
from samekind.encoders import Unchanged
from samekind.inference import discriminant, fit_temperatures
from samekind.inference.discriminant import SHRINKAGE, STRENGTH, add_discriminant, fit_discriminant
from samekind.inference.settle import fill_means
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, WithinClass
from samekind.space import MetricSpace

EVERY = clusters(classes=5, items=24, dimension=6, spread=1.2, seed=2)
KNOWN, ASKED = EVERY.take(torch.arange(0, 120, 2)), EVERY.take(torch.arange(1, 120, 2))


def probabilities_by_hand(known, z):
    """The regression in the coordinates of the map, vectors scaled to a mean square length of 1."""
    form = WithinClass(dimension=6, shrinkage=SHRINKAGE, normalise=True, centre=True)
    form.fit(known.inputs, known.labels)

    def mapped(x):
        return (torch.nn.functional.normalize(x) - form.mean) @ form.map

    length = mapped(known.inputs).square().sum(1).mean().sqrt()
    regression = LogisticRegression(C=STRENGTH, max_iter=1000, tol=1e-6)
    regression.fit((mapped(known.inputs) / length).numpy(), known.labels.numpy())
    return torch.from_numpy(regression.predict_proba((mapped(z) / length).numpy())).float()


@pytest.mark.parametrize("classes", [2, 5])
def test_agrees_with_a_regression_on_mapped_vectors(classes):
    known = KNOWN.only(KNOWN.classes[:classes])
    head = fit_discriminant(known.inputs, known.labels, known.classes)
    assert head.prototypes.classes == list(known.classes)
    with torch.no_grad():
        probabilities = head.score_classes(ASKED.inputs).softmax(1)
    torch.testing.assert_close(
        probabilities, probabilities_by_hand(known, ASKED.inputs), atol=0.01, rtol=0.01
    )


def test_classes_without_items_are_left_out_and_too_little_or_too_much_gives_none(monkeypatch):
    some = KNOWN.labels != 1
    head = fit_discriminant(KNOWN.inputs[some], KNOWN.labels[some], KNOWN.classes)
    assert head.prototypes.classes == ["0", "2", "3", "4"]
    assert fit_discriminant(KNOWN.inputs[:5], KNOWN.labels[:5], KNOWN.classes) is None
    one_each = torch.tensor([0, 20, 40])
    assert fit_discriminant(KNOWN.inputs[one_each], KNOWN.labels[one_each], KNOWN.classes) is None
    monkeypatch.setattr(discriminant, "MOST_NUMBERS", 100)
    assert fit_discriminant(KNOWN.inputs, KNOWN.labels, KNOWN.classes) is None


def a_space():
    space = MetricSpace(Unchanged(inputs=6), Cosine(), SupportMeans(dimension=6)).eval()
    fill_means(space, KNOWN)
    return space


def test_in_a_space_it_names_the_classes_and_one_temperature_suits_both():
    space = a_space()
    before = fit_temperatures(space, ASKED, ASKED.inputs)["similarity"].value
    add_discriminant(space, KNOWN, ASKED)
    assert fit_temperatures(space, ASKED, ASKED.inputs)["similarity"].value == pytest.approx(before, rel=0.02)
    by_hand = probabilities_by_hand(KNOWN, ASKED.inputs).argmax(1)
    with torch.no_grad():
        names = space.classify(ASKED.inputs).classes
    agree = [KNOWN.classes[place] == name for place, name in zip(by_hand.tolist(), names, strict=True)]
    assert sum(agree) >= len(agree) - 1  # the two stop a little before the same end


def test_without_items_to_ask_about_there_is_none():
    space = a_space()
    add_discriminant(space, KNOWN, replace(ASKED, classes=tuple("abcde")))
    assert space.discriminant is None
