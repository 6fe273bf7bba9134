"""Listed trials: the scores of the list, in its order, and the classes it implies."""

import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

from samekind.data import clusters
from samekind.data.trial_lists import TrialList
from samekind.decisions import Decision
from samekind.evaluation import listed_trials
from samekind.evaluation.listed_trials import scored
from samekind.prototypes import SupportMeans
from samekind.similarities import PairsNetwork
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

ITEMS = clusters(classes=4, items=4, dimension=3, spread=0.9)


def a_space():
    torch.manual_seed(0)
    return MetricSpace(nn.Identity(), PairsNetwork(dimension=3, hidden=8), SupportMeans(dimension=3)).eval()


def a_list(sets):
    """Every set against every item that is in none."""
    used = {place for members in sets for place in members}
    tests = [i for i in range(len(ITEMS)) if i not in used]
    first = torch.arange(len(sets)).repeat_interleave(len(tests))
    second = torch.tensor(tests).repeat(len(sets))
    heads = torch.tensor([members[0] for members in sets])
    same = ITEMS.labels[heads[first]] == ITEMS.labels[second]
    return TrialList(same, first, second, tuple(sets), tuple(map(str, range(16))), ITEMS.labels)


def test_pairs_are_scored_as_they_are_listed():
    space, listed = a_space(), a_list([(0,), (4,), (8,), (12,)])
    for kind in space.kinds:
        trials = scored(space, listed, ITEMS.inputs, kind=kind)
        with torch.no_grad():
            expected = [
                float(space.score(ITEMS.inputs[listed.sets[i][0]][None], ITEMS.inputs[j][None], kind=kind))
                for i, j in zip(listed.first.tolist(), listed.second.tolist(), strict=True)
            ]
        assert trials.scores.tolist() == pytest.approx(expected, abs=1e-5)
        assert torch.equal(trials.same, listed.same)
        assert torch.equal(trials.same, trials.first == trials.second)


def test_rows_are_the_measures_of_the_list():
    space, listed = a_space(), a_list([(0,), (4,), (8,), (12,)])
    space.decisions["cosine"] = Decision("cosine", 0.5, "eer", "others", 0.1, 0.1)
    rows = listed_trials(space, listed, ITEMS.inputs, name="list")
    assert {row.kind for row in rows if row.measure == "accuracy at threshold"} == {"cosine"}
    for row in (row for row in rows if row.measure == "AUC"):
        scores = scored(space, listed, ITEMS.inputs, kind=row.kind).scores
        assert row[:2] == ("verification", "list")
        assert row.value == pytest.approx(roc_auc_score(listed.same, scores))
        assert row.unit == "classes"


def test_how_a_set_is_combined_matters():
    space, listed = a_space(), a_list([(0, 1), (4, 5), (8, 9, 10)])
    scores = [
        scored(space, listed, ITEMS.inputs, combination=value).scores for value in ("embedding", "max", "min")
    ]
    assert (scores[1] > scores[2]).all()
    assert not torch.allclose(scores[0], scores[1])
