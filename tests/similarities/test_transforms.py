"""What `torch.func` is at, and what `torch.vmap` maps over."""

import torch

from samekind.similarities.transforms import is_mapped, transforming


def test_says_whether_a_transform_is_at_work():
    seen = []

    def look(x):
        seen.append(transforming())
        return x.sum()

    look(torch.zeros(3))
    torch.func.grad(look)(torch.zeros(3))
    torch.vmap(look)(torch.zeros(2, 3))
    look(torch.zeros(3))
    assert seen == [False, True, True, False]


def test_says_what_is_mapped_over_through_other_transforms():
    seen = []

    def look(x, y):
        seen.append((is_mapped(x), is_mapped(y)))
        return (x * y).sum()

    x, y = torch.ones(2, 3), torch.ones(3)
    look(x, y)
    torch.vmap(look, in_dims=(0, None))(x, y)
    torch.vmap(torch.func.grad(look, argnums=1), in_dims=(0, None))(x, y)
    torch.func.grad(look)(x, y)
    assert seen == [(False, False), (True, False), (True, False), (False, False)]
