"""What a trained space needs before use: support means, and a decision for each kind of score."""

from dataclasses import replace

import pytest
import torch

from samekind import prototypes
from samekind.data import Items, clusters
from samekind.decisions import Choices
from samekind.encoders import MLP
from samekind.inference import all_trials, embed, fit_decision, fit_open_set, fit_temperatures, settle
from samekind.inference.balancing import Labelled, naming
from samekind.inference.known_classes import divided
from samekind.inference.standings import standings
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Dot, PairsNetwork
from samekind.space import MetricSpace

KNOWN = clusters(classes=3, items=4, dimension=3, seed=0)
TRIALS = clusters(classes=4, items=5, dimension=3, spread=0.8, seed=1)


def a_space(kind="SupportMeans", similarity=None):
    torch.manual_seed(0)
    known = getattr(prototypes, kind)(["x", "y"], dimension=4)
    encoder = MLP(inputs=3, dimension=4, hidden=[6], dropout=0.5)
    return MetricSpace(encoder, similarity or PairsNetwork(dimension=4, hidden=6), known)


def test_support_means_become_the_means_of_the_known_items():
    space = a_space()
    settle(space, KNOWN, TRIALS)
    assert space.classes == list(KNOWN.classes)
    z = embed(space, KNOWN.inputs)
    for label in range(3):
        mean = sum(z[index] for index in range(12) if KNOWN.labels[index] == label) / 4
        torch.testing.assert_close(space.prototypes.vectors[label, 0], mean)
    assert space.prototypes.counts == [4, 4, 4]


def test_a_class_without_known_items_gets_no_prototype():
    """Its mean would be 0, which is somewhere in the space like any other place."""
    space, known = a_space(), KNOWN.take((KNOWN.labels != 1).nonzero().flatten())
    settle(space, known, TRIALS)
    assert space.classes == ["0", "2"]
    assert space.prototypes.counts == [4, 4]
    torch.testing.assert_close(space.prototypes.vectors[1, 0], embed(space, known.inputs)[4:].mean(0))


@pytest.mark.parametrize(
    "kind", [value for value in prototypes.PROTOTYPES if getattr(prototypes, value).trained]
)
def test_prototypes_that_were_trained_stay_as_they_are(kind):
    space = a_space(kind)
    before = space.prototypes.vectors.detach().clone()
    settle(space, KNOWN, TRIALS)
    assert space.classes == ["x", "y"]
    assert torch.equal(space.prototypes.vectors, before)
    assert set(space.decisions) == set(space.kinds)


@pytest.mark.parametrize("point", ["eer", "far=0.05"])
def test_every_kind_of_score_gets_the_decision_of_all_trials(point):
    space = a_space()
    settle(space, KNOWN, TRIALS, point=point)
    assert list(space.decisions) == ["similarity", "cosine", "fused"]
    z = embed(space, TRIALS.inputs)
    for kind, decision in space.decisions.items():
        trials = all_trials(space, z, TRIALS.labels, kind=kind)
        assert decision == fit_decision(trials, kind=kind, point=point, description="clusters")
        assert decision.trials == "clusters: 40 same, 150 different"


def test_each_kind_of_the_space_gets_a_decision_and_old_ones_are_replaced():
    space = a_space(similarity=Cosine())
    settle(space, KNOWN, TRIALS)
    assert list(space.decisions) == ["similarity"]
    settle(space, KNOWN, TRIALS, point="far=0")
    assert space.decisions["similarity"].point == "far=0"
    assert space.decisions["similarity"].false_accepts == 0


def test_classes_the_space_does_not_know_give_a_threshold_for_none_of_these():
    space = a_space()
    settle(space, KNOWN, TRIALS, point="far=0.1")
    inside, outside = divided(space, TRIALS)
    assert (len(inside), len(outside)) == (15, 5)
    assert space.open_set == fit_open_set(space, inside, outside, point="far=0.1")


def test_every_head_gets_a_temperature_of_the_items_it_knows():
    trials = clusters(classes=4, items=20, dimension=3, spread=0.8, seed=1)
    space = a_space()
    settle(space, KNOWN, trials)
    expected = fit_temperatures(space, trials, embed(space, trials.inputs))
    assert space.temperatures == expected
    assert (list(expected), expected["similarity"].items) == (["similarity"], 60)
    settle(space, KNOWN, trials, most_items=50)
    assert space.temperatures["similarity"].fitted_on.startswith("50 items drawn from clusters: ")
    settle(space, KNOWN, TRIALS)
    assert space.temperatures == {}  # the old ones were of other prototypes


