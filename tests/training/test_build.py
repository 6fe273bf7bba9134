"""Building a run: facts are filled in, names looked up, and wrong combinations refused."""

import dataclasses
import inspect
import typing

import pytest
import torch

from samekind import augmentations, parts, recipes, samplers
from samekind.data import Items, SoundReader
from samekind.encoders import MLP, SmallConvnet, Standardised
from samekind.errors import DataError, SettingError
from samekind.prototypes import LearnedProxies, RunningAverages
from samekind.settings import typed
from samekind.training import Batches, Head, Part, Term, build_space
from samekind.training.build import (
    FILLED_IN,
    build_augmentations,
    build_memory,
    build_optimiser,
    build_sampler,
    plain_encoder,
)


def images(channels=1, size=8):
    labels = torch.arange(6) % 3
    return Items(torch.rand(6, channels, size, size), labels, ("a", "b", "c"), "images")


def with_terms(run, **terms):
    return dataclasses.replace(run, terms=terms)


# --- the space ------------------------------------------------------------------------------------


def test_the_facts_of_vectors_are_filled_in(run, items):
    space = build_space(run, items)
    assert isinstance(space.encoder, MLP)
    assert (space.encoder.inputs, space.encoder.dimension) == (6, 5)
    assert space.similarity.dimension == 5
    assert isinstance(space.prototypes, RunningAverages)
    assert space.prototypes.vectors.shape == (4, 1, 5)
    assert space.classes == ["0", "1", "2", "3"]
    assert isinstance(space.auxiliary.prototypes, LearnedProxies)
    assert space.auxiliary.prototypes.vectors.shape == (4, 1, 5)
    assert space.auxiliary.offsets.shape == (4,)
    assert space.embed(items.inputs).shape == (48, 5)


@pytest.mark.parametrize("standardise", ["none", "channels"])
@pytest.mark.parametrize(
    "backbone",
    [
        {"name": "Conv4"},
        {"room": "encoders", "name": "Conv4", "arguments": {"checkpointing": True}},
        {"name": "Standardised", "means": [0.0] * 3, "deviations": [1.0] * 3, "encoder": {"name": "Conv4"}},
    ],
    ids=["in short", "described", "nested"],
)
def test_an_encoder_inside_another_gets_the_facts_too(backbone, standardise):
    items = images(3, 32)
    run = recipes.triplet(items.shape).override([f"space.standardise={standardise}"])
    table = {"name": "Attended", "dimension": 5, "layers": ["layer2"], "backbone": backbone}
    space = build_space(run.update({"space": {"encoder": table}}), items)
    outer = space.encoder.encoder if standardise == "channels" else space.encoder
    inner = outer.backbone.encoder if backbone["name"] == "Standardised" else outer.backbone
    assert (inner.channels, inner.size) == (3, 32)
    assert inner.checkpointing is ("arguments" in backbone)
    assert space.embed(items.inputs).shape == (6, 5)


@pytest.mark.parametrize(
    ("backbone", "says"),
    [
        ({"name": "Conv5"}, '"Conv5" is not in encoders; did you mean "Conv4"'),
        ({"name": "MLP"}, "MLP has none to attend to"),
        ({"name": "Conv4", "sise": 3}, 'Conv4 has no argument "sise"; did you mean "size"'),
        ({"room": "encoders", "name": "Conv4", "arguments": [3]}, "expected the arguments of Conv4, got"),
        ("Conv4", "Attended: backbone must be a Module, got 'Conv4'"),
    ],
)
def test_refuses_a_wrong_inner_encoder(backbone, says):
    items = images(3, 32)
    table = {"name": "Attended", "backbone": backbone}
    with pytest.raises(SettingError, match=says):
        build_space(recipes.triplet(items.shape).update({"space": {"encoder": table}}), items)


