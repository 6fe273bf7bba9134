"""A run is plain typed values: written, read back, overridden, and refused where they are wrong."""

import json
import tomllib
from dataclasses import FrozenInstanceError, replace
from typing import get_args

import pytest

from samekind import recipes
from samekind.decisions import Kind
from samekind.errors import SettingError
from samekind.evaluation.validation import BY_KIND, MEASURES
from samekind.training import Adversary, Batches, Head, Optimiser, Part, Parts, Penalty, Run, Schedule, Term

SHAPES = [(6,), (1, 8, 8), (1, 28, 28), (3, 32, 32), (3, 64, 64)]


@pytest.fixture
def prototypical():
    return recipes.prototypical((1, 8, 8))


@pytest.mark.parametrize("recipe", recipes.RECIPES)
def test_a_run_comes_back_from_its_dictionary_and_from_json(recipe):
    for shape in SHAPES:
        run = recipes.RECIPES[recipe](shape)
        assert Run.from_dict(run.to_dict()) == run
        assert Run.from_dict(json.loads(json.dumps(run.to_dict()))) == run


def test_a_run_with_every_setting_away_from_its_default_comes_back():
    run = Run(
        recipe="mine",
        space=Parts(
            Part("MLP", {"dimension": 4, "hidden": [3]}),
            Part("Cosine", {"scale": {"name": "LearnedScale", "initial": 5.0}}),
            Part("LearnedProxies", {"count": 2, "pooling": "max"}),
            Head(Part("Dot"), Part("LearnedProxies"), Part("MLP", {"dimension": 2}), True, True),
            "features",
        ),
        terms={"class": Term("softmax", "prototypes", "hardest", "one", 0.5, {"smoothing": 0.1})},
        penalties={"energy": Penalty("energy_confusion", 0.3, {"normalise": True})},
        batches=Batches("Balanced", {"classes": 2, "items": 3}, 2),
        optimiser=Optimiser("Adam", 0.1, 0.2, 0.3, True, {"encoder": 0.4}, 0.1),
        schedule=Schedule("cosine", 0.5, (2, 3), 4, 5, 1.5, 0.5),
        epochs=6,
        seed=7,
        clip=8.0,
        precision="32-true",
        watch="accuracy",
        better="higher",
        select_on="test",
        checkpoint_steps=9,
        memory=10,
        augment=(Part("Flip", {"vertical": True}), Part("AdditiveNoise", {"factors": [0.1]})),
        channels_last=True,
        compile=True,
        tf32=True,
        try_convolutions=True,
        mixed_scores=True,
        adversary=Adversary("soft", 0.1, 2.0, 0.2, 16, 0.3, 0.4, "loss"),
        validate=("clustering", "retrieval"),
        compress=32,
    )
    assert Run.from_dict(json.loads(json.dumps(run.to_dict()))) == run


def test_arguments_are_keys_beside_the_name(prototypical):
    values = prototypical.to_dict()
    similarity = prototypical.space.similarity
    assert values["space"]["similarity"] == {"name": "PairsNetwork", **similarity.arguments}
    assert set(similarity.arguments) == {"hidden", "depth", "dropout"}
    assert values["terms"]["pair"]["smoothing"] == prototypical.terms["pair"].arguments["smoothing"]
    assert values["batches"] == {"sampler": "Shuffled", "at_once": 0, **prototypical.batches.arguments}
    assert values["schedule"]["milestones"] == list(prototypical.schedule.milestones)


def test_a_run_does_not_change(prototypical):
    with pytest.raises(FrozenInstanceError):
        prototypical.epochs = 3


