"""What becomes of the shares of a term, against loops, and against pytorch-metric-learning's reducers."""

import dataclasses

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import triplet
from samekind.miners import everything, hardest, triplet_margin
from samekind.pairs import pair_masks
from samekind.similarities import Euclidean
from samekind.training import Run, Term, build_space
from samekind.training.context import BuiltTerm, Context
from samekind.training.objective import objective
from samekind.training.reduction import reduced
from samekind.training.terms import build_terms

LABELS = torch.tensor([0, 2, 2, 0, 1])
ROWS = torch.tensor([0, 0, 1, 3, 3, 3])  # anchor 2 and anchor 4 have none
SHARES = torch.tensor([1.0, 3.0, 0.0, 2.0, 0.0, 4.0])
WEIGHTS = torch.tensor([1.0, 1.0, 0.5])


def cost(shares, how, *, rows=ROWS, weights=None):
    built = BuiltTerm(Term("triplet", reduce=how), triplet, everything, (), weights)
    return reduced(shares, built, rows=rows, labels=LABELS).item()


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("mean", 10 / 6),
        ("nonzero", 10 / 4),
        ("anchors", (2 + 0 + 2) / 3),  # of anchor 0: 1 and 3; of anchor 1: 0; of anchor 3: 2, 0 and 4
        ("classes", (10 / 5 + 0) / 2),  # class 0 has five rows, class 2 one
    ],
)
def test_every_way_by_eye(how, expected):
    assert cost(SHARES, how) == pytest.approx(expected)


def test_shares_count_by_the_weights_of_their_classes():
    shares = SHARES + 1
    by_class = [1.0 if label == 0 else 0.5 for label in LABELS[ROWS].tolist()]
    expected = sum(weight * share for weight, share in zip(by_class, shares.tolist(), strict=True)) / 6
    assert cost(shares, "mean", weights=WEIGHTS) == pytest.approx(expected)


@pytest.mark.parametrize("how", ["mean", "anchors"])
def test_a_row_is_an_anchor_where_nothing_was_mined(how):
    shares = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    assert cost(shares, how, rows=None) == 3
    assert cost(shares, "classes", rows=None) == pytest.approx((2.5 + 2.5 + 5) / 3)


def test_without_a_share_above_0_the_cost_is_0_and_has_a_gradient():
    shares = torch.zeros(6, requires_grad=True)
    built = BuiltTerm(Term("triplet", reduce="nonzero"), triplet, everything, ())
    value = reduced(shares, built, rows=ROWS, labels=LABELS)
    value.backward()
    assert value.item() == 0
    assert shares.grad.isfinite().all()


# --- in a run ---------------------------------------------------------------------------------------


def test_a_term_is_reduced_as_it_says(run, items, z):
    labels = torch.tensor([0, 0, 2, 2, 0, 3])
    changed = run.update({"space": {"similarity": {"name": "Euclidean"}}})
    space = build_space(changed, items)
    weights = {items.classes[2]: 0.25}
    for how, miner in (("nonzero", "hardest"), ("anchors", "hardest"), ("classes", "everything")):
        term = Term("triplet", miner=miner, reduce=how, class_weights=weights)
        terms = build_terms(dataclasses.replace(changed, terms={"only": term}), space)
        scores, masks = Euclidean().score_all(z, z), pair_masks(labels)
        rows, *masks = {"hardest": hardest, "everything": everything}[miner](scores.detach(), *masks)
        shares = triplet(scores[rows], *masks)
        expected = reduced(shares, terms["only"], rows=rows, labels=labels)
        torch.testing.assert_close(objective(space, z, labels, Context(terms)).total, expected)
        assert terms["only"].class_weights.tolist() == [1, 1, 0.25, 1]


def test_an_unknown_class_is_refused(run, items):
    term = Term("pair_likelihood", class_weights={items.classes[0] + "?": 2.0})
    with pytest.raises(
        SettingError, match=r"run\.terms\.only\.class_weights: there is no class .*did you mean"
    ):
        build_terms(dataclasses.replace(run, terms={"only": term}), build_space(run, items))


def test_both_can_be_set_by_name_and_stay_with_another_loss(run):
    changed = run.override(["terms.pair.reduce=nonzero", "terms.pair.class_weights.dr. no=2"])
    assert changed.terms["pair"].reduce == "nonzero"
    assert changed.terms["pair"].class_weights == {"dr. no": 2.0}
    other = changed.update({"terms": {"pair": {"loss": "nca"}}})
    assert other.terms["pair"].class_weights == {"dr. no": 2.0}
    assert Run.from_dict(changed.to_dict()) == changed


def test_a_run_from_before_these_settings_is_the_same_run(run):
    written = run.to_dict()
    for term in written["terms"].values():
        del term["reduce"], term["class_weights"]
    assert Run.from_dict(written) == run


# --- the peer ---------------------------------------------------------------------------------------


def test_agrees_with_their_reducers():
    """On triplets, each a row: theirs of a triplet is ours of a row."""
    peers = pytest.importorskip("pytorch_metric_learning.losses", reason="needs the extra `peers`")
    reducers = pytest.importorskip("pytorch_metric_learning.reducers")
    z = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    scores = Euclidean(normalise=True).score_all(z, z)
    rows, positive, negative = triplet_margin(scores, *pair_masks(LABELS), margin=4.0)
    pairs, rivals = negative.nonzero(as_tuple=True)
    triplets = rows[pairs], positive.int().argmax(1)[pairs], rivals
    single = torch.zeros(len(pairs), 5, dtype=torch.bool).scatter(1, rivals[:, None], True)
    shares = triplet(scores[triplets[0]], positive[pairs], single, margin=0.05)
    assert 0 < (shares == 0).sum() < len(shares)
    for how, weights, reducer in (
        ("mean", None, reducers.MeanReducer()),
        ("nonzero", None, reducers.AvgNonZeroReducer()),
        ("mean", WEIGHTS, reducers.ClassWeightedReducer(WEIGHTS)),
    ):
        theirs = peers.TripletMarginLoss(margin=0.05, reducer=reducer)(z, LABELS, triplets)
        assert cost(shares, how, rows=triplets[0], weights=weights) == pytest.approx(theirs.item(), rel=1e-5)
