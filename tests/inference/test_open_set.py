"""Known classes or none of these: against scores counted one by one."""

import dataclasses

import pytest
import torch
from torch import nn

from samekind.data import Items
from samekind.errors import DataError, SpaceError
from samekind.inference import fit_open_set, identify
from samekind.inference.known_classes import divided
from samekind.inference.open_set import familiar
from samekind.inference.promise import check_open_set
from samekind.measures import bootstrap_mean, equal_error_rate, logistic_calibration, proportion_interval
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Euclidean, FixedScale, PairsNetwork
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
    # The known item at 60 degrees and the unknown at 115 change places, and no other.
    assert decision.trials == "angles: 5 known, 5 unknown; by similarity, equal error 20.0%"
    assert decision.equal_error == pytest.approx(0.2)
    assert (decision.same_trials, decision.different_trials, decision.classes) == (5, 5, 2)
    assert (decision.kind, decision.point) == ("similarity", "far=0")


def test_the_intervals_draw_the_classes_of_either_again():
    space = a_space()
    decision = fit_open_set(space, KNOWN, UNKNOWN, point="frr=0")
    with torch.no_grad():
        inside, outside = (space.score_classes(value.inputs).max(1).values for value in (KNOWN, UNKNOWN))
    accepted = (outside >= decision.threshold).double()
    assert decision.false_accepts == accepted.mean() == 1 / 5
    assert decision.false_accept_interval == bootstrap_mean(accepted, units=UNKNOWN.labels)[1:]
    rejected = (inside < decision.threshold).double()
    assert decision.false_rejects == rejected.mean() == 0
    assert decision.false_reject_interval == bootstrap_mean(rejected, units=KNOWN.labels)[1:]
    assert decision.false_reject_interval[1] > proportion_interval(0, 5).high  # two classes tell little
    scores, is_known = torch.cat([inside, outside]), torch.arange(10) < 5
    assert decision.calibration == logistic_calibration(scores, is_known)


