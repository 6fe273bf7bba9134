"""Both errors over thresholds, and a threshold that somebody chose."""

import pytest
import torch

from samekind.errors import DataError, SpaceError
from samekind.index import Exact
from samekind.questions import tradeoff
from samekind.questions.tradeoff import decision_at, held_out_gallery, held_out_items


@pytest.fixture
def held_out(plane, items_at):
    degrees = [0, 11, 26, 83, 90.5, 132, 171, 184]
    return held_out_items(plane, items_at(degrees, ["right"] * 3 + ["up"] * 3 + ["left"] * 2))


def by_hand(held_out, threshold):
    """Both rates, one pair at a time."""
    z, labels = torch.nn.functional.normalize(held_out.z, dim=1), held_out.labels.tolist()
    pairs = [(a, b) for a in range(len(z)) for b in range(a + 1, len(z))]
    same = [float(z[a] @ z[b]) for a, b in pairs if labels[a] == labels[b]]
    different = [float(z[a] @ z[b]) for a, b in pairs if labels[a] != labels[b]]
    accepted = sum(score >= threshold for score in different) / len(different)
    return accepted, sum(score < threshold for score in same) / len(same)


def test_the_rates_are_those_of_every_pair(plane, held_out):
    curve = tradeoff(plane, held_out, kind="similarity")
    assert (curve.same, curve.different) == (7, 21)
    assert list(curve.thresholds) == sorted(curve.thresholds)
    for threshold, accepts, rejects in zip(
        curve.thresholds, curve.false_accepts, curve.false_rejects, strict=True
    ):
        assert (accepts, rejects) == pytest.approx(by_hand(held_out, threshold - 1e-6))
    assert (curve.false_accepts[0], curve.false_rejects[0]) == (1, 0)


def test_a_long_curve_is_thinned_and_keeps_its_ends(plane):
    generator = torch.Generator().manual_seed(0)
    index = Exact(2)
    z = torch.randn(200, 2, generator=generator)
    labels = [{"label": "right" if x > 0 else "left"} for x in z[:, 0].tolist()]
    index.add([str(place) for place in range(200)], z, labels)
    curve = tradeoff(plane, held_out_gallery(index))
    assert 100 < len(curve.thresholds) <= 402
    assert (curve.false_accepts[0], curve.false_rejects[0]) == (1, 0)
    assert max(abs(a - b) for a, b in zip(curve.false_accepts, curve.false_accepts[1:], strict=False)) < 0.05
    assert "200 items of the gallery: " in curve.sentence


def test_a_chosen_threshold_has_its_rates(plane, held_out):
    decision = decision_at(plane, held_out, 0.4)
    assert (decision.threshold, decision.point, decision.kind) == (0.4, "threshold=0.4", "similarity")
    assert (decision.false_accepts, decision.false_rejects) == pytest.approx(by_hand(held_out, 0.4))
    assert decision.calibration is not None
    assert tradeoff(plane, held_out).to_json()["decision"] is None
    plane.decisions["similarity"] = decision
    assert tradeoff(plane, held_out).to_json()["decision"]["threshold"] == 0.4


def test_pairs_of_both_sorts_are_needed(plane, items_at):
    with pytest.raises(DataError, match="pairs of one class and pairs of two"):
        tradeoff(plane, held_out_items(plane, items_at([0, 10], ["right", "right"])))
    index = Exact(2)
    index.add(["a"], torch.ones(1, 2))
    with pytest.raises(DataError, match="no labelled items"):
        held_out_gallery(index)


def test_an_unknown_score_is_refused(plane, held_out):
    with pytest.raises(SpaceError, match='no score "fusde"'):
        tradeoff(plane, held_out, kind="fusde")
