"""Known classes or none of these: against scores counted one by one."""

import pytest
import torch
from torch import nn

from samekind.data import Items
from samekind.errors import DataError, SpaceError
from samekind.inference import divided, fit_open_set, identify
from samekind.measures import bootstrap_mean, logistic_calibration, proportion_interval
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, FixedScale, PairsNetwork
from samekind.space import MetricSpace


def a_space(similarity=None):
    """Two classes, right and up, in the plane."""
    known = SupportMeans(["right", "up"], dimension=2)
    known.assign(["right", "up"], torch.tensor([[[1.0, 0]], [[0.0, 1]]]))
    return MetricSpace(nn.Identity(), similarity or Cosine(scale=FixedScale(10.0)), known).eval()


def at(degrees, labels, classes=("right", "up", "left", "down")):
    angles = torch.deg2rad(torch.tensor(degrees, dtype=torch.float))
    inputs = torch.stack([angles.cos(), angles.sin()], dim=1)
    return Items(inputs=inputs, labels=torch.tensor(labels), classes=classes, name="angles")


KNOWN = at([5, 350, 85, 100, 60], [0, 0, 1, 1, 1])
UNKNOWN = at([180, 170, 265, 280, 115], [2, 2, 3, 3, 2])


def test_the_threshold_lies_between_the_best_scores():
    space = a_space()
    decision = fit_open_set(space, KNOWN, UNKNOWN, point="far=0")
    far = torch.deg2rad(torch.tensor(25.0)).cos()  # the unknown item that is most like a class
    assert decision.threshold > float(far)
    assert decision.false_accepts == 0
    assert decision.false_rejects == 1 / 5  # the item at 60 degrees is as far as 30 from up
    assert decision.trials == "angles: 5 known, 5 unknown"
    assert (decision.same_trials, decision.different_trials, decision.classes) == (5, 5, 2)
    assert (decision.kind, decision.point) == ("similarity", "far=0")


def test_the_intervals_draw_the_classes_of_either_again():
    space = a_space()
    decision = fit_open_set(space, KNOWN, UNKNOWN, point="frr=0")
    with torch.no_grad():
        inside, outside = (space.score_classes(each.inputs).max(1).values for each in (KNOWN, UNKNOWN))
    accepted = (outside >= decision.threshold).double()
    assert decision.false_accepts == accepted.mean() == 1 / 5
    assert decision.false_accept_interval == bootstrap_mean(accepted, units=UNKNOWN.labels)[1:]
    rejected = (inside < decision.threshold).double()
    assert decision.false_rejects == rejected.mean() == 0
    assert decision.false_reject_interval == bootstrap_mean(rejected, units=KNOWN.labels)[1:]
    assert decision.false_reject_interval[1] > proportion_interval(0, 5).high  # two classes tell little
    scores, is_known = torch.cat([inside, outside]), torch.arange(10) < 5
    assert decision.calibration == logistic_calibration(scores, is_known)


def test_one_unknown_class_has_the_interval_of_its_items():
    decision = fit_open_set(a_space(), KNOWN, at([180, 20], [2, 2]), point="frr=0")
    assert decision.false_accept_interval == proportion_interval(1, 2)[1:]


def test_without_items_of_either_kind_it_is_refused():
    nobody = KNOWN.take(torch.empty(0, dtype=torch.int64))
    with pytest.raises(DataError, match="known and of unknown classes; got 5 and 0"):
        fit_open_set(a_space(), KNOWN, nobody)
    with pytest.raises(DataError, match="got 0 and 5"):
        fit_open_set(a_space(), nobody, UNKNOWN)


def test_a_space_without_classes_has_nothing_to_be_like():
    space = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=2))
    with pytest.raises(SpaceError, match="knows no class yet"):
        fit_open_set(space, KNOWN, UNKNOWN)


def test_items_are_divided_by_the_names_the_space_knows():
    together = at([5, 180, 85, 280], [0, 2, 1, 3])
    known, unknown = divided(a_space(), together)
    assert [each.labels.tolist() for each in (known, unknown)] == [[0, 1], [2, 3]]
    torch.testing.assert_close(unknown.inputs, together.inputs[[1, 3]])
    assert len(divided(a_space(), at([0], [0], classes=("Right",)))[0]) == 0


# --- use --------------------------------------------------------------------------------------------


def test_without_a_threshold_every_item_gets_its_class():
    space = a_space()
    found = identify(space, UNKNOWN.inputs)
    with torch.no_grad():
        expected = space.classify(UNKNOWN.inputs)
    assert [each.name for each in found] == expected.classes
    for answer, scores, probabilities in zip(found, *expected[:2], strict=True):
        assert answer.score == pytest.approx(float(scores.max()))
        assert answer.probability == pytest.approx(float(probabilities.max()))


def test_with_one_what_scores_below_it_is_none_of_these():
    space = a_space()
    space.open_set = fit_open_set(space, KNOWN, UNKNOWN, point="far=0")
    found = identify(space, torch.cat([KNOWN.inputs, UNKNOWN.inputs]))
    assert [each.name for each in found] == ["right", "right", "up", "up", None, *[None] * 5]
    with torch.no_grad():
        expected = space.classify(KNOWN.inputs[:1])
    known = float(space.open_set.probability(expected.scores.max().double()))
    assert found[0].probability == pytest.approx(known * float(expected.probabilities.max()))
    lost = float(space.open_set.probability(torch.tensor(found[-2].score, dtype=torch.double)))
    assert found[-2].probability == pytest.approx(1 - lost)
    assert all(each.score >= space.open_set.threshold for each in found if each.name)


def test_no_items_get_no_answer():
    assert identify(a_space(), torch.empty(0, 2)) == []


def test_a_space_in_training_is_asked_at_rest_and_left_in_training():
    torch.manual_seed(0)
    space = a_space(PairsNetwork(dimension=2, hidden=4, dropout=0.9)).train()
    assert identify(space, KNOWN.inputs) == identify(space, KNOWN.inputs)
    one, other = (fit_open_set(space, KNOWN, UNKNOWN) for _ in range(2))
    assert one == other
    assert all(module.training for module in space.modules())
