"""Every weight that learns is in one group, at its rate."""

import pytest
import torch

from samekind.data import Items
from samekind.encoders.freezing import hold
from samekind.errors import SettingError
from samekind.training import build_space, loop, train
from samekind.training.build import build_optimiser
from samekind.training.parameter_groups import parameter_groups


@pytest.fixture
def images(items):
    inputs = torch.rand(48, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    return Items(inputs, items.labels, items.classes, "images")


def of_images(run, *settings, **encoder):
    table = {"name": "Conv4", "dimension": 4, **encoder}
    return run.update({"space": {"encoder": table}}).override(settings)


def rates_of(run, space):
    """The rate of every weight that has one, by the name of the weight."""
    names = {weight: name for name, weight in space.named_parameters()}
    groups = parameter_groups(run.optimiser, space)
    held = [(names[weight], group["lr"]) for group in groups for weight in group["params"]]
    assert len(held) == len(dict(held))  # none twice
    return dict(held)


@pytest.mark.parametrize("standardise", ["none", "channels"])
def test_a_stage_has_its_rate_and_the_rest_that_of_the_encoder(run, images, standardise):
    settings = ["optimiser.rate=0.5", "optimiser.rates.encoder=0.1", "optimiser.rates.encoder.embedding=1"]
    settings += ["optimiser.rates.encoder.layer1=0", f"space.standardise={standardise}"]
    changed = of_images(run, *settings)
    space = build_space(changed, images)
    rates = rates_of(changed, space)
    assert set(rates) == {name for name, _ in space.named_parameters()}
    stages = {
        weight: name
        for name, modules in space.encoder.stages().items()
        for m in modules
        for weight in m.parameters()
    }
    expected = {"layer1": 0.0, "embedding": 1.0}
    for name, weights in space.named_parameters():
        if name.startswith("encoder."):
            assert rates[name] == expected.get(stages[weights], 0.1), name
        else:
            assert rates[name] == 0.5, name


def test_groups_are_in_the_order_of_the_parts_and_named(run, images):
    changed = of_images(run, "optimiser.rates.auxiliary=1", "optimiser.rates.encoder.layer2=0.1")
    groups = parameter_groups(changed.optimiser, build_space(changed, images))
    assert [group["name"] for group in groups] == ["encoder.layer2", "encoder", "similarity", "auxiliary"]


def test_all_stages_by_name_leave_the_encoder_without_a_group(run, images):
    names = list(build_space(of_images(run), images).encoder.stages())
    changed = of_images(run, *[f"optimiser.rates.encoder.{name}=0.1" for name in names])
    groups = parameter_groups(changed.optimiser, build_space(changed, images))
    assert [group["name"] for group in groups][: len(names)] == [f"encoder.{name}" for name in names]
    assert "encoder" not in [group["name"] for group in groups]


def test_rates_are_written_down_with_dots_in_a_file_too(run):
    expected = {"encoder": 0.1, "encoder.stem": 0.01}
    assert run.update({"optimiser": {"rates": expected}}).optimiser.rates == expected
    nested = run.update({"optimiser": {"rates": {"encoder": {"stem": 0.01, "stage1": 1}}}})
    assert nested.optimiser.rates == {"encoder.stem": 0.01, "encoder.stage1": 1.0}
    changed = run.override(["optimiser.rates.encoder=0.1", "optimiser.rates.encoder.stem=0.01"])
    assert changed.optimiser.rates == expected
    assert type(run).from_dict(changed.to_dict()) == changed


def test_refuses_a_negative_rate_by_its_whole_name(run):
    with pytest.raises(
        SettingError, match=r"run\.optimiser\.rates\.encoder\.stem: expected a number, got 'x'"
    ):
        run.override(["optimiser.rates.encoder.stem=x"])
    with pytest.raises(SettingError, match=r"run\.optimiser\.rates\.encoder\.stem: .* \(0 or more\); got -1"):
        run.override(["optimiser.rates.encoder.stem=-1"])


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ("encoder.laier1", ['the encoder has no stage "laier1"', 'did you mean "layer1"']),
        ("encodr.layer1", ['no part "encodr"', 'did you mean "encoder"']),
        ("similarity.layer1", ["only the encoder has stages", 'use "similarity"']),
    ],
)
def test_an_unknown_stage_is_answered_with_the_nearest(run, images, rate, words):
    changed = of_images(run, f"optimiser.rates.{rate}=0.1")
    with pytest.raises(SettingError) as refusal:
        build_optimiser(changed.optimiser, build_space(changed, images))
    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize("standardise", ["none", "features"])
