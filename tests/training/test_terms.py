"""Terms and penalties: names looked up, arguments checked, and what each asks of the objective."""

import dataclasses
import inspect
import typing

import pytest
import torch

from samekind import losses, miners, penalties, similarities
from samekind.errors import SettingError
from samekind.pairs import pair_masks
from samekind.recipes import few_shot
from samekind.settings import typed
from samekind.taxonomy import Tree
from samekind.training import Later, Penalty, Run, Term, build_space
from samekind.training.context import FOR_LOSSES
from samekind.training.terms import build_penalties, build_terms


def with_terms(run, **terms):
    return dataclasses.replace(run, terms=terms)


def test_the_terms_of_a_recipe_are_looked_up(run, items):
    built = build_terms(run, build_space(run, items))
    assert list(built) == ["class", "pair", "auxiliary"]
    assert [term.loss.func for term in built.values()] == [
        losses.softmax,
        losses.pair_likelihood,
        losses.softmax,
    ]
    assert built["pair"].loss.keywords == {"smoothing": 0.1}
    assert all(term.miner.func is miners.everything for term in built.values())
    handed = [("scale", "targets"), ("generator",), ("scale", "targets")]
    assert [term.needs for term in built.values()] == handed


def test_a_term_may_have_other_arguments_later(run, items):
    later = (Later(2, {"smoothing": 0.3}), Later(1, {"smoothing": 0.2}))
    changed = with_terms(run, only=Term("pair_likelihood", arguments={"smoothing": 0.1}, later=later))
    space = build_space(changed, items)
    values = [build_terms(changed, space, epoch=epoch)["only"].loss.keywords for epoch in range(4)]
    assert values == [{"smoothing": value} for value in (0.1, 0.2, 0.3, 0.3)]
    assert Run.from_dict(changed.to_dict()) == changed
    unknown = with_terms(run, only=Term("pair_likelihood", later=(Later(3, {"smoothin": 0.1}),)))
    with pytest.raises(SettingError, match=r"run\.terms\.only\.later .*did you mean \"smoothing\"\?"):
        build_terms(unknown, space)


def test_a_loss_is_handed_what_it_asks_for_and_nothing_else(run, items):
    placed = dataclasses.replace(items, tree=Tree(("all", *items.classes), (-1, *[0] * len(items.classes))))
    for name in losses.__all__:
        quantity = losses.ACCEPTS.get(name, ("logit",))[0]
        givers = ("Cosine", "Dot", "Euclidean", "LogDistance", "PairsNetwork")
        similarity = next(value for value in givers if getattr(similarities, value).quantity == quantity)
        changed = with_terms(run.update({"space": {"similarity": {"name": similarity}}}), only=Term(name))
        if set(losses.FROM_TREE) & set(inspect.signature(getattr(losses, name)).parameters):
            changed = with_terms(changed, only=Term(name, against="prototypes"))
        needs = build_terms(changed, build_space(changed, placed))["only"].needs
        assert set(needs) == set(inspect.signature(getattr(losses, name)).parameters) & set(FOR_LOSSES)


