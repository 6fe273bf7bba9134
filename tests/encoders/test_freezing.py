"""What training leaves as it is."""

import pytest
import torch
from torch import nn

from samekind.encoders.freezing import (
    begin,
    expect_choices,
    frozen_as_drawn,
    hold,
    settle,
    train_unless_frozen,
)
from samekind.errors import SettingError


def stages():
    return {
        "stem": [nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), nn.Dropout()],
        "body": [nn.Linear(2, 2), nn.BatchNorm1d(2)],
        "embedding": [nn.Linear(2, 2)],
    }


def learning(parts):
    return {
        name
        for name, modules in parts.items()
        if any(parameter.requires_grad for module in modules for parameter in module.parameters())
    }


@pytest.mark.parametrize(
    ("freeze", "left"),
    [("none", {"stem", "body", "embedding"}), ("stem", {"body", "embedding"}), ("features", {"embedding"})],
)
def test_frozen_stages_do_not_learn_and_stay_in_evaluation_mode(freeze, left):
    parts = stages()
    hold(parts, freeze=freeze)
    settle(parts, batch_norm="train", freeze=freeze)
    assert learning(parts) == left
    for name, modules in parts.items():
        modes = {value.training for module in modules for value in module.modules()}
        assert modes == {name in left}


def test_frozen_batch_normalisation_keeps_its_statistics_and_learns_its_scale():
    parts = stages()
    settle(parts, batch_norm="frozen", freeze="none")
    linear, norm = parts["body"]
    norm(linear(torch.randn(8, 2))).square().sum().backward()
    assert norm.num_batches_tracked == 0
    assert torch.equal(norm.running_mean, torch.zeros(2))
    assert norm.weight.grad.any()
    assert linear.training
    assert parts["stem"][1].training


@pytest.mark.parametrize("wrong", [{"batch_norm": "eval"}, {"freeze": "all"}])
def test_refuses_other_words(wrong):
    (name, value), *_ = wrong.items()
    with pytest.raises(SettingError, match=f'{name} is .* got "{value}"'):
        expect_choices(**{"batch_norm": "train", "freeze": "none", **wrong})


class Two(nn.Module):
    """A network of two stages, as those of the room are made."""

    train = train_unless_frozen

    def __init__(self, *, batch_norm="train", freeze="none", pretrained=False):
        super().__init__()
        self.batch_norm, self.freeze = batch_norm, freeze
        self.stem = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        self.embedding = nn.Linear(2, 2)
        begin(self, pretrained=pretrained)

    def stages(self):
        return {"stem": [self.stem], "embedding": [self.embedding]}


def test_a_network_is_frozen_from_its_beginning_and_after_every_change_of_mode():
    network = Two(freeze="stem")
    assert learning(network.stages()) == {"embedding"}
    for _ in range(2):
        assert network.training
        assert network.embedding.training
        assert not network.stem.training
        assert network.eval().train() is network
    assert not network.eval().embedding.training


def test_a_network_within_another_stays_frozen():
    around = nn.Sequential(Two(batch_norm="frozen")).eval().train()
    assert not around[0].stem[1].training
    assert around[0].stem[0].training


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        ({}, None),
        ({"freeze": "stem"}, 'freeze = "stem"'),
        ({"freeze": "features"}, 'freeze = "features"'),
        ({"batch_norm": "frozen"}, 'batch_norm = "frozen"'),
    ],
)
def test_only_what_was_drawn_and_is_frozen_is_named(settings, setting):
    expected = None if setting is None else ("Two", setting)
    for wrap in (lambda module: module, nn.Sequential):
        assert frozen_as_drawn(wrap(Two(**settings))) == expected
        assert frozen_as_drawn(wrap(Two(**settings, pretrained=True))) is None
    assert frozen_as_drawn(nn.Linear(2, 2)) is None


def test_statistics_that_do_not_exist_cannot_be_those_that_were_drawn():
    network = Two(batch_norm="frozen")
    network.stem = nn.Linear(2, 2)
    assert frozen_as_drawn(network) is None