def test_an_encoder_without_stages_says_so(run, items, standardise):
    changed = run.override(["optimiser.rates.encoder.stem=0.1", f"space.standardise={standardise}"])
    with pytest.raises(SettingError, match=r'MLP has no stages, so no "stem"; use "encoder"'):
        build_optimiser(changed.optimiser, build_space(changed, items))


@pytest.mark.parametrize("freeze", ["stem", "features"])
def test_frozen_weights_are_in_no_group_and_stay(run, images, tmp_path, monkeypatch, freeze):
    settings = ["epochs=1", "optimiser.weight_decay=0.1", "optimiser.rates.encoder.embedding=1"]
    changed = of_images(run, *settings)

    def frozen_space(run, items, *, encoder=None):
        space = build_space(run, items)
        hold(space.encoder.stages(), freeze=freeze)
        return space

    with torch.random.fork_rng():
        torch.manual_seed(changed.seed)
        before = frozen_space(changed, images)
    weights = dict(before.named_parameters())
    frozen = {name for name, weight in weights.items() if not weight.requires_grad}
    learning = set(rates_of(changed, before))
    assert any(name.startswith("encoder.layer1") for name in frozen)
    assert learning == set(weights) - frozen
    monkeypatch.setattr(loop, "build_space", frozen_space)
    space = train(changed, images, folder=tmp_path, validate=lambda space: {"eer": 0.5})
    for name, weight in space.named_parameters():
        assert torch.equal(weight, weights[name]) == (name in frozen), name


@pytest.mark.parametrize(("freeze", "rate"), [("stem", "layer1"), ("features", "layer4"), ("all", None)])
def test_refuses_a_rate_for_frozen_weights(run, images, freeze, rate):
    name = f"encoder.{rate}" if rate else "encoder"
    changed = of_images(run, f"optimiser.rates.{name}=0.1", "optimiser.rates.prototypes=1")
    space = build_space(changed, images)
    parameter_groups(changed.optimiser, space)  # running averages have nothing to learn, and may have a rate
    if freeze == "all":
        space.encoder.requires_grad_(False)
    else:
        hold(space.encoder.stages(), freeze=freeze)
    with pytest.raises(SettingError, match=rf'rates: "{name}" has a rate, but all of it is frozen; leave'):
        parameter_groups(changed.optimiser, space)


def test_a_part_of_a_stage_has_its_rate_whichever_comes_first(run, images):
    """The convolution of a stage, the stage, and the encoder it is in: the innermost rate counts."""
    rates = ["encoder=0.1", "encoder.layer2=0.2", "encoder.layer2.0=0.3"]
    for order in (rates, rates[::-1]):
        changed = of_images(run, *(f"optimiser.rates.{rate}" for rate in order), "optimiser.rate=0.5")
        actual = rates_of(changed, build_space(changed, images))
        for name, rate in actual.items():
            expected = 0.1 if name.startswith("encoder.") else 0.5
            if name.startswith("encoder.layer2."):
                expected = 0.3 if name.startswith("encoder.layer2.0.") else 0.2
            assert rate == expected, name


def test_a_part_that_a_stage_lacks_is_answered_with_the_nearest(run, images):
    changed = of_images(run, "optimiser.rates.encoder.layer2.7=0.1")
    with pytest.raises(SettingError, match=r'the stage "layer2" of the encoder has no part "7"; Known: 0, 1'):
        parameter_groups(changed.optimiser, build_space(changed, images))


def test_a_space_in_which_nothing_learns_is_refused(run, images):
    space = build_space(of_images(run), images).requires_grad_(False)
    with pytest.raises(SettingError, match="nothing in the space learns"):
        parameter_groups(run.optimiser, space)