@pytest.mark.parametrize(("channels", "size"), [(1, 8), (3, 16)])
def test_the_facts_of_images_are_filled_in(channels, size):
    items = images(channels, size)
    space = build_space(recipes.prototypical(items.shape), items)
    assert isinstance(space.encoder, SmallConvnet)
    assert (space.encoder.channels, space.encoder.size) == (channels, size)
    assert space.classes == ["a", "b", "c"]
    assert space.eval().embed(items.inputs).shape == (6, 64)
    assert space.reader is not None


def test_several_encoders_and_a_head_get_their_facts():
    items = images(2, 16)
    table = {
        "name": "Headed",
        "encoder": {
            "name": "Views",
            "encoder": {
                "name": "SideBySide",
                "encoders": [{"name": "Conv4"}, {"name": "LeNet", "dimension": 5}],
            },
        },
        "head": {"name": "MLP", "hidden": [4], "dimension": 3},
    }
    run = recipes.triplet(items.shape).update({"space": {"encoder": table, "standardise": "none"}})
    encoder = build_space(run, items).encoder
    assert [inside.channels for inside in encoder.encoder.encoder.encoders] == [2, 2]
    assert (encoder.head.inputs, encoder.dimension) == (64 + 5, 3)
    assert encoder(items.inputs).shape == (len(items), 3)
    assert parts.describe(parts.build(parts.describe(encoder), room="encoders")) == parts.describe(encoder)


def test_an_encoder_for_vectors_takes_images_flat():
    items = images(channels=3)
    run = recipes.prototypical(items.shape).update({"space": {"encoder": {"name": "MLP"}}})
    assert build_space(run, items).encoder.inputs == 3 * 8 * 8


def test_settings_of_the_run_win_over_the_facts():
    items = images()
    run = recipes.triplet(items.shape).update({"space": {"prototypes": {"classes": []}}})
    assert build_space(run, items).classes == []


def test_a_projection_gives_the_head_its_own_dimension(run, items):
    head = Head(Part("Dot"), projection=Part("MLP", {"dimension": 3, "hidden": []}), bias=True)
    changed = dataclasses.replace(run, space=dataclasses.replace(run.space, auxiliary=head))
    space = build_space(changed, items)
    assert space.auxiliary.projection.inputs == 5
    assert space.auxiliary.prototypes.vectors.shape == (4, 1, 3)
    assert space.auxiliary.score_classes(space.embed(items.inputs)).shape == (48, 4)


def test_a_run_without_a_head_has_none(run, items):
    headless = dataclasses.replace(run, space=dataclasses.replace(run.space, auxiliary=None))
    assert build_space(headless, items).auxiliary is None


def test_fresh_weights_come_from_the_global_random_state(run, items):
    def weights(seed):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return build_space(run, items).state_dict()

    first, again, other = weights(0), weights(0), weights(1)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["encoder.embedding.weight"], other["encoder.embedding.weight"])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"encoder": {"name": "MLPP"}}, ['"MLPP"', 'did you mean "MLP"?']),
        ({"encoder": {"dimenson": 3}}, ["MLP", '"dimenson"', 'did you mean "dimension"?']),
        ({"encoder": {"dimension": 0}}, ["at least 1"]),
        ({"similarity": {"hiden": 3}}, ["PairsNetwork", '"hiden"', 'did you mean "hidden"?']),
        ({"similarity": {"name": "Cosinus"}}, ['"Cosinus"', 'did you mean "Cosine"?']),
        ({"prototypes": {"name": "RunningAverage"}}, ['did you mean "RunningAverages"?']),
        ({"prototypes": {"momentun": 0.5}}, ["RunningAverages", 'did you mean "momentum"?']),
        ({"auxiliary": {"similarity": {"name": "Dott"}}}, ['did you mean "Dot"?']),
        ({"auxiliary": {"prototypes": {"name": "LearnedProxy"}}}, ['did you mean "LearnedProxies"?']),
    ],
)
def test_an_unknown_part_or_argument_is_answered_with_the_nearest(run, items, table, words):
    with pytest.raises(SettingError) as refusal:
        build_space(run.update({"space": table}), items)
    for word in words:
        assert word in str(refusal.value)


