"""HopSkipJump: answers alone, near the least change, no further than the peer."""

import pytest
import torch
from torch import nn

from samekind.attacks import PICTURES, HopSkipJump, Limits, Logits


class Answers(nn.Module):
    """One-hot answers: neither scores nor gradients."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        logits = self.model(x.detach()).detach()
        return nn.functional.one_hot(logits.argmax(1), logits.shape[1]).to(x)


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_the_answers_are_all_it_needs(linear, norm):
    model, x, labels, least = linear
    attack = HopSkipJump(norm=norm, steps=15)
    by_scores = attack(Logits(model, labels), x, limits=Limits(-5.0, 5.0))
    by_answers = attack(Logits(Answers(model), labels), x, limits=Limits(-5.0, 5.0))
    assert torch.equal(by_scores.x, by_answers.x)
    assert by_answers.succeeded.all()
    ratio = by_answers.distance / least(2 if norm == "l2" else 1)
    assert ratio.min() >= 1
    assert ratio.median() < (1.15 if norm == "l2" else 1.5)


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_it_is_about_as_near_as_the_peer(pictures, norm):
    foolbox = pytest.importorskip("foolbox")
    model, x, labels = pictures[0], pictures[1][:12], pictures[2][:12]
    ours = HopSkipJump(norm=norm, steps=8)(Logits(model, labels), x, limits=PICTURES)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        peer = foolbox.attacks.HopSkipJumpAttack(steps=8, constraint=norm)
        _, theirs, _ = peer(foolbox.PyTorchModel(model, bounds=(0, 1)), x, labels, epsilons=None)
    distance = (theirs - x).flatten(1).norm(p=2 if norm == "l2" else torch.inf, dim=1)
    assert ours.succeeded.all()
    assert ours.distance.median() <= 1.1 * distance.median()


def test_without_a_range_it_begins_further_and_further_away(linear):
    model, x, labels, _ = linear
    attacked = HopSkipJump(steps=2)(Logits(model, labels), x, limits=Limits())
    assert attacked.succeeded.all()


def test_where_no_start_succeeds_nothing_changes():
    class Always(nn.Module):
        def forward(self, x):
            return torch.stack([torch.ones_like(x[:, 0]), torch.zeros_like(x[:, 0])], 1)

    x = torch.full((3, 4), 0.5)
    attacked = HopSkipJump(starts=4)(Logits(Always(), torch.zeros(3).long()), x, limits=PICTURES)
    assert not attacked.succeeded.any()
    assert torch.equal(attacked.x, x)
    assert (attacked.queries == 2 + 4).all()
