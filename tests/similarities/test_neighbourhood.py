"""Scores normalised by a cohort against loops, as pairs, matrices, blocks and inner products."""

import statistics

import pytest
import torch

from samekind.errors import SettingError
from samekind.measures import as_norm, s_norm
from samekind.similarities import (
    Cosine,
    Dot,
    Neighbourhood,
    PairsNetwork,
    TwoCovariance,
    WithinClass,
    score_all,
    score_enrolled,
)
from samekind.similarities.pair_blocks import FEWEST_PAIRS

GENERATOR = torch.Generator().manual_seed(0)
COHORT = torch.randn(12, 4, generator=GENERATOR)
A, B = torch.randn(5, 4, generator=GENERATOR), torch.randn(7, 4, generator=GENERATOR)


def fitted(kind):
    return kind(dimension=4).fit(torch.randn(40, 4, generator=GENERATOR), torch.arange(40) % 5)


def network():
    torch.manual_seed(0)
    return PairsNetwork(dimension=4, hidden=8).eval()


BASES = {
    "cosine": Cosine(),
    "within": fitted(WithinClass),
    "two": fitted(TwoCovariance),
    "network": network(),
}


def normalised(similarity, cohort=COHORT, **settings):
    settings = {"neighbours": 3, "dimension": cohort.shape[1]} | settings
    return Neighbourhood(similarity, size=1, **settings).with_cohort(cohort).eval()


def by_hand(similarity, a, b, form, neighbours=3):
    """The score of one pair by the definition."""
    score = float(similarity(a[None], b[None]))
    sides = []
    for pairs in ((a.expand_as(COHORT), COHORT), (COHORT, b.expand_as(COHORT))):
        scores = sorted(similarity(*pairs).tolist(), reverse=True)
        chosen = scores if form == "s" else scores[:neighbours]
        deviation = 1.0 if form == "mean" else statistics.pstdev(chosen)
        sides.append((score - statistics.fmean(chosen)) / deviation)
    return sum(sides) / 2


@torch.no_grad()
@pytest.mark.parametrize("form", ["mean", "as", "s"])
@pytest.mark.parametrize("base", BASES)
def test_agrees_with_a_loop(base, form):
    similarity = normalised(BASES[base], form=form)
    expected = torch.tensor([[by_hand(BASES[base], a, b, form) for b in B] for a in A])
    close = {"atol": 1e-4, "rtol": 1e-4}
    torch.testing.assert_close(similarity.score_all(A, B), expected, **close)
    torch.testing.assert_close(similarity(A, B[:5]), expected.diagonal(), **close)
    torch.testing.assert_close(score_all(similarity, A, B, memory_budget=100), expected, **close)
    if base == "network":
        assert similarity.mapped is None
        assert not similarity.symmetric
    else:
        products = similarity.mapped(A, "first") @ similarity.mapped(B, "second").T
        torch.testing.assert_close(products, expected, **close)


@pytest.mark.parametrize("form", ["as", "s"])
def test_agrees_with_the_measures_of_the_same_name(form):
    cosine = Cosine()
    scores, one, other = cosine(A, B[:5]), cosine.score_all(A, COHORT), cosine.score_all(B[:5], COHORT)
    expected = s_norm(scores, one, other) if form == "s" else as_norm(scores, one, other, top=3)
    torch.testing.assert_close(
        normalised(cosine, form=form)(A, B[:5]).double(), expected, atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("form", ["mean", "as"])
def test_an_items_own_copy_is_not_its_neighbour(form):
    """So the gallery itself may be the cohort."""
    gallery = torch.cat([COHORT, A])
    whole = normalised(Cosine(), gallery, form=form)
    for row in range(len(A)):
        without = normalised(Cosine(), torch.cat([COHORT, A[:row], A[row + 1 :]]), form=form)
        torch.testing.assert_close(whole.mapped(A, "first")[row], without.mapped(A, "first")[row])
    nearly = A * (1 + 1e-6)  # as embedded in another batch
    torch.testing.assert_close(whole.score_all(nearly, B), whole.score_all(A, B), atol=1e-4, rtol=1e-4)


def test_a_hub_is_pushed_back():
    """An item close to everybody: near to each of them before, and to none after."""
    angles = torch.tensor([0.0, 0.9, -0.9, 0.95, -0.95])
    z = torch.stack([angles.cos(), angles.sin()], dim=1)
    cosine = Cosine().score_all(z, z).fill_diagonal_(-1)
    relative = normalised(Cosine(), z, neighbours=4).score_all(z, z)
    assert cosine[1, 0] > cosine[1, 2]
    assert relative[0, 1] - relative[3, 1] < cosine[0, 1] - cosine[3, 1]


@torch.no_grad()
def test_enrolments_are_normalised_by_their_own_counts():
    similarity, counts = normalised(BASES["two"]), torch.tensor([1, 2, 5, 0, 1])
    plain = score_enrolled(BASES["two"], A, B, counts)
    with_cohort = score_enrolled(BASES["two"], A, COHORT, counts).topk(3).values.mean(1)
    items = BASES["two"].score_all(B, COHORT).topk(3).values.mean(1)
    expected = plain - with_cohort[:, None] / 2 - items / 2
    torch.testing.assert_close(score_enrolled(similarity, A, B, counts), expected, atol=1e-4, rtol=1e-4)
    ones = score_enrolled(similarity, A, B, torch.ones(5, dtype=torch.int64))
    torch.testing.assert_close(ones, similarity.score_all(A, B), atol=1e-4, rtol=1e-4)
    cosine = normalised(Cosine())
    torch.testing.assert_close(score_enrolled(cosine, A, B, counts), cosine.score_all(A, B))


def test_strips_of_a_long_list_agree_with_the_whole(monkeypatch):
    whole = normalised(Cosine()).score_all(A, B)
    monkeypatch.setitem(Neighbourhood._level.__globals__["MEMORY_BUDGET"], "cpu", 64)
    torch.testing.assert_close(normalised(Cosine()).score_all(A, B), whole)


@torch.no_grad()
@pytest.mark.parametrize("base", BASES)
def test_many_pairs_are_scored_as_few_are(base):
    """From some number of pairs on a CPU a network prepares its weights for all blocks."""
    z = torch.randn(2 * int(FEWEST_PAIRS**0.5), 4, generator=torch.Generator().manual_seed(2))
    similarity = normalised(BASES[base])
    expected = torch.stack([similarity(one.expand_as(z), z) for one in z])
    torch.testing.assert_close(score_all(similarity, z, z), expected, rtol=1e-4, atol=1e-4)


def test_more_neighbours_than_the_cohort_has_are_all_of_it():
    many = normalised(Cosine(), neighbours=50).score_all(A, B)
    torch.testing.assert_close(many, normalised(Cosine(), neighbours=12).score_all(A, B))


def test_another_cohort_leaves_the_first_alone():
    similarity = normalised(Dot())
    other = similarity.with_cohort(B)
    assert torch.equal(similarity.cohort, COHORT)
    assert torch.equal(other.cohort, B)
    assert other.similarity is similarity.similarity
    with pytest.raises(SettingError, match="neighbours=0"):
        normalised(Dot(), neighbours=0)