# --- penalties, samplers, optimisers --------------------------------------------------------------


SAMPLER_ARGUMENTS = {
    "Shuffled": {"size": 8},
    "Balanced": {"classes": 2, "items": 3},
    "Tuples": {"size": 3},
    "OnePerDomain": {"size": 4},
    "UniformTriplets": {"triplets": 4, "steps": 3},
    "Episodes": {"way": 2, "shot": 1, "queries": 2, "tasks": 2, "steps": 3},
}


def test_a_sampler_of_domains_needs_domains(run, items):
    chosen = dataclasses.replace(run, batches=Batches("OnePerDomain", {"size": 4}))
    with pytest.raises(SettingError, match="needs the domain of each item"):
        build_sampler(chosen, items.labels)


@pytest.mark.parametrize("name", samplers.SAMPLERS)
def test_every_sampler_can_be_chosen_and_gets_the_seed(run, items, name):
    arguments = SAMPLER_ARGUMENTS[name]
    domains = torch.arange(len(items)) % 2
    handed = {"domains": domains} if name == "OnePerDomain" else {}
    chosen = dataclasses.replace(run, batches=Batches(name, arguments), seed=5)
    expected = getattr(samplers, name)(items.labels, seed=5, **arguments, **handed)
    sampler = build_sampler(chosen, items.labels, domains=domains)
    assert type(sampler) is type(expected)
    for mine, theirs in zip(sampler.batches(2), expected.batches(2), strict=True):
        assert torch.equal(mine, theirs)


@pytest.mark.parametrize(
    ("batches", "words"),
    [
        (Batches("Shufled"), ["run.batches", '"Shufled"', 'did you mean "Shuffled"?']),
        (Batches("episodes"), ["run.batches", '"episodes"']),
        (Batches("Shuffled", {"siez": 3}), ["(Shuffled)", '"siez"', 'did you mean "size"?']),
        (Batches("Shuffled", {"seed": 3}), ["(Shuffled)", '"seed"']),
        (Batches("Shuffled", {"labels": 3}), ["(Shuffled)", '"labels"']),
        (Batches("Shuffled", {"size": "64"}), ["(Shuffled).size", "a whole number", "'64'"]),
        (Batches("Shuffled", {"size": 1}), ["at least 2 items", "1"]),
    ],
)
def test_an_unknown_sampler_or_argument_is_refused(run, items, batches, words):
    with pytest.raises(SettingError) as refusal:
        build_sampler(dataclasses.replace(run, batches=batches), items.labels)
    for word in words:
        assert word in str(refusal.value)


def test_each_trainable_part_is_a_group_with_its_rate(run, items):
    changed = run.override(
        ["optimiser.rate=0.3", "optimiser.rates.encoder=0.1", "optimiser.rates.auxiliary=0"]
    )
    space = build_space(changed, items)
    optimiser = build_optimiser(changed.optimiser, space)
    rates = {group["name"]: group["lr"] for group in optimiser.param_groups}
    assert rates == {"encoder": 0.1, "similarity": 0.3, "auxiliary": 0.0}  # running averages are not trained
    held = [id(weight) for group in optimiser.param_groups for weight in group["params"]]
    assert sorted(held) == sorted(id(weight) for weight in space.parameters())


def test_learned_prototypes_are_a_group_of_their_own(run, items):
    changed = run.update({"space": {"prototypes": {"name": "LearnedProxies"}}})
    space = build_space(changed, items)
    groups = {group["name"]: group for group in build_optimiser(changed.optimiser, space).param_groups}
    assert [id(weight) for weight in groups["prototypes"]["params"]] == [id(space.prototypes.vectors)]


