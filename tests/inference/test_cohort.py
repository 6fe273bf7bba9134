"""Scores normalised with a cohort, against loops: each side is scored in its own place."""

import statistics
from itertools import combinations

import pytest
import torch
from torch import nn

from samekind.errors import DataError, SettingError
from samekind.inference import (
    all_trials,
    normalised_listed_scores,
    normalised_trials,
    search,
    with_cohort,
)
from samekind.inference.cohort import cohort_scores
from samekind.inference.enrolment import COMBINATIONS, enrolment_scores
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Dot, PairsNetwork
from samekind.space import MetricSpace

GENERATOR = torch.Generator().manual_seed(0)
Z = torch.randn(5, 3, generator=GENERATOR)
LABELS = torch.tensor([4, 7, 4, 2, 7])
COHORT = torch.randn(6, 3, generator=GENERATOR)
FORMS = [("s", 2), ("as", 3), ("as", 200), ("mean", 3), ("mean", None)]


def a_space(similarity=None, dimension=3):
    torch.manual_seed(0)
    similarity = similarity or PairsNetwork(dimension=dimension, hidden=8, dropout=0.5)
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=dimension)).eval()


def score(space, one, other, kind="similarity"):
    with torch.no_grad():
        return float(space.score(one[None], other[None], kind=kind))


def standardised(value, strangers, form, top):
    chosen = sorted(strangers, reverse=True)[: None if form == "s" else top]
    return (value - statistics.fmean(chosen)) / (1 if form == "mean" else statistics.pstdev(chosen))


@pytest.mark.parametrize("kind", ["similarity", "cosine", "fused"])
def test_the_items_are_first_or_second(kind, memory_budget):
    space = a_space()
    for side in ("first", "second"):
        result = cohort_scores(space, Z, COHORT, kind=kind, side=side)
        expected = [
            [score(space, *((z, value) if side == "first" else (value, z)), kind) for value in COHORT]
            for z in Z
        ]
        torch.testing.assert_close(result, torch.tensor(expected))


@pytest.mark.parametrize("kind", ["similarity", "cosine", "fused"])
@pytest.mark.parametrize(("form", "top"), FORMS)
def test_all_pairs_agree_with_a_loop(kind, form, top):
    space = a_space()
    result = normalised_trials(space, Z, LABELS, COHORT, kind=kind, form=form, top=top)
    expected = []
    for i, one in enumerate(Z):
        for j, other in list(enumerate(Z))[i + 1 :]:
            value = score(space, one, other, kind)
            left = standardised(value, [score(space, one, c, kind) for c in COHORT], form, top)
            right = standardised(value, [score(space, c, other, kind) for c in COHORT], form, top)
            pair = (int(LABELS[i]), int(LABELS[j]))
            expected.append(((left + right) / 2, pair[0] == pair[1], *pair))
    rows = sorted(zip(*(entry.tolist() for entry in result), strict=True))
    for row, target in zip(rows, sorted(expected), strict=True):
        assert row[0] == pytest.approx(target[0], rel=1e-3, abs=1e-3)
        assert row[1:] == target[1:]
    assert [entry.dtype for entry in result] == [torch.float32, torch.bool, torch.int32, torch.int32]


