"""Fitted similarities: settings chosen on classes held out of the fit."""

import pytest
import torch
from torch import nn

from samekind.errors import DataError, SettingError
from samekind.inference import fit_similarities, fitting
from samekind.inference.fitting import Fold, Setting, cut_folds, neighbourhood
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Neighbourhood, PairsNetwork, TwoCovariance, WithinClass
from samekind.space import MetricSpace

CLASSES, DIMENSION = 12, 20


def some(count=240, *, seed=0, shift=0):
    """Classes differ in a few dimensions, and items of a class most in others."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % CLASSES
    stretch = torch.cat([torch.full((6,), 0.3), torch.full((DIMENSION - 6,), 2.0)])
    classes = torch.randn(2 * CLASSES, DIMENSION, generator=torch.Generator().manual_seed(99))
    return classes[labels + shift] + stretch * torch.randn(count, DIMENSION, generator=generator), labels


def a_space(similarity=None, dimension=DIMENSION):
    torch.manual_seed(0)
    return MetricSpace(nn.Identity(), similarity or Cosine(), SupportMeans(dimension=dimension)).eval()


def recall(space, z, labels, kind):
    scores = space.score_all(z, z, kind=kind).fill_diagonal_(-torch.inf)
    return float((labels[scores.argmax(1)] == labels).float().mean())


def test_a_fitted_similarity_finds_more_of_classes_it_never_saw():
    space = a_space()
    fit_similarities(space, *some())
    assert space.kinds == ["similarity", "fitted", "normalised"]
    z, labels = some(seed=1, shift=CLASSES)
    assert recall(space, z, labels, "fitted") > recall(space, z, labels, "similarity") + 0.1
    assert recall(space, z, labels, "normalised") > recall(space, z, labels, "similarity") + 0.1


def test_a_single_fold_chooses_and_is_not_fitted_to():
    z, labels = some()
    fold = Fold((labels < 8).nonzero().flatten(), (labels >= 8).nonzero().flatten())
    one, other = a_space(), a_space()
    choice = fit_similarities(one, z, labels, folds=fold)
    assert fit_similarities(other, z[fold.fitted], labels[fold.fitted], choice=choice) == choice
    for kind in ("fitted", "normalised"):
        torch.testing.assert_close(one.score_all(z, z, kind=kind), other.score_all(z, z, kind=kind))


def test_the_same_seed_gives_the_same_fit_and_the_space_is_saved_with_it(tmp_path):
    spaces = [a_space(), a_space()]
    for space in spaces:
        fit_similarities(space, *some(), seed=3)
    z, _ = some(seed=1)
    spaces[0].save(tmp_path / "space")
    spaces[0] = MetricSpace.load(tmp_path / "space", encoder=nn.Identity())
    for kind in ("fitted", "normalised"):
        one, other = (space.score_all(z, z, kind=kind) for space in spaces)
        torch.testing.assert_close(one, other)


def test_a_learned_similarity_may_be_what_is_normalised():
    space = a_space(PairsNetwork(dimension=DIMENSION, hidden=8))
    fit_similarities(space, *some(60), folds=2)
    assert space.kinds == ["similarity", "cosine", "fused", "fitted", "normalised"]
    assert isinstance(space.normalised, Neighbourhood)
    assert not space.fitted.training


def test_ranks_are_tried_where_classes_and_dimensions_are_enough():
    ranks = {setting.rank for setting in fitting._settings(784, 90)}
    assert ranks == {None, 24, 48}
    assert {setting.rank for setting in fitting._settings(784, 20)} == {None}
    assert {setting.rank for setting in fitting._settings(40, 500)} == {None}
    forms = {(setting.form, setting.rank) for setting in fitting._settings(4000, 500)}
    assert forms == {(WithinClass, None), *((TwoCovariance, rank) for rank in (24, 48, 96))}


def test_the_setting_is_the_one_that_is_best_on_held_out_classes(monkeypatch):
    """Measured as the function does, in a loop over settings and folds."""
    monkeypatch.setattr(fitting, "RANKS", (5,))
    z, labels = some(120)
    folds, merits = cut_folds(labels, 3, seed=0), {}
    for setting in fitting._settings(DIMENSION, 8):
        merits[setting] = 0.0
        for fitted, measured in folds:
            similarity = setting.similarity(DIMENSION).fit(z[fitted], labels[fitted])
            merits[setting] += fitting._merit(similarity, z[measured], labels[measured], measured)
    space = a_space()
    fit_similarities(space, z, labels)
    best = max(merits, key=merits.get)
    assert type(space.fitted) is best.form
    assert space.fitted.shrinkage == best.shrinkage
    assert getattr(space.fitted, "rank", None) == best.rank


def test_folds_are_of_whole_classes():
    labels = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    folds = cut_folds(labels, 2, seed=1)
    assert len(folds) == 2
    for fitted, measured in folds:
        assert set(labels[fitted].tolist()).isdisjoint(labels[measured].tolist())
        assert sorted([*fitted.tolist(), *measured.tolist()]) == list(range(10))
    assert sorted(torch.cat([measured for _, measured in folds]).tolist()) == list(range(10))


def test_folds_may_be_given_and_few_classes_are_cut_by_items():
    labels = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3])
    given = torch.tensor([5, 5, 5, 5, 8, 8, 8, 8])
    assert [fold.measured.tolist() for fold in cut_folds(labels, given)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    two_classes = torch.arange(20) % 2
    for fitted, _ in cut_folds(two_classes, 3):
        assert set(two_classes[fitted].tolist()) == {0, 1}
    assert cut_folds(torch.tensor([0, 0, 1]), 3) == []


def test_two_classes_and_few_items_are_enough():
    space = a_space()
    z, labels = some(24)
    fit_similarities(space, z, labels % 2)
    fit_similarities(space, z[:3], torch.tensor([0, 0, 1]))
    assert isinstance(space.fitted, WithinClass)
    assert space.fitted.shrinkage == 3


def test_a_setting_means_the_same_in_fewer_dimensions():
    """All but one dimension are small: without them the mean diagonal is larger."""
    setting = Setting(WithinClass, False, 2.0)
    assert setting.within(10, 40).shrinkage == 0.5
    share = Setting(TwoCovariance, True, 0.8).within(10, 40).shrinkage
    assert share / (1 - share) == pytest.approx(0.8 / 0.2 / 4)


def test_settings_are_chosen_in_fewer_dimensions(monkeypatch):
    monkeypatch.setattr(fitting, "CHOSEN_IN", 8)
    space = a_space()
    fit_similarities(space, *some())
    assert space.fitted.dimension == DIMENSION
    z, labels = some(seed=1, shift=CLASSES)
    assert recall(space, z, labels, "fitted") > recall(space, z, labels, "similarity")


def test_items_of_one_group_are_not_compared():
    """Every item has a copy of its own group, which would make everything look perfect."""
    z, labels = some(120)
    groups = torch.arange(120).repeat(2)
    pair = torch.cat([z, z]), labels.repeat(2)
    alone = fitting._merit(Cosine(), z, labels, torch.arange(120))
    grouped = fitting._merit(Cosine(), *pair, groups)
    assert grouped == pytest.approx(alone, abs=0.02)
    assert fitting._merit(Cosine(), *pair, torch.arange(240)) > alone + 0.03
    fit_similarities(a_space(), *pair, groups=groups)


def test_a_neighbourhood_has_the_given_cohort():
    z, _ = some(30)
    normalised = neighbourhood(Cosine(), z, neighbours=4)
    assert torch.equal(normalised.cohort, z)
    assert (normalised.size, normalised.neighbours) == (30, 4)


def test_refuses_what_cannot_be_fitted_to():
    z, labels = some(24)
    with pytest.raises(SettingError, match="two folds or more, got 1"):
        fit_similarities(a_space(), z, labels, folds=1)
    with pytest.raises(DataError, match="24 items of 24 classes"):
        fit_similarities(a_space(), z, torch.arange(24))
