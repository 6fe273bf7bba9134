"""The prototypical recipe says what its paper says; the step itself is in the training tests."""

from samekind.recipes import prototypical
from samekind.training import Head, Part, Term


def test_the_three_losses_have_weight_one_and_the_smoothing_of_the_paper():
    run = prototypical((1, 8, 8))
    assert run.terms == {
        "class": Term("softmax", against="prototypes", arguments={"smoothing": 0.2}),
        "pair": Term("pair_likelihood", against="batch", arguments={"smoothing": 0.1}),
        "auxiliary": Term("softmax", against="auxiliary", arguments={"smoothing": 0.2}),
    }
    assert {term.weight for term in run.terms.values()} == {1.0}
    assert run.penalties == {}


def test_one_learned_similarity_running_averages_and_a_linear_head():
    space = prototypical((1, 8, 8)).space
    assert space.similarity.name == "PairsNetwork"
    assert space.similarity.arguments["depth"] == 1
    assert space.similarity.arguments["dropout"] == 0.25
    assert space.prototypes == Part("RunningAverages", {"momentum": 0.9})
    assert space.auxiliary == Head(Part("Dot"), Part("LearnedProxies"), normalise=False, bias=True)


def test_how_it_is_trained():
    run = prototypical((1, 8, 8))
    assert run.clip == 10
    assert (run.batches.sampler, run.batches.arguments) == ("Shuffled", {"size": 64})
    assert (run.optimiser.name, run.optimiser.momentum) == ("SGD", 0.9)
    assert (run.schedule.name, run.schedule.factor) == ("multi-step", 0.1)
    assert all(0 < milestone < run.epochs for milestone in run.schedule.milestones)
    assert (run.watch, run.direction) == ("eer", "lower")