@pytest.mark.parametrize(
    ("term", "words"),
    [
        (Term("softmaks"), ["run.terms.only", '"softmaks"', 'did you mean "softmax"?']),
        (Term("ACCEPTS"), ["run.terms.only", '"ACCEPTS"']),
        (Term("softmax", miner="hardestt"), ["run.terms.only", 'did you mean "hardest"?']),
        (Term("softmax", arguments={"smoothin": 0.1}), ["(softmax)", 'did you mean "smoothing"?']),
        (Term("softmax", arguments={"scale": 3.0}), ["(softmax)", '"scale"']),
        (Term("pair_likelihood", arguments={"generator": 1}), ["(pair_likelihood)", '"generator"']),
        (Term("softmax", arguments={"scores": 1}), ['"scores"']),
        (
            Term("pair_likelihood", arguments={"weighting": "triplet"}),
            ["run.terms.only (pair_likelihood).weighting", 'did you mean "triplets"?'],
        ),
        (Term("softmax", arguments={"spread": "al"}), ["softmax).spread", 'did you mean "all"?']),
        (Term("softmax", arguments={"smoothing": "0.1"}), ["softmax).smoothing", "a number", "'0.1'"]),
    ],
)
def test_an_unknown_loss_miner_or_argument_is_refused_with_the_nearest(run, items, term, words):
    with pytest.raises(SettingError) as refusal:
        build_terms(with_terms(run, only=term), build_space(run, items))
    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize(
    ("loss", "similarity", "quantity"),
    [
        ("pair_likelihood", "Cosine", "cosine"),
        ("pair_likelihood", "Euclidean", "negative distance"),
        ("additive_margin", "Dot", "inner product"),
        ("additive_margin", "PairsNetwork", "logit"),
        ("triplet", "PairsNetwork", "logit"),
    ],
)
@pytest.mark.parametrize("against", ["batch", "prototypes", "auxiliary"])
def test_a_loss_and_a_similarity_that_do_not_fit_are_named(run, items, loss, similarity, quantity, against):
    accepted = "Cosine" if loss != "pair_likelihood" else "Dot"
    other, here = ({"name": accepted}, {"name": similarity})
    space = {"similarity": here, "auxiliary": {"similarity": other}}
    if against == "auxiliary":
        space = {"similarity": other, "auxiliary": {"similarity": here}}
    changed = with_terms(run.update({"space": space}), only=Term(loss, against=against))
    with pytest.raises(SettingError) as refusal:
        build_terms(changed, build_space(changed, items))
    message = str(refusal.value)
    assert message.startswith("run.terms.only: ")
    for word in (loss, similarity, quantity, *losses.ACCEPTS[loss]):
        assert word in message


def test_the_other_similarity_does_not_matter(run, items):
    changed = with_terms(
        run.update({"space": {"auxiliary": {"similarity": {"name": "Cosine"}, "bias": False}}}),
        pair=Term("pair_likelihood", against="batch"),
        head=Term("additive_margin", against="auxiliary"),
    )
    assert list(build_terms(changed, build_space(changed, items))) == ["pair", "head"]


def test_refuses_a_term_for_a_missing_head(run, items):
    headless = dataclasses.replace(run, space=dataclasses.replace(run.space, auxiliary=None))
    with pytest.raises(
        SettingError, match=r"run\.terms\.auxiliary: .*no auxiliary head.*run\.space\.auxiliary"
    ):
        build_terms(headless, build_space(headless, items))


@pytest.mark.parametrize("against", ["prototypes", "auxiliary"])
def test_a_term_against_prototypes_that_are_filled_later_is_refused(run, items, against):
    """They are zeros until then: the loss would be a constant."""
    means = {"name": "SupportMeans"}
    space = {"prototypes": means} if against == "prototypes" else {"auxiliary": {"prototypes": means}}
    changed = with_terms(run.update({"space": space}), only=Term("softmax", against=against))
    with pytest.raises(SettingError, match=r"run\.terms\.only: SupportMeans .*RunningAverages"):
        build_terms(changed, build_space(changed, items))
    filled = build_space(changed, items)
    for prototypes in (filled.prototypes, filled.auxiliary.prototypes):
        prototypes.assign(items.classes, torch.ones(len(items.classes), 1, prototypes.dimension))
    assert list(build_terms(changed, filled)) == ["only"]


@pytest.mark.parametrize("against", ["prototypes", "auxiliary"])
def test_a_loss_that_compares_candidates_takes_one_prototype_a_class(run, items, against):
    parts = {"similarity": {"name": "Cosine"}, "prototypes": {"name": "LearnedProxies", "count": 2}}
    space = parts if against == "prototypes" else {"auxiliary": parts}
    changed = with_terms(run.update({"space": space}), only=Term("lifted_structure", against=against))
    with pytest.raises(SettingError, match=r"run\.terms\.only: .*lifted_structure.*LearnedProxies.*count=2"):
        build_terms(changed, build_space(changed, items))
    softmax = with_terms(changed, only=Term("softmax", against=against))
    assert list(build_terms(softmax, build_space(softmax, items))) == ["only"]


def test_penalties_are_looked_up_with_their_weights(run):
    changed = dataclasses.replace(run, penalties={"wide": Penalty("spread", weight=0.3)})
    built = build_penalties(changed)["wide"]
    assert (built.weight, built.function.func, built.needs) == (0.3, penalties.spread, ("z",))
    assert build_penalties(run) == {}
    with pytest.raises(SettingError, match=r'run\.penalties\.wide: .*did you mean "spread"'):
        build_penalties(dataclasses.replace(run, penalties={"wide": Penalty("spraed")}))