@pytest.mark.parametrize(
    ("assignment", "look", "expected"),
    [
        ("space.similarity.hidden=32", lambda run: run.space.similarity.arguments["hidden"], 32),
        ("space.encoder.width = 4", lambda run: run.space.encoder.arguments["width"], 4),
        ("terms.pair.weight=0.5", lambda run: run.terms["pair"].weight, 0.5),
        ("terms.pair.weight=2", lambda run: run.terms["pair"].weight, 2.0),
        ("terms.pair.weighting=triplets", lambda run: run.terms["pair"].arguments["weighting"], "triplets"),
        ("terms.class.smoothing=0.0", lambda run: run.terms["class"].arguments["smoothing"], 0.0),
        ("optimiser.name=Adam", lambda run: run.optimiser.name, "Adam"),
        ('optimiser.name="Adam"', lambda run: run.optimiser.name, "Adam"),
        ("optimiser.rates.encoder=0.001", lambda run: run.optimiser.rates, {"encoder": 0.001}),
        ("optimiser.nesterov=true", lambda run: run.optimiser.nesterov, True),
        ("schedule.milestones=[1, 2]", lambda run: run.schedule.milestones, (1, 2)),
        ("watch=eer cosine", lambda run: run.watch, "eer cosine"),
        ("clip=1", lambda run: run.clip, 1.0),
        ("seed=-3", lambda run: run.seed, -3),
        ("batches.size=16", lambda run: run.batches.arguments, {"size": 16}),
        (
            'space.similarity={name = "Cosine"}',
            lambda run: run.space.similarity,
            Part("Cosine"),
        ),
        (
            'batches={sampler = "Balanced", classes = 2, items = 3}',
            lambda run: run.batches,
            Batches("Balanced", {"classes": 2, "items": 3}),
        ),
    ],
)
def test_override_sets_one_thing(prototypical, assignment, look, expected):
    changed = prototypical.override([assignment])
    assert look(changed) == expected
    assert type(look(changed)) is type(expected)


def test_override_changes_nothing_else(prototypical):
    changed = prototypical.override(["terms.pair.weight=0.5"])
    terms = prototypical.terms | {"pair": replace(prototypical.terms["pair"], weight=0.5)}
    assert changed == replace(prototypical, terms=terms)
    assert prototypical.override([]) == prototypical


