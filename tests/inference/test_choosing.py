"""The kind of score for each question: the own, unless another is surely and clearly better."""

import pytest
import torch

from samekind.data import clusters
from samekind.decisions import Choices, Standing
from samekind.inference import all_trials, class_tree, identify, neighbour_novelty, prototype_novelty, search
from samekind.inference.choosing import choices_of, choose, used_first
from samekind.inference.cluster import as_compared
from samekind.prototypes import SupportMeans
from samekind.similarities import Dot, Euclidean, Mahalanobis, Neighbourhood, WithinClass
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


def test_without_a_kind_every_function_goes_by_the_choice():
    items = clusters(classes=3, items=4, dimension=2, spread=0.5, seed=1)
    z, labels = items.inputs, items.labels
    space = MetricSpace(torch.nn.Identity(), Euclidean(), SupportMeans(dimension=2)).eval()
    for label in range(3):
        space.enroll(str(label), z[labels == label])
    space.fitted = Dot()
    space.choices = Choices("fitted", "cosine", "fitted", "three classes")
    assert torch.equal(search(space, z, z, k=2).scores, search(space, z, z, k=2, kind="cosine").scores)
    for function, kind in ((prototype_novelty, "fitted"), (identify, "fitted")):
        assert str(function(space, z)) == str(function(space, z, kind=kind))
    assert torch.equal(neighbour_novelty(space, z, z), neighbour_novelty(space, z, z, kind="cosine"))
    assert torch.equal(
        all_trials(space, z, labels).scores, all_trials(space, z, labels, kind="fitted").scores
    )
    assert class_tree(space) == class_tree(space, kind="fitted")
    assert used_first(space, "pairs") == ["fitted", "similarity", "cosine"]
    # The methods of a space itself go by its own similarity.
    assert torch.equal(space.score_all(z, z), space.score_all(z, z, kind="similarity"))


def test_groups_are_of_embeddings_as_the_choice_for_neighbours_compares_them():
    z = torch.randn(6, 2, generator=torch.Generator().manual_seed(0))
    space = MetricSpace(torch.nn.Identity(), Euclidean(), SupportMeans(dimension=2)).eval()
    assert torch.equal(as_compared(space, z), z)
    space.fitted = WithinClass(dimension=2, centre=True).fit(z, torch.tensor([0, 0, 1, 1, 2, 2]))
    space.normalised = Neighbourhood(space.fitted, size=6, dimension=2).with_cohort(z)
    for kind in ("fitted", "normalised"):  # what a cohort adds is one number an item
        space.choices = Choices("similarity", kind, "similarity", "three classes")
        mapped = as_compared(space, z)
        torch.testing.assert_close(mapped @ mapped.T, space.fitted.score_all(z, z))
