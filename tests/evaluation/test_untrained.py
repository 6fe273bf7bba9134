"""What an encoder gives before it is trained, against scikit-learn and loops."""

from dataclasses import replace

import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.preprocessing import StandardScaler
from torch import nn

from samekind.data import Items, clusters, prepare
from samekind.errors import PackageError
from samekind.evaluation import few_shot_beside_known, references, untrained_encoder, untrained_references
from samekind.evaluation import untrained as module
from samekind.prototypes import SupportMeans
from samekind.recipes import triplet
from samekind.similarities import Cosine
from samekind.space import MetricSpace
from samekind.training import Part

pytestmark = pytest.mark.usefixtures("few_draws")

SETS = prepare(clusters(classes=6, items=20, dimension=4, spread=0.5, seed=3), unseen=["4", "5"], seed=0)


class Turned(nn.Module):
    """An encoder whose last layer, which is new, gives nothing but noise."""

    dimension = 2

    def features(self, x):
        return x.flip(1)

    def forward(self, x):
        return torch.rand(len(x), 2)


def by_kind(rows, items, measure):
    return {row.kind: row.value for row in rows if (row.items, row.measure) == (items, measure)}


@pytest.fixture(scope="module")
def rows():
    return untrained_references(module.Features(Turned()), SETS.train, SETS.tests())


def test_accuracies_are_those_of_scikit_learn(rows):
    x, y, tests = SETS.train.inputs, SETS.train.labels, SETS.test
    unit = nn.functional.normalize
    scaler = StandardScaler().fit(x)
    neighbours = KNeighborsClassifier(1, metric="cosine").fit(x, y)
    means = unit(torch.tensor(NearestCentroid().fit(unit(x), y).centroids_)).float()
    regressions = [
        LogisticRegression(C=strength, max_iter=200, tol=1e-3).fit(scaler.transform(x), y)
        for strength in module.STRENGTHS
    ]
    result = by_kind(rows, "seen", "accuracy")
    assert result["nearest neighbour of untrained features"] == pytest.approx(
        neighbours.score(tests.inputs, tests.labels)
    )
    right = (unit(tests.inputs) @ means.T).argmax(1) == tests.labels
    assert result["nearest mean of untrained features"] == pytest.approx(float(right.double().mean()))
    possible = [peer.score(scaler.transform(tests.inputs), tests.labels) for peer in regressions]
    assert min(abs(result["logistic regression of untrained features"] - value) for value in possible) < 1e-9


def test_unseen_classes_are_found_and_compared_by_cosines(rows):
    unseen = SETS.unseen
    for kind, x in {
        "cosine": unseen.inputs,
        "centred cosine": unseen.inputs - SETS.train.inputs.mean(0),
    }.items():
        unit = nn.functional.normalize(x)
        scores = (unit @ unit.T).fill_diagonal_(-2)
        right = (unseen.labels[scores.argmax(1)] == unseen.labels).double().mean()
        assert by_kind(rows, "unseen", "Recall@1")[f"{kind} of untrained features"] == pytest.approx(
            float(right)
        )
    assert by_kind(rows, "unseen", "accuracy") == {}
    assert len(by_kind(rows, "unseen", "EER")) == 2


def test_new_classes_beside_known_ones_are_named_by_the_nearest_mean(rows):
    by_hand = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=4)).eval()
    for label, name in enumerate(SETS.train.classes):
        by_hand.enroll(name, SETS.train.inputs[SETS.train.labels == label])
    sets = (SETS.test, SETS.test.inputs, SETS.unseen, SETS.unseen.inputs)
    expected = few_shot_beside_known(by_hand, *sets, name="x", shots=(5,))
    result = by_kind(rows, "seen, unseen", "2-way 5-shot harmonic mean")
    assert result["nearest mean of untrained features"] == pytest.approx(expected[2].value, abs=1e-3)
    assert list(result) == [
        "nearest mean of untrained features",
        "nearest centred mean of untrained features",
    ]


def test_with_an_untrained_encoder_raw_inputs_are_no_reference():
    kinds = {row.kind for row in references(SETS.train, SETS.tests(), untrained=module.Features(Turned()))}
    assert "commonest class" in kinds
    assert "nearest raw input" not in kinds


def test_few_items_of_few_classes_have_a_regression_as_well():
    items = Items(torch.randn(4, 3), torch.tensor([0, 0, 1, 1]), ("a", "b"), "four")
    assert untrained_references(module.Features(Turned()), items, {"seen": items})
    one = items.take(torch.tensor([0, 1]))
    assert module._regression(one.inputs, one.labels, items.inputs, seed=0).tolist() == [0] * 4


def test_only_an_encoder_that_came_with_weights_is_a_reference(timm, monkeypatch):
    items = Items(torch.rand(6, 3, 8, 8), torch.arange(6) % 2, ("a", "b"), "pictures")
    drawn = triplet(items)
    assert untrained_encoder(None, items) == (None, "")
    assert untrained_encoder(drawn, items) == (None, "")
    network = Part("Backbone", {"library": "timm", "network": "tiny", "dimension": 2})
    began = replace(drawn, space=replace(drawn.space, encoder=network))
    state = torch.get_rng_state()
    encoder, why = untrained_encoder(began, items)
    assert torch.equal(torch.get_rng_state(), state)
    assert (encoder(items.inputs).shape, why) == ((6, 6), "")  # the features, not the new layer

    def missing(*_):
        raise PackageError("timm is not installed")

    monkeypatch.setattr(module, "build_encoder", missing)
    encoder, why = untrained_encoder(began, items)
    assert encoder is None
    assert why.endswith("compared with the nearest raw input: timm is not installed")