def test_the_optimisers_get_their_settings(run, items):
    space = build_space(run, items)
    settings = ["optimiser.momentum=0.8", "optimiser.weight_decay=0.01", "optimiser.nesterov=true"]
    sgd = build_optimiser(run.override(settings).optimiser, space)
    assert isinstance(sgd, torch.optim.SGD)
    assert {(group["momentum"], group["weight_decay"], group["nesterov"]) for group in sgd.param_groups} == {
        (0.8, 0.01, True)
    }
    adam = build_optimiser(run.override([*settings, "optimiser.name=Adam"]).optimiser, space)
    assert isinstance(adam, torch.optim.Adam)
    assert {group["weight_decay"] for group in adam.param_groups} == {0.01}
    decoupled = build_optimiser(run.override([*settings, "optimiser.name=AdamW"]).optimiser, space)
    assert type(decoupled) is torch.optim.AdamW
    assert type(adam) is torch.optim.Adam
    assert {group["weight_decay"] for group in decoupled.param_groups} == {0.01}
    assert {group["decoupled_weight_decay"] for group in decoupled.param_groups} == {True}


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_one_kernel_moves_the_weights_as_many_do(run, items, name):
    settings = run.override([f"optimiser.name={name}", "optimiser.weight_decay=0.01"]).optimiser
    moved = []
    for fused in (True, False):
        torch.manual_seed(0)
        space = build_space(run, items)
        optimiser = build_optimiser(settings, space, fused=fused)
        assert {group["fused"] for group in optimiser.param_groups} == {fused or None}
        for _ in range(3):
            for weight in space.parameters():
                weight.grad = torch.ones_like(weight) + weight.detach()
            optimiser.step()
        moved.append([weight.detach() for weight in space.parameters()])
    for one, other in zip(*moved, strict=True):
        torch.testing.assert_close(one, other)


def test_a_rate_for_an_unknown_part_is_refused(run, items):
    changed = run.override(["optimiser.rates.encodr=0.1"])
    with pytest.raises(SettingError, match=r'run\.optimiser\.rates: .*"encodr"; did you mean "encoder"'):
        build_optimiser(changed.optimiser, build_space(changed, items))


# --- what the flat form of a run asks of every member ---------------------------------------------


def settable(function, *, hidden):
    parameters = inspect.signature(function).parameters
    return {name: parameter for name, parameter in parameters.items() if name not in hidden}


@pytest.mark.parametrize("name", samplers.SAMPLERS)
def test_the_arguments_of_a_sampler_do_not_clash_with_its_name(name):
    sampler = getattr(samplers, name)
    arguments = settable(sampler, hidden=("labels", "domains", "names", "seed"))
    assert not set(arguments) & {field.name for field in dataclasses.fields(Batches)}
    hints = typing.get_type_hints(sampler.__init__)
    for argument, parameter in arguments.items():
        assert typed(hints[argument], parameter.default, argument) == parameter.default


@pytest.mark.parametrize("room", ["encoders", "similarities", "prototypes"])
def test_the_arguments_of_a_part_do_not_clash_with_its_name(room):
    for member in parts.members(room).values():
        assert not set(inspect.signature(member).parameters) & {
            field.name for field in dataclasses.fields(Part)
        }


def test_a_memory_and_a_term_against_it_go_together(run, items):
    space = build_space(run, items)
    seen = with_terms(run, only=Term("softmax", against="memory"))
    assert build_memory(run, space) is None
    assert build_memory(dataclasses.replace(seen, memory=16), space) is not None
    with pytest.raises(SettingError, match=r"run\.memory: a term asks for the memory"):
        build_memory(seen, space)
    with pytest.raises(SettingError, match=r"run\.memory: no term sees the 16 embeddings"):
        build_memory(dataclasses.replace(run, memory=16), space)


@pytest.mark.parametrize("scale", ["AdaCosScale", "DynamicScale"])
def test_a_scale_gets_the_number_of_classes(run, items, scale):
    arguments = {"form": "cosine"} if scale == "DynamicScale" else {}
    similarity = Part("Cosine", {"scale": {"name": scale, **arguments}})
    changed = dataclasses.replace(run, space=dataclasses.replace(run.space, similarity=similarity))
    assert build_space(changed, items).similarity.scale.classes == len(items.classes)