def test_later_overrides_win(prototypical):
    assert prototypical.override(["epochs=2", "epochs=3"]).epochs == 3


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("epochs", ['expected name=value, got "epochs"']),
        ("epoch=3", ['"epoch"', 'did you mean "epochs"?']),
        ("optimiser.rat=1", ["run.optimiser", '"rat"', 'did you mean "rate"?']),
        ("optimizer.rate=1", ['no table "optimizer"', 'did you mean "optimiser"?']),
        ("terms.pairs.weight=1", ['no table "pairs"', 'did you mean "pair"?']),
        ("optimiser.name=Adamm", ["run.optimiser.name", 'did you mean "Adam"?']),
        ("schedule.name=plateu", ["run.schedule.name", 'did you mean "plateau"?']),
        ("terms.pair.against=batches", ["run.terms.pair.against", 'did you mean "batch"?']),
        ("epochs=three", ["run.epochs", "a whole number", "'three'"]),
        ("epochs=3.0", ["run.epochs", "a whole number", "3.0"]),
        ("epochs=true", ["run.epochs", "a whole number", "True"]),
        ("epochs=", ["run.epochs", "a whole number", "''"]),
        ("optimiser.rate=fast", ["run.optimiser.rate", "a number", "'fast'"]),
        ("optimiser.nesterov=1", ["run.optimiser.nesterov", "true or false", "1"]),
        ("schedule.milestones=3", ["run.schedule.milestones", "a list", "3"]),
        ("optimiser.rates.encoder=slow", ["run.optimiser.rates.encoder", "a number", "'slow'"]),
        ("space.similarity=Cosine", ["run.space.similarity", "a table", "'Cosine'"]),
        ("terms={}", ["run.terms", "at least one term"]),
    ],
)
def test_refuses_a_wrong_override(prototypical, assignment, words):
    with pytest.raises(SettingError) as refusal:
        prototypical.override([assignment])
    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize(
    ("assignment", "place"),
    [
        ("epochs=0", "run.epochs"),
        ("epochs=-1", "run.epochs"),
        ("checkpoint_steps=-1", "run.checkpoint_steps"),
        ("memory=-1", "run.memory"),
        ("clip=0", "run.clip"),
        ("clip=-1.0", "run.clip"),
        ("clip=nan", "run.clip"),
        ("optimiser.rate=-0.1", "run.optimiser.rate"),
        ("optimiser.rate=nan", "run.optimiser.rate"),
        ("optimiser.rate=inf", "run.optimiser.rate"),
        ("optimiser.rates.encoder=-1", "run.optimiser.rates.encoder"),
        ("optimiser.weight_decay=-1", "run.optimiser.weight_decay"),
        ("optimiser.momentum=-1", "run.optimiser.momentum"),
        ("schedule={name = 'plateau', factor = 1.0}", "run.schedule.factor"),
        ("schedule.factor=-0.5", "run.schedule.factor"),
        ("schedule.patience=-1", "run.schedule.patience"),
        ("schedule.warmup=0", "run.schedule.warmup"),
        ("schedule={name = 'cosine', warmup_epochs = -1}", "run.schedule.warmup_epochs"),
        ("schedule={name = 'cosine', warmup_epochs = 30}", "run.schedule.warmup_epochs"),
        ("schedule={name = 'cosine', warmup_epochs = nan}", "run.schedule.warmup_epochs"),
        ("adversary={weight = -1}", "run.adversary.weight"),
        ("adversary={weight = nan}", "run.adversary.weight"),
        ("adversary={threshold = -1}", "run.adversary.threshold"),
        ("adversary={hidden = 0}", "run.adversary.hidden"),
        ("adversary={rate = -1}", "run.adversary.rate"),
        ("adversary={rate = nan}", "run.adversary.rate"),
        ("adversary={smoothing = 1}", "run.adversary.smoothing"),
        ("adversary={smoothing = nan}", "run.adversary.smoothing"),
        ("adversary={dropout = -0.1}", "run.adversary.dropout"),
        ("validate=[]", "run.validate"),
        ("validate=['retrieval', 'retrieval']", "run.validate"),
    ],
)
def test_refuses_an_impossible_value_by_its_name(prototypical, assignment, place):
    with pytest.raises(SettingError, match=rf"^{place}: expected .*[;,] got "):
        prototypical.override([assignment])


def test_impossible_values_are_refused_however_a_run_is_made(prototypical):
    with pytest.raises(SettingError, match=r"run\.epochs: expected a whole number \(1 or more\); got 0"):
        replace(prototypical, epochs=0)
    with pytest.raises(SettingError, match=r"run\.terms: expected at least one term"):
        replace(prototypical, terms={})


def test_the_least_values_are_allowed(prototypical):
    least = ["epochs=1", "checkpoint_steps=0", "clip=0.001", "optimiser.rate=0", "schedule.warmup=1"]
    assert prototypical.override(least).epochs == 1


def test_only_the_cosine_has_a_warm_up_in_epochs(prototypical):
    with pytest.raises(SettingError, match=r'run\.schedule\.warmup_epochs: .*"cosine".*"multi-step"'):
        prototypical.override(["schedule.warmup_epochs=1"])
    cosine = "schedule={name='cosine', warmup_epochs=29.5}"
    assert prototypical.override([cosine]).schedule.warmup_epochs == 29.5


def test_nesterov_needs_a_momentum(prototypical):
    with pytest.raises(SettingError, match=r"run\.optimiser\.nesterov.*momentum"):
        prototypical.override(["optimiser.nesterov=true", "optimiser.momentum=0"])


