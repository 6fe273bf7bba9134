"""BIM is PGD that begins at the item."""

import torch

from samekind.attacks import BIM, PGD, PICTURES, Linf, Logits


def test_it_is_pgd_from_the_item(trained):
    model, x, labels = trained
    goal = Logits(model, labels)
    bim = BIM(Linf(0.05), steps=6, step=0.02, classic=True)(goal, x, limits=PICTURES)
    pgd = PGD(Linf(0.05), steps=6, step=0.02, classic=True, random_start=False)(goal, x, limits=PICTURES)
    assert torch.equal(bim.x, pgd.x)
    assert BIM(Linf(0.05)).distance(bim.x, x).max() <= 0.05 + 1e-12