def test_how_each_kind_of_score_did_on_the_trials_is_kept():
    space = a_space()
    settle(space, KNOWN, TRIALS)
    assert space.standings == standings(space, TRIALS)
    assert list(space.standings) == space.kinds


def test_held_out_classes_alone_give_a_threshold_by_enrolling_half_of_them():
    others = clusters(classes=9, items=8, dimension=3, spread=0.03, seed=4)
    others = replace(others, classes=tuple(f"new {name}" for name in others.classes))
    space = a_space()
    settle(space, KNOWN, others, point="far=0.1")
    assert space.open_set.equal_error <= 0.2
    assert space.open_set.trials.startswith(f"{others.name}, half of the classes enrolled: ")
    assert space.open_set.point == "far=0.1"
    assert space.open_set.false_accepts <= 0.1
    hopeless = replace(others, inputs=others.inputs[torch.randperm(len(others))])
    settle(space, KNOWN, hopeless)
    assert space.open_set is None


def test_items_all_known_or_of_few_unknown_classes_give_no_open_set_threshold():
    space = a_space()
    settle(space, KNOWN, TRIALS)
    settle(space, KNOWN, TRIALS.only(["0", "1", "2"]))
    assert space.open_set is None
    trained = a_space("LearnedProxies")
    settle(trained, KNOWN, TRIALS)
    assert trained.open_set is None


def test_the_mode_is_kept_and_dropout_plays_no_part():
    one, other = a_space().eval(), a_space().train()
    settle(one, KNOWN, TRIALS)
    settle(other, KNOWN, TRIALS)
    assert other.training
    assert one.decisions == other.decisions


def test_the_space_answers_for_the_classes_afterwards():
    items = Items(
        inputs=torch.tensor([[0.0, 1], [0, 2], [1, 0], [2, 0]]),
        labels=torch.tensor([0, 0, 1, 1]),
        classes=("up", "right"),
        name="four",
    )
    encoder = MLP(inputs=2, dimension=2, hidden=[])
    torch.nn.init.eye_(encoder.embedding.weight)
    torch.nn.init.zeros_(encoder.embedding.bias)
    space = MetricSpace(encoder, Dot(), SupportMeans(dimension=2))
    settle(space, items, items)
    assert space.classify(torch.tensor([[3.0, 1], [1, 3]])).classes == ["right", "up"]
    assert space.decisions["cosine"].accepts(torch.tensor([1.0, 0.0])).tolist() == [True, False]


def test_thresholds_are_fitted_on_pairs_of_two_groups_and_say_so():
    grouped = replace(TRIALS, groups=torch.arange(len(TRIALS)) // 2)
    space, plain = a_space(), a_space()
    settle(space, KNOWN, grouped)
    settle(plain, KNOWN, TRIALS)
    groups, z = grouped.groups, embed(space, grouped.inputs)
    for kind, decision in space.decisions.items():
        pairs = all_trials(space, z, grouped.labels, groups=groups, kind=kind)
        name = f"{TRIALS.name}, own group left out"
        assert decision == fit_decision(pairs, kind=kind, point="eer", description=name)
        assert decision.same_trials < plain.decisions[kind].same_trials


def test_without_known_items_held_out_the_bonus_comes_from_the_training_items():
    """As where the validation set has classes of its own."""
    space, other = a_space(), replace(TRIALS, classes=("a", "b", "c", "d"))
    settle(space, KNOWN, other)
    assert list(space.balances) == space.kinds
    for kind, balance in space.balances.items():
        assert (balance.measured_on, balance.new) == (KNOWN.name, None)
        labelled = Labelled(embed(space, KNOWN.inputs), KNOWN.labels)
        assert balance.bonus == pytest.approx(naming(space, labelled, None, kind=kind).bonus)
    assert space.choices.measured_on == "clusters, classes not trained on"


def test_choices_from_elsewhere_are_taken_and_the_temperature_is_that_of_their_kind():
    space, own, held_out = a_space(), a_space(), clusters(classes=3, items=20, dimension=3, seed=1)
    settle(own, KNOWN, held_out)
    choices = Choices("similarity", "cosine", "similarity", "folds of other items")
    settle(space, KNOWN, held_out, choices=choices)
    assert space.choices == choices
    assert own.kind_for("classes") == "cosine"
    assert space.temperatures != own.temperatures
    assert space.temperatures == fit_temperatures(space, held_out, embed(space, held_out.inputs))