def test_an_adversary_is_a_table_that_need_not_be_there(prototypical):
    assert prototypical.adversary is None
    written = prototypical.update(tomllib.loads('[adversary]\nmethod = "soft"\nweight = 1'))
    assert written.adversary == Adversary("soft", weight=1.0)
    assert written.override(["adversary.weight=0.1"]).adversary == Adversary("soft", weight=0.1)
    assert prototypical.update(tomllib.loads('[adversary]\nkind = "soft"\nweight = 1')) == written
    assert prototypical.override(["adversary.kind=soft"]).adversary == Adversary("soft")
    with pytest.raises(SettingError, match=r'run\.adversary\.method: "sofft" is not a choice; .*"soft"'):
        prototypical.override(["adversary={method = 'sofft'}"])
    with pytest.raises(SettingError, match=r'run\.adversary: there is no setting "wieght"; .*"weight"'):
        prototypical.override(["adversary={wieght = 1}"])


def test_refuses_an_unknown_validation_with_the_nearest(prototypical):
    assert prototypical.validate == ("verification",)
    assert prototypical.override(["validate=['retrieval']"]).validate == ("retrieval",)
    with pytest.raises(
        SettingError, match=r'run\.validate: there is no "retreival"; did you mean "retrieval"'
    ):
        prototypical.override(["validate=['retreival']"])


def test_another_penalty_does_not_keep_the_settings_of_the_one_before(prototypical):
    one = {"penalties": {"mine": {"penalty": "energy_confusion", "settings": {"normalise": True}}}}
    run = prototypical.update(one).update({"penalties": {"mine": {"penalty": "spread"}}})
    assert run.penalties == {"mine": Penalty("spread")}


def test_a_term_and_what_it_is_against_can_be_left_out_by_word_or_file(prototypical):
    left = {name: term for name, term in prototypical.terms.items() if name != "auxiliary"}
    expected = replace(prototypical, terms=left, space=replace(prototypical.space, auxiliary=None), clip=None)
    assert expected != prototypical
    words = ["space.auxiliary=none", "terms.auxiliary=none", "clip=none"]
    assert prototypical.override(words) == expected
    table = 'clip = "none"\n[space]\nauxiliary = "none"\n[terms]\nauxiliary = "none"'
    assert prototypical.update(tomllib.loads(table)) == expected
    with pytest.raises(SettingError, match="at least one term"):
        prototypical.override([f"terms.{name}=none" for name in prototypical.terms])


def test_a_term_and_a_penalty_may_not_share_a_name(prototypical):
    with pytest.raises(SettingError, match=r"run\.penalties: .*pair"):
        replace(prototypical, penalties={"pair": Penalty("spread")})


TOLD = [measure.key for family in MEASURES.values() for measure in family]
TOLD += [measure.variant(kind).key for measure in BY_KIND for kind in (*get_args(Kind), "best")]
LOWER = ("eer", "cluster radius")
KNOWN = {measure: "lower" if measure.startswith(LOWER) else "higher" for measure in [*TOLD, "recall@16"]}
OWN = ["mine", "knn error", "recall loss", "eer margin", "recall", "recall@1 lost", "nmi best", "an eer"]


def test_the_direction_of_a_known_measure_need_not_be_set(prototypical):
    for watch, better in [*KNOWN.items(), *((name, None) for name in OWN)]:
        assert replace(prototypical, watch=watch).direction == better
        assert prototypical.override([f"watch={watch}"]).direction == better
        assert prototypical.update({"watch": watch}).direction == better
        assert prototypical.override(["watch=recall@1"]).override([f"watch={watch}"]).direction == better
        run = prototypical.override([f"watch={watch}"])
        assert run.to_dict()["better"] == better
        assert Run.from_dict(run.to_dict()) == run


@pytest.mark.parametrize(("first", "then"), [("eer", "recall@1"), ("nmi", "eer best"), ("recall@1", "mine")])
def test_another_measure_does_not_inherit_the_direction(prototypical, first, then):
    """Also for a stored run, which has ``better`` written."""
    said = replace(prototypical, watch=first, better=KNOWN[first])
    for run in (said, replace(said, epochs=3), Run.from_dict(said.to_dict())):
        assert run.direction == KNOWN[first]
        assert replace(run, watch=then).direction == KNOWN.get(then)
    assert said == replace(prototypical, watch=first)


