"""Distance weighting: the weights against the density itself, the draws against the weights."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.miners import distance_weighted
from samekind.miners.distance_weighted import chords, draw_chances
from samekind.pairs import pair_masks
from samekind.similarities import Cosine, Euclidean


def density(distance, dimension):
    """q(d) of two random points on the sphere, up to a factor."""
    return distance ** (dimension - 2) * (1 - distance**2 / 4) ** ((dimension - 3) / 2)


def by_hand(distances, negatives, dimension, nearest=0.5, farthest=1.4):
    """The chance of each candidate of one anchor."""
    eligible = [i for i in negatives if distances[i] < farthest]
    weights = {i: 1 / density(max(distances[i], nearest), dimension) for i in eligible}
    if not eligible:
        weights = dict.fromkeys(negatives, 1)
    return [weights.get(i, 0) / sum(weights.values()) for i in range(len(distances))]


@pytest.mark.parametrize("dimension", [2, 3, 4, 16, 64])
def test_the_chance_of_a_negative_is_one_over_its_density(dimension):
    distances = torch.tensor([[0.1, 0.5, 0.7, 1.0, 1.3, 1.39, 1.41, 2.0]] * 2, dtype=torch.double)
    negative = torch.tensor([[True] * 8, [False, True, False, True, True, True, True, False]])
    chances = draw_chances(distances, negative, dimension=dimension, nearest=0.5, farthest=1.4)
    expected = [
        by_hand(row.tolist(), mask.nonzero().flatten().tolist(), dimension)
        for row, mask in zip(distances, negative, strict=True)
    ]
    torch.testing.assert_close(chances, torch.tensor(expected, dtype=torch.double))


def test_random_points_on_the_sphere_are_drawn_evenly_over_distance():
    """What the weights are for: uniform points, drawn by weight, have every distance as often."""
    generator = torch.Generator().manual_seed(0)
    points = torch.nn.functional.normalize(torch.randn(40_000, 8, generator=generator), dim=1)
    distances = (points[:1] - points).norm(dim=1)[None]
    inside = (distances > 0.5) & (distances < 1.4)
    chances = draw_chances(distances, inside, dimension=8, nearest=0.5, farthest=1.4)[0]
    shares = [
        chances[(distances[0] >= low / 10) & (distances[0] < (low + 1) / 10)].sum().item()
        for low in range(5, 14)
    ]
    assert shares == pytest.approx([1 / 9] * 9, abs=0.02)


def test_an_anchor_with_far_negatives_alone_draws_them_alike():
    distances = torch.tensor([[0.6, 1.5, 1.9, 2.0]])
    negative = torch.tensor([[False, True, True, True]])
    chances = draw_chances(distances, negative, dimension=512, nearest=0.5, farthest=1.4)
    torch.testing.assert_close(chances, torch.tensor([[0.0, 1 / 3, 1 / 3, 1 / 3]]))


def test_high_dimensions_neither_overflow_nor_vanish():
    distances = torch.tensor([[0.5, 1.0, 1.39], [1.2, 1.3, 1.39]])
    negative = torch.ones(2, 3, dtype=torch.bool)
    chances = draw_chances(distances, negative, dimension=2048, nearest=0.5, farthest=1.4)
    assert chances.isfinite().all()
    torch.testing.assert_close(chances.sum(1), torch.ones(2))


def test_a_chord_is_the_negative_score_or_follows_from_the_cosine():
    z = torch.randn(5, 4, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    by_distance = chords(Euclidean(normalise=True).score_all(z, z), "negative distance")
    by_cosine = chords(Cosine().score_all(z, z), "cosine")
    torch.testing.assert_close(by_distance, by_cosine, atol=1e-7, rtol=0)
    assert chords(torch.tensor([[1.0001]]), "cosine").tolist() == [[0.0]]
    assert chords(torch.zeros(1, 1, dtype=torch.bfloat16), "cosine").dtype == torch.float32


LABELS = torch.tensor([0, 0, 0, 1, 1, 2])


def test_every_pair_is_a_row_with_one_negative():
    scores = -torch.rand(6, 6, generator=torch.Generator().manual_seed(0))
    rows, positive, negative = distance_weighted(scores, *pair_masks(LABELS), dimension=8)
    pairs = list(zip(rows.tolist(), positive.int().argmax(1).tolist(), strict=True))
    assert pairs == [(a, p) for a in range(6) for p in range(6) if a != p and LABELS[a] == LABELS[p]]
    assert (positive.sum(1) == 1).all()
    assert (negative.sum(1) == 1).all()


def test_the_draws_follow_the_weights_for_each_positive_alike():
    generator = torch.Generator().manual_seed(0)
    scores = -0.4 - torch.rand(6, 6, generator=generator)
    positive, negative = pair_masks(LABELS)
    counts = torch.zeros(8, 6)
    repeats = 1000
    for _ in range(repeats):
        counts += distance_weighted(scores, positive, negative, dimension=4, generator=generator)[2]
    rows = distance_weighted(scores, positive, negative, dimension=4)[0]
    expected = [
        by_hand((-scores[row]).tolist(), negative[row].nonzero().flatten().tolist(), 4) for row in rows
    ]
    # Four standard deviations of a share of 1,000 draws are at most 0.064.
    torch.testing.assert_close(counts / repeats, torch.tensor(expected), atol=0.064, rtol=0)


def test_two_positives_of_an_anchor_get_negatives_of_their_own():
    scores = -torch.ones(6, 6)
    positive, negative = pair_masks(LABELS)
    generator = torch.Generator().manual_seed(0)
    both = [
        distance_weighted(scores, positive, negative, dimension=4, generator=generator)[2][:2]
        for _ in range(40)
    ]
    assert any(not torch.equal(*pair) for pair in both)


@pytest.mark.parametrize(("nearest", "farthest"), [(0.0, 1.4), (1.4, 0.5), (0.5, 2.0), (0.5, math.nan)])
def test_bounds_at_which_a_weight_is_infinite_are_refused(nearest, farthest):
    with pytest.raises(SettingError, match="expected 0 < nearest < farthest < 2, got"):
        distance_weighted(
            torch.zeros(6, 6), *pair_masks(LABELS), dimension=8, nearest=nearest, farthest=farthest
        )


def test_refuses_other_scores():
    with pytest.raises(SettingError, match=r'"negative distance" .* or "cosine", got "logit"'):
        distance_weighted(torch.zeros(6, 6), *pair_masks(LABELS), dimension=8, quantity="logit")
