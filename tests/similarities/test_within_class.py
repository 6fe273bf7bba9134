"""Within-class covariance normalisation: what the map does to the covariance, and edge cases."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.similarities import Cosine, WithinClass, score_all
from samekind.similarities.covariances import class_statistics


def some(count=60, dimension=5, *, classes=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % classes
    stretch = torch.linspace(0.1, 3, dimension)
    noise = torch.randn(count, dimension, generator=generator) * stretch
    return torch.randn(classes, dimension, generator=generator)[labels] + noise, labels


def test_is_the_cosine_before_it_is_fitted():
    z, _ = some()
    torch.testing.assert_close(WithinClass(dimension=5).score_all(z, z), Cosine().score_all(z, z))


def test_items_of_a_class_then_differ_as_much_in_every_direction():
    z, labels = some()
    similarity = WithinClass(dimension=5, shrinkage=0.0).fit(z, labels)
    mapped = z.double() @ similarity.map.double()
    within = class_statistics(mapped, labels).within
    torch.testing.assert_close(within / within[0, 0], torch.eye(5).double(), atol=1e-4, rtol=0)


@pytest.mark.parametrize("shrinkage", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("normalise", [False, True])
def test_scores_are_cosines_by_the_inverse_covariance(shrinkage, centre, normalise):
    z, labels = some()
    similarity = WithinClass(dimension=5, shrinkage=shrinkage, centre=centre, normalise=normalise)
    scores = similarity.fit(z, labels).score_all(z[:4], z[4:9])
    z = z.double() / z.double().norm(dim=1, keepdim=True) if normalise else z.double()
    statistics = class_statistics(z, labels)
    ridge = shrinkage * statistics.within.diagonal().mean() * torch.eye(5)
    inverse = torch.linalg.inv(statistics.within + ridge)
    z = z - statistics.mean if centre else z
    for i in range(4):
        for j in range(4, 9):
            product, one, other = (x @ inverse @ y for x, y in ((z[i], z[j]), (z[i], z[i]), (z[j], z[j])))
            expected = product / (one * other).sqrt()
            assert float(scores[i, j - 4]) == pytest.approx(float(expected), abs=1e-4)


@settings(max_examples=20)
@given(seed=st.integers(0, 1000))
def test_a_linear_map_of_the_embeddings_changes_no_score(seed):
    """Without shrinkage, which knows the axes: a stretched direction is squeezed again."""
    z, labels = some(seed=seed)
    matrix = torch.randn(5, 5, generator=torch.Generator().manual_seed(seed)) + 4 * torch.eye(5)
    scores = [
        WithinClass(dimension=5, shrinkage=0.0).double().fit(items, labels).score_all(*[items.double()] * 2)
        for items in (z, z @ matrix)
    ]
    torch.testing.assert_close(*scores, atol=1e-3, rtol=1e-3)


def test_a_high_shrinkage_is_the_cosine():
    z, labels = some()
    similarity = WithinClass(dimension=5, shrinkage=1e6).fit(z, labels)
    torch.testing.assert_close(similarity.score_all(z, z), Cosine().score_all(z, z), atol=1e-4, rtol=0)


def test_fewer_items_than_dimensions_need_shrinkage():
    z, labels = some(12, 40)
    scores = WithinClass(dimension=40, shrinkage=1.0).fit(z, labels).score_all(z, z)
    assert scores.isfinite().all()
    assert scores.diagonal() == pytest.approx(1, abs=1e-5)
    with pytest.raises(SettingError, match="choose a shrinkage above 0"):
        WithinClass(dimension=40, shrinkage=0.0).fit(torch.cat([z] * 2), torch.cat([labels] * 2))
    with pytest.raises(SettingError, match="from 0 up; got -1"):
        WithinClass(dimension=40, shrinkage=-1)


def test_classes_without_any_difference_leave_the_cosine():
    z = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    similarity = WithinClass(dimension=2).fit(z, torch.tensor([0, 0, 1]))
    torch.testing.assert_close(similarity.score_all(z, z), Cosine().score_all(z, z))


def test_inner_products_of_mapped_vectors_are_the_scores():
    z, labels = some()
    similarity = WithinClass(dimension=5).fit(z, labels)
    first, second = similarity.mapped(z[:7], "first"), similarity.mapped(z[7:], "second")
    torch.testing.assert_close(first @ second.T, similarity.score_all(z[:7], z[7:]))
    torch.testing.assert_close(first @ second.T, score_all(similarity, z[:7], z[7:], memory_budget=40))


def test_follows_the_precision_it_has():
    z, labels = some()
    similarity = WithinClass(dimension=5).double().fit(z, labels)
    assert similarity.map.dtype == similarity.score_all(z.double(), z.double()).dtype == torch.double