@pytest.mark.parametrize("combination", COMBINATIONS)
@pytest.mark.parametrize(("form", "top"), FORMS)
def test_listed_trials_agree_with_a_loop(combination, form, top):
    space, sets = a_space(), [(0,), (1, 4, 2)]
    first, second = torch.tensor([1, 0, 1, 0]), torch.tensor([3, 3, 0, 2])
    result = normalised_listed_scores(
        space, Z, sets, first, second, COHORT, combination=combination, form=form, top=top
    )
    expected = []
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        against = enrolment_scores(
            space, [Z[list(sets[i])]], torch.cat([Z[j][None], COHORT]), combination=combination
        )[0].tolist()
        left = standardised(against[0], against[1:], form, top)
        right = standardised(against[0], [score(space, c, Z[j]) for c in COHORT], form, top)
        expected.append((left + right) / 2)
    assert result.tolist() == pytest.approx(expected, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize(("form", "top"), FORMS)
def test_the_items_themselves_may_be_the_cohort(form, top):
    """Each without itself: as if every item had its own cohort of all others."""
    space = a_space(Cosine())
    result = normalised_trials(space, Z, torch.arange(5), None, form=form, top=top)
    for value, i, j in zip(
        result.scores.tolist(), result.first.tolist(), result.second.tolist(), strict=True
    ):
        plain = score(space, Z[i], Z[j])
        others = [[score(space, Z[one], z) for n, z in enumerate(Z) if n != one] for one in (i, j)]
        expected = sum(standardised(plain, strangers, form, top) for strangers in others) / 2
        assert value == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_a_space_with_another_cohort():
    """Its normalised scores are those of the items themselves; the given space stays as it is."""
    space = a_space(Cosine())
    space.decisions["normalised"] = space.decisions["similarity"] = "a threshold"
    gallery = with_cohort(space, Z, kind="similarity", neighbours=3)
    assert space.normalised is None
    assert space.kinds == ["similarity"]
    assert gallery.kinds == ["similarity", "normalised"]
    assert list(gallery.decisions) == ["similarity"]
    pairs = normalised_trials(space, Z, LABELS, None, form="mean", top=3)
    again = all_trials(gallery, Z, LABELS, kind="normalised")
    torch.testing.assert_close(again.scores, pairs.scores)
    nearest = search(gallery, Z, Z, k=1, kind="normalised", same_items=True)
    matrix = gallery.score_all(Z, Z, kind="normalised").fill_diagonal_(-torch.inf)
    assert torch.equal(nearest.indices[:, 0], matrix.argmax(1))
    wider = with_cohort(gallery, COHORT)
    assert wider.normalised.neighbours == 3
    assert torch.equal(wider.normalised.cohort, COHORT)
    assert torch.equal(gallery.normalised.cohort, Z)


def with_shift(vectors, shift):
    """A last number each: in the dot product with a 1 it is added to the score."""
    return torch.cat([vectors, torch.as_tensor(shift).float().expand(len(vectors))[:, None]], 1)


@pytest.mark.parametrize("form", ["s", "as"])
def test_a_shift_of_all_scores_cancels(form):
    space = a_space(Dot(), dimension=4)
    plain, shifted = (
        normalised_trials(
            space, with_shift(Z, shift), LABELS, with_shift(COHORT, shift), form=form, top=4
        ).scores
        for shift in (0.0, 2.0)
    )
    torch.testing.assert_close(shifted, plain)


def test_a_shift_of_one_items_scores_cancels_on_its_own_side():
    """Half of a score is measured by the item's own strangers, who have the shift as well; what is left of
    it is in the half that the other item's strangers measure."""
    space, strangers = a_space(Dot(), dimension=4), with_shift(COHORT, 1.0)
    plain, moved = with_shift(Z, 1.0), with_shift(Z, torch.tensor([4.0, 1.0, 1.0, 1.0, 1.0]))
    sets, first, second = [(0,), (1,)], torch.tensor([0, 1]), torch.tensor([2, 3])
    before, after = (
        normalised_listed_scores(space, value, sets, first, second, strangers, form="s")
        for value in (plain, moved)
    )
    deviation = statistics.pstdev((COHORT @ Z[2]).tolist())
    assert float(after[0] - before[0]) == pytest.approx(3.0 / deviation / 2, rel=1e-4)
    assert after[1] == before[1]


def test_only_the_scores_differ_from_those_of_all_trials():
    space = a_space()
    plain, result = all_trials(space, Z, LABELS), normalised_trials(space, Z, LABELS, COHORT)
    for one, other in zip(plain[1:], result[1:], strict=True):
        assert torch.equal(one, other)
    assert not torch.allclose(plain.scores, result.scores)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"cohort": COHORT[:1]}, DataError, "cohort of at least two items, better hundreds; got 1"),
        ({"cohort": COHORT[:1].expand(4, 3)}, DataError, "cannot be normalised .* scores that differ"),
        ({"z": Z * float("nan")}, DataError, "expected finite scores"),
        ({"form": "z"}, SettingError, 'there is no normalisation "z"'),
        ({"top": 1}, SettingError, "at least 2 cohort items"),
    ],
)
def test_refuses_what_cannot_be_normalised(changes, error, message):
    arguments = {"z": Z, "labels": LABELS, "cohort": COHORT, **changes}
    with pytest.raises(error, match=message):
        normalised_trials(a_space(), **arguments)


def test_pairs_of_one_group_are_left_out_here_too():
    space, groups = a_space(), torch.tensor([0, 0, 1, 1, 2])
    whole = normalised_trials(space, Z, LABELS, COHORT)
    result = normalised_trials(space, Z, LABELS, COHORT, groups=groups)
    chosen = [place for place, (i, j) in enumerate(combinations(range(5), 2)) if groups[i] != groups[j]]
    assert len(chosen) == 8
    for one, other in zip(result, whole, strict=True):
        torch.testing.assert_close(one, other[chosen])