# --- standardised input ---------------------------------------------------------------------------


def test_the_encoder_is_shown_the_features_of_the_training_items_standardised(run, items):
    space = build_space(run.override(["space.standardise=features"]), items)
    assert isinstance(space.encoder, Standardised)
    assert isinstance(space.encoder.encoder, MLP)
    seen = space.encoder.standardise(items.inputs)
    torch.testing.assert_close(seen.mean(0), torch.zeros(6), atol=1e-5, rtol=0)
    torch.testing.assert_close(seen.std(0, correction=0), torch.ones(6))
    assert space.embed(items.inputs).shape == (48, 5)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_the_channels_of_images_are_standardised_as_they_are_shown(dtype):
    pictures = images(3, 16)
    inputs = (pictures.inputs * 255).to(torch.uint8)
    pictures = dataclasses.replace(pictures, inputs=inputs if dtype == torch.uint8 else inputs.float() / 255)
    run = recipes.triplet(pictures.shape).override(["space.standardise=channels"])
    seen = build_space(run, pictures).encoder.standardise(inputs.float() / 255)
    torch.testing.assert_close(seen.mean((0, 2, 3)), torch.zeros(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(seen.std((0, 2, 3), correction=0), torch.ones(3))


@pytest.mark.parametrize("attended", [False, True])
def test_refuses_to_standardise_an_encoder_that_scales_its_input(attended):
    pytest.importorskip("efficientnet_lite_pytorch")
    items, table = images(3, 32), {"name": "EfficientNetLite", "weights": False}
    if attended:
        table = {"name": "Attended", "backbone": table}
    run = recipes.triplet(items.shape).update({"space": {"encoder": table, "standardise": "channels"}})
    with pytest.raises(SettingError, match=rf'{table["name"]} scales its input by itself.*to "none"'):
        build_space(run, items)


def test_a_network_of_another_library_gets_the_channels_and_is_tried_out(timm):
    items, table = images(1, 8), {"name": "Backbone", "library": "timm", "network": "tiny", "dimension": 5}
    run = recipes.triplet(items.shape).update({"space": {"encoder": table}})
    space = build_space(run, items)
    assert (space.encoder.channels, space.encoder.dimension, timm) == (1, 5, [True])
    assert (space.encoder.module.stem.weight == 0.5).all()
    vectors = Items(torch.rand(6, 7), items.labels, items.classes, "vectors")
    run = recipes.triplet(vectors.shape).update({"space": {"encoder": table, "standardise": "none"}})
    with pytest.raises(DataError, match=r"the encoder takes images .* got \(2, 7\)"):
        build_space(run, vectors)


def test_nan_features_are_found_before_training(run, items):
    broken = dataclasses.replace(items, inputs=items.inputs.index_fill(1, torch.tensor([2]), torch.nan))
    with pytest.raises(DataError, match=r"feature 2 .* not finite"):
        build_space(run.override(["space.standardise=features"]), broken)


# --- augmentations --------------------------------------------------------------------------------


def augmenting(run, *listed):
    return dataclasses.replace(run, augment=tuple(Part(name, arguments) for name, arguments in listed))


def test_augmentations_are_built_in_their_order_with_their_arguments(run):
    changed = augmenting(run, ("PadAndCrop", {"padding": 2}), ("AdditiveNoise", {"factors": [0.1, 1]}))
    shift, noise = build_augmentations(changed, images())
    assert isinstance(shift, augmentations.PadAndCrop)
    assert shift.padding == 2
    assert noise.factors == (0.1, 1.0)
    assert build_augmentations(run, images()) == []


def test_augmentations_of_vectors_get_facts_about_the_training_items(run, items):
    shaken, gaps = build_augmentations(augmenting(run, ("GaussianNoise", {}), ("FeatureDropout", {})), items)
    torch.testing.assert_close(torch.tensor(shaken.spreads), items.inputs.std(0, correction=0))
    torch.testing.assert_close(torch.tensor(gaps.means), items.inputs.mean(0))


@pytest.mark.parametrize("name", augmentations.AUGMENTATIONS)
def test_every_augmentation_can_be_chosen_without_an_argument(run, items, name):
    chosen = images(3) if name in augmentations.IMAGES else items
    if name in augmentations.SOUNDS:
        chosen = dataclasses.replace(
            items, inputs=torch.zeros(len(items), 1, 800, dtype=torch.int16), reader=None
        )
    (built,) = build_augmentations(augmenting(run, (name, {})), chosen)
    assert type(built).__name__ == name


@pytest.mark.parametrize("name", augmentations.AUGMENTATIONS)
def test_the_arguments_of_an_augmentation_do_not_clash_with_its_name(name):
    kind = getattr(augmentations, name)
    hints = typing.get_type_hints(kind.__init__)
    for argument, parameter in inspect.signature(kind).parameters.items():
        assert argument not in {field.name for field in dataclasses.fields(Part)}
        if argument not in FILLED_IN:
            assert typed(hints[argument], parameter.default, argument) == parameter.default


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("Flipp", {}, 'run.augment[0]: there is no augmentation "Flipp"; did you mean "Flip"?'),
        ("warp", {}, 'there is no augmentation "warp"'),
        ("Flip", {"probabilty": 1.0}, 'no setting "probabilty"; did you mean "probability"?'),
        (
            "Flip",
            {"probability": "often"},
            "run.augment[0] (Flip).probability: expected a number, got 'often'",
        ),
        (
            "Flip",
            {"probability": 2.0},
            "run.augment[0] (Flip).probability: expected a number from 0 to 1, got 2",
        ),
        ("Rotation", {"degrees": [1, 2]}, "run.augment[0] (Rotation).degrees: expected a number"),
        ("Blur", {"sigma": 1.0}, "run.augment[0] (Blur).sigma: expected a list"),
        ("GaussianNoise", {}, "GaussianNoise is for vectors, these items have shape (1, 8, 8)"),
    ],
)
def test_refuses_an_augmentation_with_wrong_settings(run, name, arguments, words):
    with pytest.raises(SettingError) as refusal:
        build_augmentations(augmenting(run, (name, arguments)), images())
    assert words in str(refusal.value)


