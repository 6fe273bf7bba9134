"""Proxy-NCA against loops anyone can check by eye, in both of its forms."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import proxy_nca, softmax
from samekind.pairs import class_masks, pair_masks
from samekind.similarities import SquaredEuclidean

LABELS = torch.tensor([0, 1, 2, 3, 4, 0])


def embeddings_and_proxies():
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(6, 4, dtype=torch.double, generator=generator)
    return z, torch.randn(5, 4, dtype=torch.double, generator=generator)


def scores_of(z, proxies):
    return SquaredEuclidean(normalise=True).score_all(proxies, z).T


def by_hand(z, proxies, labels, smoothing, denominator, lengths=(3.0, 3.0)):
    """Squared distances of vectors brought to two lengths, as the usual code has it."""
    items = [[lengths[0] * x / math.hypot(*v) for x in v] for v in z.tolist()]
    points = [[lengths[1] * x / math.hypot(*v) for x in v] for v in proxies.tolist()]
    shares = []
    for item, label in zip(items, labels.tolist(), strict=True):
        logits = [-(math.dist(item, point) ** 2) for point in points]
        summed = [logit for c, logit in enumerate(logits) if denominator == "all" or c != label]
        total = math.log(sum(math.exp(logit) for logit in summed))
        targets = [smoothing / (len(points) - 1)] * len(points)
        targets[label] = 1 - smoothing
        shares.append(sum(t * (total - logit) for t, logit in zip(targets, logits, strict=True)))
    return torch.tensor(shares, dtype=z.dtype)


@pytest.mark.parametrize("denominator", ["all", "others"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_agrees_with_the_definition(denominator, smoothing):
    """The default scale, 9, is that of the lengths 3 and 3."""
    z, proxies = embeddings_and_proxies()
    shares = proxy_nca(
        scores_of(z, proxies), *class_masks(LABELS, 5), smoothing=smoothing, denominator=denominator
    )
    torch.testing.assert_close(shares, by_hand(z, proxies, LABELS, smoothing, denominator))


def test_other_lengths_are_another_scale():
    z, proxies = embeddings_and_proxies()
    shares = proxy_nca(scores_of(z, proxies), *class_masks(LABELS, 5), scale=8.0)
    torch.testing.assert_close(shares, by_hand(z, proxies, LABELS, 0.1, "all", lengths=(1.0, 8.0)))


def test_by_default_it_is_the_smoothed_softmax():
    scores, masks = scores_of(*embeddings_and_proxies()), class_masks(LABELS, 5)
    torch.testing.assert_close(
        proxy_nca(scores, *masks, scale=2.0), softmax(scores, *masks, scale=2.0, smoothing=0.1)
    )


def test_the_printed_form_has_no_least_value():
    positive = torch.tensor([[True, False]])
    for ahead in (10.0, 1000.0):
        scores = torch.tensor([[ahead, 0.0]])
        share = proxy_nca(scores, positive, ~positive, scale=1.0, smoothing=0.0, denominator="others")
        assert share.item() == pytest.approx(-ahead)


def test_smoothing_draws_a_far_class_nearer():
    """Why it is an exception to the promise that negatives are only pushed; without smoothing they are."""
    scores = torch.tensor([[0.0, -4.0, 0.0]], requires_grad=True)
    for smoothing, sign in ((0.1, -1), (0.0, 1)):
        share = proxy_nca(scores, *class_masks(torch.tensor([0]), 3), smoothing=smoothing)
        assert torch.autograd.grad(share.sum(), scores)[0][0, 1].sign() == sign


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_printed_form_has_the_gradient_it_claims(smoothing):
    masks = pair_masks(torch.tensor([0, 0, 0, 1, 1, 2]))
    scores = torch.randn(6, 6, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    options = {"smoothing": smoothing, "denominator": "others", "scale": 1.0}
    assert torch.autograd.gradcheck(lambda s: proxy_nca(s, *masks, **options), scores.requires_grad_())


@pytest.mark.parametrize("denominator", ["all", "others"])
@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]])
def test_without_a_positive_or_without_a_negative_it_costs_nothing(denominator, labels):
    scores = torch.rand(3, 3).requires_grad_()
    shares = proxy_nca(scores, *pair_masks(torch.tensor(labels)), denominator=denominator)
    shares.sum().backward()
    assert (shares == 0).all()
    assert (scores.grad == 0).all()


def test_the_printed_form_takes_targets_and_reads_the_masks():
    scores, masks = scores_of(*embeddings_and_proxies()), class_masks(LABELS, 5)
    told = proxy_nca(scores, *masks, denominator="others", targets=LABELS)
    assert torch.equal(told, proxy_nca(scores, *masks, denominator="others"))


def test_an_unknown_denominator_is_refused():
    with pytest.raises(SettingError, match='is "all" or "others"; got "none"'):
        proxy_nca(torch.zeros(1, 2), *class_masks(torch.tensor([0]), 2), denominator="none")
