"""The question of certificates, with the head and the number of items that were asked for."""

import torch

from samekind.data import clusters
from samekind.evaluation.smoothing import Smoothing
from samekind.questions import certify
from samekind.recipes import prototypical
from samekind.training import build_space


def test_it_asks_the_head_about_so_many_items():
    items = clusters(classes=3, items=6, dimension=4, seed=0)
    torch.manual_seed(0)
    space = build_space(prototypical(items.shape), items).eval()
    answer = certify(space, items, Smoothing(0.1, draws=10), head="auxiliary", limit=6)
    assert (answer.head, len(answer.radii), answer.name) == ("auxiliary", 6, items.name)
