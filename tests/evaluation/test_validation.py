"""What a training run is told: the equal error rate of each kind of score, and the lowest of them."""

import pytest
import torch

from samekind.data import clusters
from samekind.encoders import MLP
from samekind.evaluation import validation, verification
from samekind.inference import embed
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, PairsNetwork
from samekind.space import MetricSpace

ITEMS = clusters(classes=3, items=5, dimension=3, spread=0.8)


def a_space(similarity=None):
    torch.manual_seed(0)
    encoder = MLP(inputs=3, dimension=4, hidden=[8], dropout=0.5)
    return MetricSpace(
        encoder, similarity or PairsNetwork(dimension=4, hidden=8, dropout=0.5), SupportMeans(dimension=4)
    )


def test_the_rates_are_those_of_the_verification_and_the_first_is_the_lowest():
    space = a_space().eval()
    rows = verification(space, ITEMS, embed(space, ITEMS.inputs), name="validation")
    expected = {f"eer {row.kind}": row.value for row in rows if row.measure == "EER"}
    measures = validation(ITEMS)(space)
    assert measures == {"eer": min(expected.values()), **expected}
    assert list(measures) == ["eer", "eer similarity", "eer cosine", "eer fused"]
    assert len(set(expected.values())) > 1


def test_a_space_with_one_kind_of_score_has_one_rate():
    measures = validation(ITEMS)(a_space(Cosine()))
    assert measures["eer"] == measures["eer similarity"]
    assert len(measures) == 2


def test_a_space_in_training_is_judged_at_rest_and_left_in_training():
    """Dropout in the encoder or in the similarity would choose the best epoch by lot."""
    validate = validation(ITEMS)
    at_rest = validate(a_space().eval())
    space = a_space().train()
    assert [validate(space) for _ in range(3)] == [at_rest] * 3
    assert all(module.training for module in space.modules())


def test_clear_classes_cost_nothing():
    items = clusters(classes=3, items=4, dimension=3, spread=0)
    assert validation(items)(a_space(Cosine()))["eer"] == pytest.approx(0)