def stage_of(name):
    """The stage of an attended encoder that a weight belongs to, by the weight's name."""
    inside = name.removeprefix("encoder.").removeprefix("encoder.").split(".")
    return inside[1] if inside[0] == "backbone" else "embedding" if inside[0] == "embedding" else "attention"


@pytest.mark.parametrize("standardise", ["none", "channels"])
def test_attention_and_embedding_have_their_rates_and_the_backbone_its_own(
    run, images, tmp_path, standardise
):
    own = {"layer1": 0.0, "attention": 0.01, "embedding": 0.1}
    settings = ["epochs=1", "optimiser.rate=0.5", "optimiser.rates.encoder=1e-3"]
    settings += [f"optimiser.rates.encoder.{stage}={rate}" for stage, rate in own.items()]
    table = {"name": "Attended", "dimension": 4, "second": True, "backbone": {"name": "Conv4"}}
    changed = run.update({"space": {"encoder": table, "standardise": standardise}}).override(settings)
    with torch.random.fork_rng():
        torch.manual_seed(changed.seed)
        before = build_space(changed, images)
    weights = {name: weight for name, weight in before.named_parameters() if name.startswith("encoder.")}
    rates = rates_of(changed, before)
    assert {name: rates[name] for name in weights} == {
        name: own.get(stage_of(name), 1e-3) for name in weights
    }
    assert {stage_of(name) for name in weights} == {"layer2", "layer3", "layer4", *own}
    after = dict(
        train(changed, images, folder=tmp_path, validate=lambda space: {"eer": 0.5}).named_parameters()
    )
    for name, weight in weights.items():
        assert torch.equal(after[name], weight) == (stage_of(name) == "layer1"), name


def of_timm(run, *settings):
    table = {"name": "Backbone", "library": "timm", "network": "tiny", "dimension": 4}
    return run.update({"space": {"encoder": table}}).override(["optimiser.rate=0.5", *settings])


@pytest.mark.usefixtures("timm")
def test_what_came_with_weights_learns_at_a_share_of_the_rate(run, images):
    changed = of_timm(run, "optimiser.pretrained=0.1")
    space = build_space(changed, images)
    rates = rates_of(changed, space)
    assert set(rates) == {name for name, _ in space.named_parameters()}
    for name, rate in rates.items():
        assert rate == pytest.approx(0.05 if name.startswith("encoder.module.") else 0.5), name
    groups = parameter_groups(changed.optimiser, space)
    marked = [(group["name"], group.get("pretrained", False)) for group in groups]
    assert marked[:2] == [("encoder", False), ("encoder, pretrained", True)]
    assert not any(pretrained for _, pretrained in marked[2:])


@pytest.mark.usefixtures("timm")
def test_a_rate_by_name_wins_over_the_share(run, images):
    changed = of_timm(run, "optimiser.pretrained=0.1", "optimiser.rates.encoder.module.norm=0.3")
    rates = rates_of(changed, build_space(changed, images))
    assert rates["encoder.module.norm.weight"] == 0.3
    assert rates["encoder.module.stem.weight"] == 0.05
    assert rates["encoder.embedding.weight"] == 0.5


def test_a_share_needs_something_pretrained(run, images):
    changed = of_images(run, "optimiser.pretrained=0.1")
    with pytest.raises(SettingError, match="Conv4 came without learned weights; leave it at 1"):
        parameter_groups(changed.optimiser, build_space(changed, images))


@pytest.mark.usefixtures("timm")
def test_new_layers_go_first(run, images, validate, tmp_path):
    """After one of two epochs the pretrained weights are those the network came with, and then they move."""
    first = of_timm(
        run, "optimiser.pretrained=0.1", "schedule.new_first=1", "epochs=1", "optimiser.rate=0.01"
    )
    second = first.override(["epochs=2"])

    def by_epoch(space):  # the later, the better
        by_epoch.done += 1
        return {"eer": 1 - by_epoch.done / 10}

    moved = []
    for place, changed in enumerate((first, second)):
        by_epoch.done = 0
        torch.manual_seed(0)
        encoder = train(changed, images, folder=tmp_path / str(place), validate=by_epoch).encoder
        moved.append(not (encoder.module.stem.weight == 0.5).all())
    assert moved == [False, True]