def test_refuses_to_set_what_the_items_give(run, items):
    with pytest.raises(SettingError, match='there is no setting "means"'):
        build_augmentations(augmenting(run, ("FeatureDropout", {"means": [0.0]})), items)


def test_images_for_vectors_and_images_out_of_range_are_refused(run, items):
    flip = augmenting(run, ("Flip", {}))
    with pytest.raises(SettingError, match=r"Flip is for images, these items have shape \(6,\)"):
        build_augmentations(flip, items)
    for change in (lambda x: x * 255, lambda x: x - 0.5, lambda x: x * torch.nan):
        outside = dataclasses.replace(images(), inputs=change(images().inputs))
        with pytest.raises(
            SettingError, match=r"Flip\): images are augmented in \[0, 1\], these have values"
        ):
            build_augmentations(flip, outside)
    as_bytes = dataclasses.replace(images(), inputs=(images().inputs * 255).to(torch.uint8))
    assert len(build_augmentations(flip, as_bytes)) == 1


@pytest.mark.parametrize(("rate", "coefficients"), [(16000, 30), (8000, 23)])
def test_sounds_get_a_front_end_for_their_rate(run, items, rate, coefficients):
    waves = torch.zeros(len(items), 1, 800, dtype=torch.int16)
    sounds = dataclasses.replace(items, inputs=waves, reader=SoundReader(rate=rate))
    chosen = recipes.prototypical(sounds)
    space = build_space(chosen, sounds)
    assert (space.encoder.rate, space.encoder.encoder.coefficients) == (rate, coefficients)
    assert [part.name for part in recipes.house(sounds).augment] == ["RandomChunk"]
    plain = plain_encoder(sounds)
    assert (plain.rate, plain.dimension) == (rate, 2 * coefficients)