def test_a_penalty_is_given_its_settings(run):
    z, y = torch.tensor([[3.0, 0.0], [0.0, 4.0]]), torch.arange(2)
    confusion = {"energy": Penalty("energy_confusion", settings={"normalise": True})}
    built = build_penalties(dataclasses.replace(run, penalties=confusion))["energy"]
    assert built.needs == ("z", "y")
    assert built.function(z=z, y=y).item() == pytest.approx(2)  # 25 where they are as long as they are
    written = run.update({"penalties": {"energy": {"penalty": "energy_confusion"}}})
    assert build_penalties(written)["energy"].function(z=z, y=y).item() == pytest.approx(25)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"normalize": True}, r'there is no setting "normalize"; did you mean "normalise"'),
        ({"normalise": 3}, "expected true or false, got 3"),
        ({"y": 3}, 'there is no setting "y"'),
    ],
)
def test_refuses_an_unknown_setting_of_a_penalty(run, settings, words):
    confusion = {"energy": Penalty("energy_confusion", settings=settings)}
    with pytest.raises(SettingError, match=rf"run\.penalties\.energy\.settings .*{words}"):
        build_penalties(dataclasses.replace(run, penalties=confusion))


def test_the_arguments_of_a_loss_do_not_clash_with_those_of_its_term():
    for name in losses.__all__:
        loss = getattr(losses, name)
        hidden = ("scores", "positive", "negative", *FOR_LOSSES)
        parameters = inspect.signature(loss).parameters.items()
        arguments = {argument: parameter for argument, parameter in parameters if argument not in hidden}
        assert not set(arguments) & {field.name for field in dataclasses.fields(Term)}
        hints = typing.get_type_hints(loss)
        for argument, parameter in arguments.items():
            assert typed(hints[argument], parameter.default, argument) == parameter.default


@pytest.mark.parametrize("miner", miners.__all__)
def test_every_miner_can_be_chosen_without_an_argument(run, items, miner):
    changed = run.update({"space": {"similarity": {"name": "Euclidean", "normalise": True}}})
    changed = with_terms(changed, only=Term("triplet", miner=miner))
    built = build_terms(changed, build_space(changed, items))["only"]
    scores = -torch.rand(6, 6, generator=torch.Generator().manual_seed(0))
    masks = pair_masks(torch.tensor([0, 0, 1, 1, 2, 2]))
    rows, positive, negative = built.miner(scores, *masks, generator=torch.Generator().manual_seed(0))
    assert len(rows) == len(positive) == len(negative)


def test_refuses_a_miner_for_other_scores(run, items):
    changed = with_terms(run, only=Term("pair_likelihood", miner="distance_weighted"))
    with pytest.raises(SettingError, match=r"mining \(distance_weighted\)"):
        build_terms(changed, build_space(changed, items))


@pytest.mark.parametrize("miner", ["distance_weighted", "rho_switch"])
@pytest.mark.parametrize(
    "similarity",
    [
        {"name": "Euclidean"},
        {"name": "SquaredEuclidean", "normalise": True},
        {"name": "Angle"},
        {"name": "Mahalanobis"},
        {"name": "Poincare"},
        {"name": "Dot"},
    ],
    ids=lambda case: case["name"],
)
def test_refuses_distances_that_are_not_chords_for_weighted_miners(run, items, miner, similarity):
    changed = run.update({"space": {"similarity": similarity}})
    space = build_space(changed, items)
    with pytest.raises(SettingError) as refusal:
        build_terms(with_terms(changed, only=Term("triplet", miner=miner)), space)
    assert str(refusal.value) == (
        f"run.terms.only.mining ({miner}): negatives are chosen by the distances of points on the unit "
        f"sphere, which {similarity['name']} does not give as it is set; choose Cosine, or Euclidean with "
        "normalise=true"
    )
    build_terms(with_terms(changed, only=Term("triplet", miner="hardest")), space)


@pytest.mark.parametrize(
    "similarity", [{"name": "Cosine"}, {"name": "Euclidean", "normalise": True}], ids=str
)
def test_weighted_miners_take_chords_and_cosines(run, items, similarity):
    changed = run.update({"space": {"similarity": similarity}})
    changed = with_terms(changed, only=Term("triplet", miner="distance_weighted"))
    space = build_space(changed, items)
    assert build_terms(changed, space)["only"].miner.keywords == {
        "dimension": 5,
        "quantity": space.similarity.quantity,
    }


