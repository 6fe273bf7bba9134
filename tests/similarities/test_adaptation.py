"""Two-covariance PLDA in another domain."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import DataError, SettingError
from samekind.measures import equal_error_rate
from samekind.similarities import TwoCovariance
from samekind.similarities.adaptation import adapted, averaged
from samekind.similarities.covariances import class_statistics


def domain(classes=60, items=8, dimension=6, *, shift=0.0, noise=None, seed=0):
    """Items of classes, all moved by ``shift``, with more ``noise`` in some directions."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(classes).repeat_interleave(items)
    means = torch.randn(classes, dimension, generator=generator, dtype=torch.float64)
    width = torch.ones(dimension, dtype=torch.float64) if noise is None else torch.tensor(noise).double()
    errors = torch.randn(len(labels), dimension, generator=generator, dtype=torch.float64)
    return means[labels] + 0.5 * errors * width + shift, labels


def kaldi(within, between, mean, z, *, to_within=0.75, to_between=0.25):
    """The steps of Kaldi's adaptation, as it writes them, in NumPy."""
    values, vectors = np.linalg.eigh(within)
    whiten = np.diag(values**-0.5) @ vectors.T
    psi, rotation = np.linalg.eigh(whiten @ between @ whiten.T)
    transform = rotation.T @ whiten  # within becomes I, between diag(psi)
    target = z.mean(0)
    variance = (z - target).T @ (z - target) / len(z) + np.outer(target - mean, target - mean)
    transform = np.diag((1 + psi) ** -0.5) @ transform
    sizes, directions = np.linalg.eigh(transform @ variance @ transform.T)
    projected_within = directions.T @ np.diag(1 / (1 + psi)) @ directions
    projected_between = directions.T @ np.diag(psi / (1 + psi)) @ directions
    for place, size in enumerate(sizes):
        if size > 1:
            projected_within[place, place] += to_within * (size - 1)
            projected_between[place, place] += to_between * (size - 1)
    back = np.linalg.inv(directions.T @ transform)
    return back @ projected_within @ back.T, back @ projected_between @ back.T


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), shift=st.floats(-1, 1))
def test_without_labels_it_is_what_kaldi_does(seed, shift):
    z, labels = domain(dimension=4, seed=seed)
    model = TwoCovariance(dimension=4, shrinkage=0.1).double().fit(z, labels)
    new, _ = domain(classes=9, dimension=4, shift=shift, noise=[3, 1, 0.2, 1], seed=seed + 1)
    other = adapted(model, new)
    expected = kaldi(
        *(part.numpy() for part in model.covariances()), np.zeros(4), (new - new.mean(0)).numpy()
    )
    for part, wanted in zip(other.covariances(), expected, strict=True):
        torch.testing.assert_close(part, torch.from_numpy(wanted), rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(other.mean, new.mean(0))


def test_covariances_are_those_that_were_assumed():
    z, labels = domain(seed=3)
    statistics = class_statistics(z, labels)
    model = TwoCovariance(dimension=6).double().assume(statistics.mean, statistics.within, statistics.between)
    for part, wanted in zip(model.covariances(), (statistics.within, statistics.between), strict=True):
        torch.testing.assert_close(part, wanted)


def test_a_model_averaged_with_itself_stays_as_it_is():
    z, labels = domain(seed=4)
    model = TwoCovariance(dimension=6, shrinkage=0.2).double().fit(z, labels)
    torch.testing.assert_close(averaged(model, z, labels).score_all(z, z), model.score_all(z, z))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_share_goes_from_the_old_covariances_to_the_new(share):
    z, labels = domain(seed=5)
    new, new_labels = domain(seed=6, noise=[4, 1, 1, 1, 1, 0.1])
    model = TwoCovariance(dimension=6, shrinkage=0.2).double().fit(z, labels)
    expected = (
        model if share == 0 else TwoCovariance(dimension=6, shrinkage=0.2).double().fit(new, new_labels)
    )
    other = averaged(model, new, new_labels, share=share)
    for part, wanted in zip(other.covariances(), expected.covariances(), strict=True):
        torch.testing.assert_close(part, wanted)


@pytest.mark.parametrize("rank", [None, 4])
@pytest.mark.parametrize("normalise", [False, True])
def test_it_pays_in_the_new_domain_and_leaves_the_model_alone(rank, normalise):
    z, labels = domain(seed=7)
    noise = [5, 4, 1, 1, 1, 1]
    new, new_labels = domain(seed=8, shift=2.0, noise=noise)
    asked, truth = domain(seed=9, shift=2.0, noise=noise)
    model = TwoCovariance(dimension=6, rank=rank, normalise=normalise, shrinkage=0.1).fit(z, labels)
    before = model.score_all(asked, asked)

    def error(similarity):
        upper = torch.ones(len(asked), len(asked)).triu(1).bool()
        scores, same = similarity.score_all(asked, asked)[upper], (truth[:, None] == truth)[upper]
        return equal_error_rate(scores, same).rate

    assert error(adapted(model, new)) < error(model) - 0.02
    assert error(averaged(model, new, new_labels)) < error(model) - 0.02
    assert torch.equal(model.score_all(asked, asked), before)


def test_wrong_arguments_are_refused():
    z, labels = domain()
    model = TwoCovariance(dimension=6).fit(z, labels)
    with pytest.raises(SettingError, match="from 0 to 1; got 2"):
        averaged(model, z, labels, share=2)
    with pytest.raises(SettingError, match="0 or more"):
        adapted(model, z, within=-1.0)
    with pytest.raises(DataError, match="two embeddings of the new domain or more, got 1"):
        adapted(model, z[:1])