@pytest.mark.parametrize("watch", ["eer", "recall@16", "nmi"])
def test_refuses_the_opposite_direction(prototypical, watch):
    better = KNOWN[watch]
    other = {"lower": "higher", "higher": "lower"}[better]
    message = f'run.better: of "{watch}" {better} is better, got "{other}"; leave better out'
    for change in (
        lambda: prototypical.override([f"watch={watch}", f"better={other}"]),
        lambda: prototypical.update({"better": other, "watch": watch}),
        lambda: replace(prototypical, watch=watch, better=other),
    ):
        with pytest.raises(SettingError) as refused:
            change()
        assert str(refused.value) == message
    assert prototypical.override([f"watch={watch}", f"better={better}"]).direction == better


@pytest.mark.parametrize("better", ["lower", "higher"])
@pytest.mark.parametrize("watch", ["mine", "recall@1 lost"])
def test_either_direction_may_be_set_for_a_measure_of_ones_own(prototypical, watch, better):
    run = prototypical.override([f"watch={watch}", f"better={better}"])
    assert run.direction == better
    for changed in (run.override(["epochs=3"]), replace(run, epochs=3), Run.from_dict(run.to_dict())):
        assert changed.direction == better
    assert run.override(["watch=eer"]).direction == "lower"
    assert run.override(["watch=theirs"]).direction is None


def test_another_loss_leaves_the_rest_of_its_term_as_it_was(prototypical):
    mined = {"against": "auxiliary", "miner": "semi_hard", "order": "one", "weight": 0.5}
    term = Term("softmax", **mined, arguments={"smoothing": 0.2}, mining={"margin": 0.1})
    run = replace(prototypical, terms={"only": term})
    changed = run.update(tomllib.loads('[terms.only]\nloss = "additive_margin"\nmargin = 0.3'))
    assert changed.terms["only"] == replace(term, loss="additive_margin", arguments={"margin": 0.3})
    # As by word: one that leaves nothing behind gives the same.
    bare = replace(prototypical, terms={"only": replace(term, arguments={})})
    by_word = bare.override(["terms.only.loss=additive_margin", "terms.only.margin=0.3"])
    assert by_word.terms == changed.terms


def test_another_miner_does_not_keep_the_settings_of_the_one_before(prototypical):
    term = Term("triplet", miner="semi_hard", arguments={"margin": 0.2}, mining={"margin": 0.1})
    run = replace(prototypical, terms={"only": term})
    changed = run.update({"terms": {"only": {"miner": "hardest"}}})
    assert changed.terms["only"] == replace(term, miner="hardest", mining={})
    same = run.update({"terms": {"only": {"miner": "semi_hard", "mining": {"margin": 0.3}}}})
    assert same.terms["only"] == replace(term, mining={"margin": 0.3})


def test_another_penalty_keeps_its_weight(prototypical):
    run = replace(prototypical, penalties={"mine": Penalty("energy_confusion", 0.1, {"normalise": True})})
    changed = run.update({"penalties": {"mine": {"penalty": "spread"}}})
    assert changed.penalties == {"mine": Penalty("spread", 0.1)}


@pytest.mark.parametrize("name", ["Adam", "AdamW", "SGD"])
def test_another_optimiser_keeps_what_all_of_them_have_by_word_and_by_file(prototypical, name):
    run = prototypical.override(["optimiser.rates.encoder=1e-4"])
    expected = replace(run, optimiser=replace(run.optimiser, name=name))
    assert run.override([f"optimiser.name={name}"]) == expected
    assert run.update(tomllib.loads(f'[optimiser]\nname = "{name}"')) == expected


