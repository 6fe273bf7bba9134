"""A surrogate is attacked, the victim judged."""

import torch

from samekind.attacks import PGD, PICTURES, Linf, Logits, Raised, Several, Transfer


def test_the_model_itself_is_the_best_surrogate(trained):
    model, x, labels = trained
    goal = Logits(model, labels)
    pgd = PGD(Linf(0.1), steps=10, random_start=False)
    own = Transfer(pgd, goal)(goal, x, limits=PICTURES)
    assert torch.equal(own.succeeded, pgd(goal, x, limits=PICTURES).succeeded)
    blind = Logits(torch.nn.Sequential(torch.nn.Linear(6, 4)).double(), labels)
    other = Transfer(pgd, Raised(blind))(goal, x, limits=PICTURES)
    assert other.succeeded.sum() < own.succeeded.sum()


def test_a_surrogate_knows_its_items_inside_a_sequence(trained):
    """The surrogate is about the whole batch, however few items are left."""
    model, x, labels = trained
    goal = Logits(model, labels)
    pgd = PGD(Linf(0.1), steps=10, random_start=False)
    first = PGD(Linf(0.1), steps=1, step=0.03)
    both = Several((first, Transfer(pgd, goal)))(goal, x, limits=PICTURES)
    assert (both.succeeded >= pgd(goal, x, limits=PICTURES).succeeded).all()
