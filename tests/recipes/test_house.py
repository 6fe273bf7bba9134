"""The rules of the house recipe: from data to a run."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from samekind.data import Items, clusters
from samekind.data.media import headings
from samekind.recipes import encoder, house, ladder
from samekind.recipes.house import FEWEST, MOST, is_pretrained, relatives, untrained
from samekind.training import Part


def pictures(count, shape=(3, 64, 64)):
    return Items(torch.zeros(count, *shape, dtype=torch.uint8), torch.arange(count) % 4, tuple("abcd"), "x")


@pytest.fixture
def packages(monkeypatch):
    """The pretrained network is at hand, or is not."""
    return lambda there: monkeypatch.setattr(encoder, "find_spec", lambda _: object() if there else None)


def test_pretrained_features_are_trained_themselves(packages):
    packages(True)
    run = house((3, 224, 224))
    assert is_pretrained(run)
    views = run.space.encoder.arguments
    assert (views["size"], views["mirror"]) == (352, True)
    assert "dimension" not in views["encoder"]
    assert views["encoder"]["pooling"] == "average+maximum"
    assert views["encoder"]["batch_norm"] == "frozen"
    assert run.terms["proxies"].arguments == {"margin": 0.1, "sharpness": 32.0}
    assert (run.optimiser.name, run.optimiser.rate, run.epochs, run.keep) == ("AdamW", 3e-4, 10, "last")
    assert [part.name for part in run.augment] == ["RandomResizedCrop", "Flip"]


@pytest.mark.parametrize(
    ("shape", "network"),
    [((1, 28, 28), "SmallConvnet"), ((3, 32, 32), "SmallConvnet"), ((3, 84, 84), "Conv4"), ((6,), "MLP")],
)
def test_other_items_get_a_small_network(packages, shape, network):
    packages(False)
    run = house(shape)
    assert not is_pretrained(run)
    assert run.space.encoder.name == network
    assert run.space.standardise == ("features" if len(shape) == 1 else "none")
    assert ("Flip" in [part.name for part in run.augment]) == (shape[0] == 3)


@pytest.mark.parametrize("count", [20, 540, 5864, 100_000])
def test_few_items_make_smaller_batches_and_more_epochs(packages, count):
    packages(True)
    run = house(pictures(count))
    size = run.batches.arguments["size"]
    assert FEWEST <= size <= MOST
    steps = run.epochs * (count // size or 1)
    assert steps >= 200 or run.epochs == 30
    assert run.epochs == 10 or steps < 300
    # The rate rises over 50 steps, or a tenth of all.
    assert run.schedule.warmup_epochs * (count // size or 1) <= min(50, steps / 10) + 0.1


def test_the_start_of_the_ladder_is_the_network_untrained_or_the_raw_input(packages):
    packages(True)
    run = house((3, 224, 224))
    items = clusters(classes=3, items=4, dimension=5)
    assert untrained(run, items).space.encoder == run.space.encoder
    packages(False)
    start = untrained(house(items), items)
    assert (start.space.encoder.name, start.space.standardise) == ("Unchanged", "features")
    assert start.space.prototypes.name == "SupportMeans"


def test_networks_side_by_side_are_pretrained_as_well(packages):
    run = house((3, 224, 224))
    one = run.space.encoder.arguments["encoder"]
    several = Part("Views", {"encoder": {"name": "SideBySide", "encoders": [one, {**one, "variant": 1}]}})
    assert is_pretrained(replace(run, space=replace(run.space, encoder=several)))
    small = Part("SideBySide", {"encoders": [{"name": "Conv4", "dimension": 8}]})
    assert not is_pretrained(replace(run, space=replace(run.space, encoder=small)))


def test_relatives_are_the_larger_variants_of_the_same_network(packages, monkeypatch):
    packages(True)
    run = house((3, 128, 128))
    views = run.space.encoder.arguments
    expected = [{**views, "encoder": {**views["encoder"], "variant": variant}} for variant in (1, 2)]
    assert [other.space.encoder.arguments for other in relatives(run)] == expected
    assert relatives(house((1, 28, 28))) == []
    monkeypatch.setattr(encoder, "find_spec", lambda name: None if "lite2" in name else object())
    assert relatives(run) == []


def test_the_page_of_rules_has_the_numbers_of_the_code(packages):
    """docs/house.md is what a user reads: a rule that changes here changes there."""
    packages(True)
    page = " ".join((Path(__file__).parents[2] / "docs/house.md").read_text(encoding="utf-8").split())

    rules = sys.modules["samekind.recipes.house"]  # its name in the room is that of the function

    def short(number):
        return f"{number:.0e}".replace("e-0", "e-")

    for pace in (rules.PRETRAINED, rules.SCRATCH):
        assert f"AdamW, rate {short(pace.rate)}, {pace.epochs} epochs, or as many up to {pace.most}" in page
        assert f"as make {pace.steps:,} steps" in page
        assert f"at {short(pace.proxies)} beside" in page
    margin, sharpness = (rules.PROXIES.arguments[name] for name in ("margin", "sharpness"))
    assert f"Proxy-Anchor (margin {margin}, sharpness {sharpness:g})" in page
    assert f"a tenth of the items, {rules.FEWEST} to {rules.MOST}" in page
    assert f"in the first {rules.WARM_UP} steps" in page
    assert f"up to {rules.SMALL} pixels, `Conv4` below {rules.MEDIUM}" in page
    assert f"fewer than {rules.FEW_CLASSES} classes" in page
    assert f"From {ladder.CLASSES_FOR_NETWORK} classes on" in page
    assert (
        f"above {headings.SMALL} pixels that is {headings.LEAST} at least and {headings.LARGEST} at most"
        in page
    )
    encoder = house((3, 224, 224)).space.encoder.arguments
    assert f"({encoder['size']} for 224 pixels)" in page
    assert f"stochastic depth {encoder['encoder']['stochastic_depth']}" in page
