"""A targeted attack towards the likeliest wrong outcomes."""

import torch

from samekind.attacks import APGD, PGD, PICTURES, Aimed, Linf, Logits, Several, logit_ratio


def test_every_likely_outcome_is_tried(trained):
    model, x, labels = trained
    goal = Logits(model, labels)
    attack = PGD(Linf(0.1), steps=10, random_start=False)
    one = Aimed(attack, count=1)(goal, x, limits=PICTURES)
    all_of_them = Aimed(attack)(goal, x, limits=PICTURES)
    assert (one.succeeded <= all_of_them.succeeded).all()
    with torch.no_grad():
        second = model(x).topk(2, dim=1).indices[:, 1]
    right = model(x).argmax(1) == labels
    aimed = attack(Logits(model, labels, target=second), x, limits=PICTURES)
    assert torch.equal(one.x[right], aimed.x[right])


def test_a_target_of_the_goal_is_kept(trained):
    model, x, labels = trained
    goal = Logits(model, labels, target=(labels + 1) % 4)
    attack = PGD(Linf(0.2), steps=10, random_start=False)
    assert torch.equal(Aimed(attack)(goal, x, limits=PICTURES).x, attack(goal, x, limits=PICTURES).x)


def test_it_adds_to_a_sequence(trained):
    model, x, labels = trained
    goal, region = Logits(model, labels), Linf(0.1)
    plain = APGD(region, steps=10)(goal, x, limits=PICTURES)
    both = Several((APGD(region, steps=10), Aimed(APGD(region, steps=10, objective=logit_ratio))))
    assert both(goal, x, limits=PICTURES).succeeded.sum() >= plain.succeeded.sum()
