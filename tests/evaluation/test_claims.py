"""Claims: every item against every class, against loops."""

import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

from samekind.data import clusters
from samekind.evaluation import claims
from samekind.evaluation.claims import _class_scores
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean, PairsNetwork
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

ITEMS = clusters(classes=4, items=6, dimension=3, spread=0.9)


def a_space(similarity=None, classes=("2", "0", "3", "1"), count=1, pooling="max"):
    """A space that holds the classes in another order than the items do."""
    torch.manual_seed(0)
    known = SupportMeans(dimension=3, count=count, pooling=pooling)
    vectors = [ITEMS.inputs[ITEMS.labels == int(name)][:count] for name in classes]
    known.assign(list(classes), torch.stack(vectors))
    return MetricSpace(nn.Identity(), similarity or Euclidean(), known).eval()


@pytest.mark.parametrize("similarity", [None, PairsNetwork(dimension=3, hidden=8)])
def test_agrees_with_a_loop_for_each_kind_of_score(similarity):
    space = a_space(similarity)
    rows = claims(space, ITEMS, ITEMS.inputs, name="seen")
    assert [row.kind for row in rows[::3]] == space.kinds
    for row in rows[1::3]:
        scores, same = [], []
        for item, label in zip(ITEMS.inputs, ITEMS.labels.tolist(), strict=True):
            for claimed, vector in zip(space.classes, space.prototypes.vectors[:, 0], strict=True):
                with torch.no_grad():
                    scores.append(float(space.score(vector[None], item[None], kind=row.kind)))
                same.append(claimed == ITEMS.classes[label])
        assert row[:3] == ("claimed class", "seen", "AUC")
        assert row.value == pytest.approx(roc_auc_score(same, scores))
        assert row.unit == "classes"


@pytest.mark.parametrize("pooling", ["mean", "max", "soft", "sum"])
def test_the_scores_are_those_of_the_space(pooling):
    """Also where a class has several vectors, the class in the first place."""
    space = a_space(PairsNetwork(dimension=3, hidden=8), count=2, pooling=pooling)
    with torch.no_grad():
        expected = space.score_classes(ITEMS.inputs)
    torch.testing.assert_close(_class_scores(space, ITEMS.inputs, "similarity"), expected)


def test_there_are_no_rows_where_a_class_is_unknown():
    assert claims(a_space(classes=("0", "1")), ITEMS, ITEMS.inputs, name="unseen") == []
    alone = ITEMS.only(["0"])
    assert claims(a_space(classes=("0",)), alone, alone.inputs, name="seen") == []


def test_of_very_many_trials_those_of_random_items_are_taken():
    space = a_space()
    few = claims(space, ITEMS, ITEMS.inputs, name="seen", most_trials=40)
    assert [row.measure for row in few] == [
        row.measure for row in claims(space, ITEMS, ITEMS.inputs, name="seen")
    ]
    assert few == claims(space, ITEMS, ITEMS.inputs, name="seen", most_trials=40)
    assert few != claims(space, ITEMS, ITEMS.inputs, name="seen", most_trials=40, seed=5)