@pytest.mark.parametrize("items", [2, 200])
def test_one_class_says_nothing_of_others_however_many_its_items_are(items):
    """Before, the interval was that of its items: of 200 a narrow one, said to be for classes like it."""
    alone = at([180, 20] * (items // 2), [2] * items)
    decision = fit_open_set(a_space(), KNOWN, alone, point="frr=0")
    assert (decision.classes, decision.false_accepts) == (1, 0.5)
    assert decision.false_accept_interval is None
    assert decision.false_reject_interval is not None
    decision = fit_open_set(a_space(), at([5, 350], [0, 0]), UNKNOWN)
    assert decision.false_reject_interval is None
    assert decision.false_accept_interval is not None


def scaled_by(items, radius):
    return dataclasses.replace(items, inputs=items.inputs * radius)


#: Far out, so that they lie far from their class; the strangers near the middle, which is near every class.
FAR, MIDDLE = scaled_by(KNOWN, 9.0), scaled_by(UNKNOWN, 0.1)


@pytest.mark.parametrize(
    ("known", "unknown", "kind", "errors"),
    [
        (FAR, MIDDLE, "cosine", "similarity 100.0%, cosine 20.0%"),
        (KNOWN, scaled_by(KNOWN, 5.0), "similarity", "similarity 0.0%, cosine 50.0%"),
        (at([0, 90], [0, 1]), at([180, 270], [2, 3]), "similarity", "similarity 0.0%, cosine 0.0%"),
    ],
    ids=["cosine", "similarity", "equals"],
)
def test_the_kind_of_score_with_the_least_equal_error_is_chosen(known, unknown, kind, errors):
    decision = fit_open_set(a_space(Euclidean()), known, unknown)
    assert decision.kind == kind
    assert decision.trials.endswith(f" unknown; by {kind}, chosen there by equal error: {errors}")
    assert decision == dataclasses.replace(
        fit_open_set(a_space(Euclidean()), known, unknown, kind=kind), trials=decision.trials
    )


@pytest.mark.parametrize("kind", ["similarity", "cosine", "fused"])
def test_the_kind_that_was_asked_for_is_the_one_fitted(kind):
    torch.manual_seed(0)
    space = a_space(PairsNetwork(dimension=2, hidden=4)).eval()
    decision = fit_open_set(space, KNOWN, UNKNOWN, kind=kind, point="frr=0.2")
    with torch.no_grad():
        pairs = [
            [space.score(vector, z[None], kind=kind) for vector in space.prototypes.vectors]
            for z in torch.cat([KNOWN.inputs, UNKNOWN.inputs])
        ]
    scores = torch.tensor([max(map(float, row)) for row in pairs])
    is_known = torch.arange(10) < 5
    assert decision.kind == kind
    assert decision.equal_error == pytest.approx(equal_error_rate(scores, is_known).rate)
    assert decision.threshold == pytest.approx(float(scores[:5].sort().values[1]), abs=1e-5)
    assert f"; by {kind}, equal error " in decision.trials


def test_refuses_an_unknown_score():
    with pytest.raises(SpaceError, match='unknown kind of score "cosin"; did you mean "cosine"'):
        fit_open_set(a_space(Euclidean()), KNOWN, UNKNOWN, kind="cosin")


def test_refuses_missing_items_of_either_kind():
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
    assert [value.labels.tolist() for value in (known, unknown)] == [[0, 1], [2, 3]]
    torch.testing.assert_close(unknown.inputs, together.inputs[[1, 3]])
    assert len(divided(a_space(), at([0], [0], classes=("Right",)))[0]) == 0


# --- use --------------------------------------------------------------------------------------------


def test_without_a_threshold_every_item_gets_its_class():
    space = a_space()
    result = identify(space, UNKNOWN.inputs)
    with torch.no_grad():
        expected = space.classify(UNKNOWN.inputs)
    assert [value.name for value in result] == expected.classes
    for answer, scores, probabilities in zip(result, *expected[:2], strict=True):
        assert answer.score == pytest.approx(float(scores.max()))
        assert answer.probability == pytest.approx(float(probabilities.max()))


def test_with_a_threshold_items_below_it_get_no_class():
    space = a_space()
    space.open_set = fit_open_set(space, KNOWN, UNKNOWN, point="far=0")
    result = identify(space, torch.cat([KNOWN.inputs, UNKNOWN.inputs]))
    assert [value.name for value in result] == ["right", "right", "up", "up", None, *[None] * 5]
    with torch.no_grad():
        expected = space.classify(KNOWN.inputs[:1])
    known = float(space.open_set.probability(expected.scores.max().double()))
    assert result[0].probability == pytest.approx(known * float(expected.probabilities.max()))
    lost = float(space.open_set.probability(torch.tensor(result[-2].score, dtype=torch.double)))
    assert result[-2].probability == pytest.approx(1 - lost)
    assert all(value.score >= space.open_set.threshold for value in result if value.name)


def test_the_score_of_the_threshold_decides_and_the_similarity_names():
    space = a_space(Euclidean())
    space.open_set = fit_open_set(space, FAR, MIDDLE, point="far=0")
    assert space.open_set.kind == "cosine"
    # By angle nearer to right, by distance to up: the similarity has the word about the class.
    space.prototypes.assign(["right", "up"], torch.tensor([[[10.0, 0]], [[0.0, 1]]]))
    between = at([44.0], [0]).inputs
    space.open_set = dataclasses.replace(space.open_set, threshold=0.7)
    [result] = identify(space, between)
    assert result.name == "up"
    assert result.score == pytest.approx(float(torch.deg2rad(torch.tensor(44.0)).cos()), abs=1e-6)
    z = torch.cat([FAR.inputs, MIDDLE.inputs])
    for answer, cosines in zip(identify(space, z), space.score_classes(z, kind="cosine"), strict=True):
        best = max(cosines.tolist())
        assert answer.score == pytest.approx(best)
        assert (answer.name is not None) == (best >= 0.7)
        if answer.name is None:
            known = space.open_set.probability(torch.tensor(best, dtype=torch.double))
            assert answer.probability == pytest.approx(1 - float(known), abs=1e-6)


def test_a_promise_is_compared_by_its_own_kind_of_score():
    space = a_space(Euclidean())
    space.open_set = fit_open_set(space, FAR, MIDDLE)
    assert space.open_set.kind == "cosine"
    again = check_open_set(space, FAR, MIDDLE)
    for chosen, rate in zip(again, (space.open_set.false_accepts, space.open_set.false_rejects), strict=True):
        assert chosen.measured.mean == pytest.approx(rate)


@pytest.mark.parametrize("similarity", [None, Euclidean()], ids=["cosine", "euclidean"])
@pytest.mark.parametrize("fitted", [True, False])
def test_familiar_gives_the_numbers_that_identify_decides_by(similarity, fitted):
    space = a_space(similarity)
    space.open_set = fit_open_set(space, FAR, MIDDLE) if fitted else None
    z = torch.cat([FAR.inputs, MIDDLE.inputs])
    scores, known, accepted = familiar(space, z)
    given = familiar(space, z, scores=space.score_classes(z))
    assert all(torch.equal(one, other) for one, other in zip((scores, known, accepted), given, strict=True))
    answers = identify(space, z)
    assert scores.tolist() == [answer.score for answer in answers]
    assert accepted.tolist() == [answer.name is not None for answer in answers]
    if fitted:
        assert known.tolist() == space.open_set.probability(scores.double()).tolist()
    else:
        assert known.tolist() == [1.0] * len(z)


def test_no_items_get_no_answer():
    assert identify(a_space(), torch.empty(0, 2)) == []


def test_a_space_in_training_is_asked_in_evaluation_mode_and_left_in_training():
    torch.manual_seed(0)
    space = a_space(PairsNetwork(dimension=2, hidden=4, dropout=0.9)).train()
    assert identify(space, KNOWN.inputs) == identify(space, KNOWN.inputs)
    one, other = (fit_open_set(space, KNOWN, UNKNOWN) for _ in range(2))
    assert one == other
    assert all(module.training for module in space.modules())