def test_update_lays_a_table_over_the_run(prototypical):
    table = tomllib.loads("""
        epochs = 5
        [space.similarity]
        hidden = 32
        [terms.pair]
        weight = 0.5
        [optimiser.rates]
        encoder = 0.001
    """)
    changed = prototypical.update(table)
    assert changed.epochs == 5
    assert changed.space.similarity.arguments == prototypical.space.similarity.arguments | {"hidden": 32}
    assert changed.terms["pair"] == replace(prototypical.terms["pair"], weight=0.5)
    assert changed.terms["class"] == prototypical.terms["class"]
    assert changed.optimiser == replace(prototypical.optimiser, rates={"encoder": 0.001})
    assert prototypical.update({}) == prototypical


@pytest.mark.parametrize(
    ("table", "look", "expected"),
    [
        ({"space": {"similarity": {"name": "Cosine"}}}, lambda run: run.space.similarity, Part("Cosine")),
        (
            {"space": {"similarity": {"name": "PairsNetwork", "hidden": 8}}},
            lambda run: run.space.similarity,
            Part("PairsNetwork", recipes.prototypical((6,)).space.similarity.arguments | {"hidden": 8}),
        ),
        (
            {"terms": {"pair": {"loss": "triplet", "margin": 0.2}}},
            lambda run: run.terms["pair"],
            Term("triplet", arguments={"margin": 0.2}),
        ),
        (
            {"batches": {"sampler": "Balanced", "classes": 3}},
            lambda run: run.batches,
            Batches("Balanced", {"classes": 3}),
        ),
        ({"schedule": {"name": "constant"}}, lambda run: run.schedule, Schedule()),
        (
            {"terms": {"extra": {"loss": "triplet"}}},
            lambda run: list(run.terms),
            ["class", "pair", "auxiliary", "extra"],
        ),
    ],
)
def test_update_replaces_a_part_wholly_when_its_name_changes(prototypical, table, look, expected):
    assert look(prototypical.update(table)) == expected


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"epoch": 3}, ['"epoch"', 'did you mean "epochs"?']),
        ({"optimiser": {"rat": 3}}, ["run.optimiser", 'did you mean "rate"?']),
        ({"optimiser": 3}, ["run.optimiser", "a table of settings"]),
        ({"space": {"encodr": {"name": "MLP"}}}, ["run.space", 'did you mean "encoder"?']),
        ({"terms": {"new": {"weight": 1.0}}}, ["run.terms.new", "missing loss"]),
        ({"penalties": {"spread": {"penalty": "spread", "wieght": 1}}}, ['did you mean "weight"?']),
    ],
)
def test_a_table_with_a_mistake_is_refused(prototypical, table, words):
    with pytest.raises(SettingError) as refusal:
        prototypical.update(table)
    for word in words:
        assert word in str(refusal.value)


def test_augmentations_are_listed_in_toml_and_set_by_name_or_number(prototypical):
    listed = """
        [[augment]]
        name = "PadAndCrop"
        padding = 2

        [[augment]]
        name = "Flip"
    """
    run = prototypical.update(tomllib.loads(listed))
    assert run.augment == (Part("PadAndCrop", {"padding": 2}), Part("Flip"))
    changed = run.override(["augment.Flip.probability=0.2", "augment.0.padding=3"])
    assert changed.augment == (Part("PadAndCrop", {"padding": 3}), Part("Flip", {"probability": 0.2}))
    assert prototypical.override(['augment=[{name="Blur"}]']).augment == (Part("Blur"),)
    assert run.update({"augment": []}).augment == ()
    with pytest.raises(SettingError, match=r'augment: there is no "Flp" .*did you mean "Flip"'):
        run.override(["augment.Flp.probability=0.2"])
    with pytest.raises(SettingError, match=r"run\.augment\[0\]: missing name"):
        prototypical.override(["augment=[{padding=2}]"])


def test_another_way_of_standardising_is_refused_with_the_choices(prototypical):
    with pytest.raises(
        SettingError, match=r'run.space.standardise: "pixels" is not a choice; .*channels, features'
    ):
        prototypical.override(["space.standardise=pixels"])
