"""A space whose known classes a discriminant tells apart: its answers, its classes, and on disk."""

import pytest
import torch

from samekind.data import clusters
from samekind.decisions import Choices
from samekind.encoders import Unchanged
from samekind.inference.discriminant import add_discriminant
from samekind.inference.settle import fill_means
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Mahalanobis
from samekind.space import MetricSpace

ITEMS = clusters(classes=5, items=12, dimension=4, spread=1.0, seed=4)
Z = ITEMS.inputs


@pytest.fixture
def space():
    space = MetricSpace(Unchanged(inputs=4), Cosine(), SupportMeans(dimension=4)).eval()
    fill_means(space, ITEMS)
    add_discriminant(space, ITEMS, ITEMS)
    return space


@pytest.fixture(autouse=True)
def _without_gradient():
    with torch.no_grad():
        yield


def without(space):
    plain = MetricSpace(space.encoder, space.similarity, space.prototypes)
    plain.enrolled, plain.choices = space.enrolled, space.choices
    return plain.eval()


def test_scores_stay_and_names_are_those_of_the_head(space):
    answer, plain = space.classify(Z), without(space).classify(Z)
    torch.testing.assert_close(answer.scores, plain.scores)
    best = space.discriminant.score_classes(Z).argmax(1).tolist()
    assert answer.classes == [space.classes[place] for place in best]
    assert answer.classes != plain.classes
    torch.testing.assert_close(space.log_probabilities(Z).exp(), answer.probabilities)


def test_another_kind_of_score_than_the_choice_is_asked_alone(space):
    space.fitted = Mahalanobis(dimension=4)
    space.choices = Choices("similarity", "similarity", "similarity", "items")
    plain = without(space)
    plain.fitted = space.fitted
    assert space.classify(Z, kind="fitted").classes == plain.classify(Z, kind="fitted").classes
    assert space.classify(Z, kind="similarity").classes == space.classify(Z).classes


def test_an_enrolled_class_gets_the_same_items_as_without_it(space):
    new = torch.randn(5, 4, generator=torch.Generator().manual_seed(1)) + 2
    space.enroll("new", new)
    answers = zip(space.classify(Z).classes, without(space).classify(Z).classes, strict=True)
    assert {(one == "new", other == "new") for one, other in answers} == {(True, True), (False, False)}


def test_a_class_is_renamed_replaced_and_removed_there_too(space):
    space.rename("0", "zero")
    space.enroll("1", Z[:3], replace=True)
    space.remove("2")
    assert space.discriminant.prototypes.classes == ["zero", "3", "4"]
    assert set(space.classify(Z).classes) <= {"zero", "1", "3", "4"}
    for name in ("zero", "3", "4"):
        space.remove(name)
    assert set(space.classify(Z).classes) == {"1"}


def test_it_is_saved_with_the_space(space, tmp_path):
    space.save(tmp_path / "space")
    loaded = MetricSpace.load(tmp_path / "space")
    torch.testing.assert_close(loaded.classify(Z).probabilities, space.classify(Z).probabilities)
    assert loaded.classify(Z).classes == space.classify(Z).classes
    loaded.discriminant = None
    loaded.save(tmp_path / "plain")
    assert MetricSpace.load(tmp_path / "plain").discriminant is None
