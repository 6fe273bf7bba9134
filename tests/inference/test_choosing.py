"""The kind of score for each question: the own, unless another is surely and clearly better."""

import pytest
import torch

from samekind.data import clusters
from samekind.decisions import Choices, Standing
from samekind.inference.choosing import choices_of, choose
from samekind.prototypes import SupportMeans
from samekind.similarities import Dot, Euclidean, Mahalanobis
from samekind.space import MetricSpace

OWN = Standing(0.25, 0.5, "voices", named=0.5)
COSINE = Standing(0.0, 0.75, "voices", (0.1, 0.4), (0.05, 0.45), 0.5, (-0.1, 0.1))
FUSED = Standing(0.1, 1.0, "voices", (0.05, 0.25), (0.3, 0.7), 0.6, (0.05, 0.15))


def test_every_question_has_its_own_best_kind():
    chosen = choices_of({"similarity": OWN, "cosine": COSINE, "fused": FUSED})
    assert chosen == Choices("cosine", "fused", "fused", "voices")


@pytest.mark.parametrize(
    "other",
    [
        Standing(0.0, 1.0, "few", None, None, 1.0, None),
        Standing(0.1, 0.9, "few", (-0.1, 0.4), (0.0, 0.8), 0.9, (0.0, 0.8)),
        Standing(0.245, 0.505, "many", (0.004, 0.006), (0.004, 0.006), 0.505, (0.004, 0.006)),
    ],
)
def test_chance_and_small_gains_change_nothing(other):
    chosen = choices_of({"similarity": OWN, "cosine": other})
    assert chosen == Choices("similarity", "similarity", "similarity", "voices")


def test_without_standings_there_is_no_choice():
    assert choices_of({}) is None
    space = MetricSpace(torch.nn.Identity(), Euclidean(), SupportMeans(dimension=3))
    assert choose(space, torch.randn(3, 3), torch.tensor([0, 1, 2]), measured_on="three") is None


def test_a_fitted_similarity_is_chosen_where_it_knows_what_matters():
    """Two coordinates tell the classes apart, ten are noise that the fitted similarity leaves out."""
    generator = torch.Generator().manual_seed(0)
    items = clusters(classes=12, items=8, dimension=2, spread=0.1, seed=1)
    noise = 3 * torch.randn(len(items), 10, generator=generator)
    space = MetricSpace(torch.nn.Identity(), Euclidean(), SupportMeans(dimension=12))
    fitted = Mahalanobis(dimension=12)
    with torch.no_grad():
        fitted.map.copy_(torch.diag(torch.tensor([1.0] * 2 + [0.0] * 10)))
    space.fitted, space.normalised = fitted, Dot()
    z = torch.cat([items.inputs, noise], dim=1)
    chosen = choose(space, z, items.labels, measured_on="twelve classes")
    assert chosen == Choices("fitted", "fitted", "fitted", "twelve classes")