def test_what_the_scores_are_can_be_set(run, items):
    """Inner products of embeddings that the encoder has put on the sphere are cosines."""
    changed = run.update({"space": {"similarity": {"name": "Dot"}}})
    changed = with_terms(changed, only=Term("triplet", miner="rho_switch", mining={"quantity": "cosine"}))
    assert build_terms(changed, build_space(changed, items))["only"].miner.keywords["quantity"] == "cosine"
    old = Term("triplet", miner="rho_switch", mining={"kind": "cosine"})  # as version 0.1 wrote it
    assert old == changed.terms["only"]


def test_a_miner_of_the_auxiliary_head_gets_its_dimension(run, items):
    head = {"similarity": {"name": "Cosine"}, "projection": {"name": "MLP", "dimension": 3}}
    changed = run.update({"space": {"auxiliary": {**head, "bias": False}}})
    changed = with_terms(changed, only=Term("triplet", against="auxiliary", miner="distance_weighted"))
    assert build_terms(changed, build_space(changed, items))["only"].miner.keywords["dimension"] == 3


@pytest.mark.parametrize("against", ["prototypes", "auxiliary", "memory"])
@pytest.mark.parametrize("miner", miners.BATCH_ONLY)
def test_refuses_miners_of_the_batch_for_other_candidates(run, items, miner, against):
    cosine = {"similarity": {"name": "Cosine"}}
    changed = run.update({"memory": 16, "space": {**cosine, "auxiliary": cosine}})
    space = build_space(changed, items)
    with pytest.raises(SettingError) as refusal:
        build_terms(with_terms(changed, only=Term("triplet", against=against, miner=miner)), space)
    assert str(refusal.value) == (
        f"run.terms.only: the miner {miner} reads candidates as anchors, so it needs the scores of a "
        f'batch with itself; set against to "batch", not "{against}", or choose another miner'
    )
    build_terms(with_terms(changed, only=Term("triplet", miner=miner)), space)


@pytest.mark.parametrize(
    ("loss", "settings", "words"),
    [
        ("softmax", {"smoothing": 1.5}, "smoothing is a part of the target, from 0 up, below 1; got 1.5"),
        ("circle", {"sharpness": -80.0}, "sharpness must be a positive number, got -80.0"),
        ("angular", {"alpha": 90.0}, "alpha is an angle between 0 and 90 degrees, got 90.0"),
    ],
)
def test_a_loss_checks_its_settings_when_it_is_built(run, items, loss, settings, words):
    changed = run.update({"space": {"similarity": {"name": "Cosine"}}})
    space = build_space(changed, items)
    with pytest.raises(SettingError) as refusal:
        build_terms(with_terms(changed, only=Term(loss, arguments=settings)), space)
    assert str(refusal.value) == f"run.terms.only ({loss}): {words}"
    build_terms(with_terms(changed, only=Term(loss)), space)


def test_building_the_terms_draws_nothing(run, items):
    """Dropout draws from the global random state: a run would not be what it was."""
    changed = with_terms(run, only=Term("pair_likelihood", arguments={"smoothing": 0.1}))
    space, before = build_space(changed, items), torch.get_rng_state()
    build_terms(changed, space)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_arguments_of_a_miner_are_checked(run, items):
    changed = with_terms(run, only=Term("softmax", miner="hardest", mining={"margn": 0.2}))
    with pytest.raises(SettingError, match='did you mean "margin"'):
        build_terms(changed, build_space(changed, items))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (["batches={sampler='Shuffled', size=8}"], 'set batches.sampler to "Episodes"'),
        (["space.prototypes={name='LearnedProxies'}"], "set space.prototypes to SupportMeans"),
        (["space.prototypes.count=3"], r"count is 1, or 2 as batches.shot; .* count=3"),
        (["terms.task.class_weights={a=2.0}"], "every class of a task counts alike"),
        (["terms.task.loss=lifted_structure", "space.similarity={name='Euclidean'}"], "choose softmax"),
    ],
)
def test_what_cannot_be_trained_against_examples_is_refused(items, changes, says):
    run = dataclasses.replace(few_shot(items, shot=2, way=3), capture=False)
    build_terms(run, build_space(run, items))
    wrong = run.override(changes)
    with pytest.raises(SettingError, match=says):
        build_terms(wrong, build_space(wrong, items))
