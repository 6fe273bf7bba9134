"""Several augmentations in a row."""

import hashlib
import itertools
from collections.abc import Sequence
from typing import Protocol, TypeGuard

import torch
from torch import Tensor

from samekind.augmentations.limits import expect_images
from samekind.augmentations.warping import warp


class Augmentation(Protocol):
    """Items to other views of them."""

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor: ...


class Geometric(Protocol):
    """An augmentation that only moves pixels. One that is ``exact`` does so without resampling if alone."""

    exact: bool

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor: ...

    def matrices(self, x: Tensor, *, generator: torch.Generator) -> Tensor: ...


@torch.no_grad()
def augment(x: Tensor, augmentations: Sequence[Augmentation], *, generator: torch.Generator) -> Tensor:
    """All of them, first to last, on items ``x`` (n, …).

    Geometric neighbours are one resampling, not one after another: the images stay sharper, and what a crop
    has cut off may come into view again when the image is turned afterwards, where there would be black.
    """
    for moving, group in itertools.groupby(augmentations, key=is_geometric):
        members = list(group)
        if not moving or all(getattr(each, "exact", False) for each in members):
            for each in members:
                x = each(x, generator=generator)
        else:
            x = warp(x, _composed(x, members, generator=generator))
    return x


def step_generator(seed: int, step: int) -> torch.Generator:
    """A fresh generator that depends on the seed and the step of a run and nothing else: a run that is
    resumed draws what it would have drawn.
    """
    digest = hashlib.sha256(f"seed {seed}, step {step}, augmentation".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)  # 63 bits: never negative


def is_geometric(augmentation: object) -> TypeGuard[Geometric]:
    """Whether an augmentation can say by matrices what it does."""
    return hasattr(augmentation, "matrices")


def _composed(x: Tensor, members: Sequence[Augmentation], *, generator: torch.Generator) -> Tensor:
    expect_images(x)
    whole = torch.eye(3, dtype=torch.float64)
    for each in members:
        assert is_geometric(each)
        whole = whole @ each.matrices(x, generator=generator)
    return whole
