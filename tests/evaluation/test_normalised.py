"""Verification by normalised scores: the measures of the normalised trials, named after the form."""

import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

from samekind.data import clusters
from samekind.data.trial_lists import TrialList
from samekind.decisions import Decision
from samekind.errors import DataError
from samekind.evaluation import normalised, normalised_list, retrieval
from samekind.inference import all_trials, normalised_listed_scores, normalised_trials, with_cohort
from samekind.inference.fitting import neighbourhood
from samekind.prototypes import SupportMeans
from samekind.similarities import PairsNetwork
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

ITEMS = clusters(classes=4, items=4, dimension=3, spread=0.9)
COHORT = torch.randn(9, 3, generator=torch.Generator().manual_seed(5))
MEASURES = ["EER", "AUC", "minDCF at 1%"]


def a_space():
    torch.manual_seed(0)
    space = MetricSpace(nn.Identity(), PairsNetwork(dimension=3, hidden=8), SupportMeans(dimension=3)).eval()
    # A threshold for plain scores: no normalised one may be held against it.
    space.decisions["cosine"] = Decision("cosine", 0.5, "eer", "others", 0.1, 0.1)
    return space


@pytest.mark.parametrize(("form", "called"), [("as", "AS-norm"), ("s", "S-norm")])
def test_all_pairs(form, called):
    space = a_space()
    rows = normalised(space, ITEMS, ITEMS.inputs, COHORT, name="seen", form=form, top=4)
    assert [(row.kind, row.measure) for row in rows] == [(kind, m) for kind in space.kinds for m in MEASURES]
    assert {row[:2] for row in rows} == {("verification", f"seen, {called}")}
    for row in (row for row in rows if row.measure == "AUC"):
        trials = normalised_trials(space, ITEMS.inputs, ITEMS.labels, COHORT, kind=row.kind, form=form, top=4)
        assert row.value == pytest.approx(roc_auc_score(trials.same, trials.scores))
        assert row.unit == "classes"


def test_the_neighbourhood_is_right_for_search_too():
    """With the evaluated items as cohort, which the rows say; what is normalised already is left out."""
    space = a_space()
    space.normalised = neighbourhood(space.scorer("cosine"), COHORT)
    rows = normalised(space, ITEMS, ITEMS.inputs, None, name="seen", form="mean", top=4)
    assert {row.items for row in rows} == {"seen, neighbourhood"}
    assert {row.kind for row in rows} == {"similarity", "cosine", "fused"}
    assert {row.note for row in rows} == {"the cohort is the gallery itself, without labels"}
    gallery = with_cohort(space, ITEMS.inputs, kind="cosine", neighbours=4)
    expected = {
        row.measure: row.value
        for row in retrieval(gallery, ITEMS, ITEMS.inputs, name="seen")
        if row.kind == "normalised"
    }
    values = {row.measure: row.value for row in rows if (row.question, row.kind) == ("retrieval", "cosine")}
    assert values == expected
    trials = all_trials(gallery, ITEMS.inputs, ITEMS.labels, kind="normalised")
    [area] = [row.value for row in rows if (row.measure, row.kind) == ("AUC", "cosine")]
    assert area == pytest.approx(roc_auc_score(trials.same, trials.scores))


def test_listed_trials():
    space, sets = a_space(), ((0, 1), (4,), (8,))
    first, second = torch.arange(3).repeat_interleave(4), torch.tensor([2, 5, 9, 13]).repeat(3)
    same = ITEMS.labels[torch.tensor([0, 4, 8])[first]] == ITEMS.labels[second]
    listed = TrialList(same, first, second, sets, tuple(map(str, range(16))), ITEMS.labels)
    rows = normalised_list(space, listed, ITEMS.inputs, COHORT, name="list", combination="max", top=4)
    assert {row.items for row in rows} == {"list, AS-norm"}
    for row in (row for row in rows if row.measure == "AUC"):
        scores = normalised_listed_scores(
            space, ITEMS.inputs, sets, first, second, COHORT, combination="max", kind=row.kind, top=4
        )
        assert row.value == pytest.approx(roc_auc_score(same, scores))


def test_refuses_too_many_pairs():
    with pytest.raises(DataError, match="has 120 pairs, and up to 119 can be normalised; draw fewer"):
        normalised(a_space(), ITEMS, ITEMS.inputs, COHORT, name="seen", most_stored=119)
