"""The function that keeps the contract for all attacks."""

import torch

from samekind.attacks import PICTURES, Limits, Logits, attack, carried_out
from samekind.attacks.attack import Attacked, Point, drawn_seed


def far(x, clean):
    return (x - clean).flatten(1).abs().sum(1)


def test_blocks_give_what_the_whole_gives(trained, monkeypatch):
    model, x, labels = trained

    def inside(goal, clean, limits, generator):
        noise = torch.rand(1, 6, generator=generator, dtype=clean.dtype)
        return Point(clean + noise - 0.5, torch.full((len(clean),), 3))

    whole = carried_out(inside, Logits(model, labels), x, limits=PICTURES, generator=None, distance=far)
    monkeypatch.setattr(attack, "BLOCK", 7)
    parts = carried_out(inside, Logits(model, labels), x, limits=PICTURES, generator=None, distance=far)
    assert torch.equal(whole.x, parts.x)
    assert torch.equal(whole.queries, parts.queries)
    assert set(whole.queries.tolist()) == {1, 5}
    assert whole.x.min() >= 0


def test_the_radius_is_infinite_where_the_attack_failed():
    attacked = Attacked(
        torch.zeros(2, 1), torch.tensor([True, False]), torch.tensor([0.5, 2.0]), torch.ones(2).long()
    )
    assert attacked.radius.tolist() == [0.5, torch.inf]


def test_a_generator_moves_on_by_one_draw(trained):
    model, x, labels = trained
    generator = torch.Generator().manual_seed(1)
    first, second = drawn_seed(generator), drawn_seed(generator)
    generator.manual_seed(1)
    still = lambda goal, clean, limits, generator: Point(clean, torch.zeros(len(clean)).long())  # noqa: E731
    carried_out(still, Logits(model, labels), x, limits=Limits(), generator=generator, distance=far)
    assert drawn_seed(generator) == second != first
    assert drawn_seed(None) == 0
