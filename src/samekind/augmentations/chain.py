"""Several augmentations in a row."""

import hashlib
import itertools
from collections.abc import Sequence
from typing import Protocol, TypeGuard

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.augmentations.limits import expect_images
from samekind.augmentations.warping import warp


class Augmentation(Protocol):
    """Items to other views of them."""

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor: ...


class AmongClasses(Protocol):
    """An augmentation that mixes items of a batch, and must know which are of one class."""

    among_classes: bool

    def __call__(self, x: Tensor, *, generator: torch.Generator, labels: Tensor | None = None) -> Tensor: ...


class Geometric(Protocol):
    """An augmentation that only moves pixels, by ``matrices`` (n, 3, 3) for `warp`. An ``exact`` one does so
    without resampling if alone.
    """

    exact: bool

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor: ...

    def matrices(self, x: Tensor, *, generator: torch.Generator) -> Tensor: ...


@torch.no_grad()
def augment(
    x: Tensor,
    augmentations: Sequence[Augmentation],
    *,
    generator: torch.Generator,
    channels: int | None = None,
    labels: Tensor | None = None,
) -> Tensor:
    """Items ``x`` (n, …) with ``labels`` (n,) after all augmentations, first to last. If they have more
    ``channels`` than these, the others stay as they are, at the size that the first ones get.

    Geometric neighbours make one resampling together: the images stay sharper, and a rotation after a crop
    shows what the crop has cut off instead of black corners.
    """
    if channels is not None and channels < x.shape[1]:
        changed = augment(x[:, :channels], augmentations, generator=generator, labels=labels)
        return torch.cat([changed, F.interpolate(x[:, channels:], changed.shape[2:])], dim=1)
    for moving, group in itertools.groupby(augmentations, key=is_geometric):
        members = list(group)
        if not moving or all(getattr(member, "exact", False) for member in members):
            for augmentation in members:
                if is_among_classes(augmentation):
                    x = augmentation(x, generator=generator, labels=labels)
                else:
                    x = augmentation(x, generator=generator)
        else:
            sizes = [size for member in members if (size := getattr(member, "size", None)) is not None]
            x = warp(x, _composed(x, members, generator=generator), size=sizes[-1] if sizes else None)
    return x


def step_generator(seed: int, step: int) -> torch.Generator:
    """A new generator that depends only on the seed and the step of a run, also of a resumed one."""
    digest = hashlib.sha256(f"seed {seed}, step {step}, augmentation".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)  # 63 bits: never negative


def is_among_classes(augmentation: object) -> TypeGuard[AmongClasses]:
    """Whether an augmentation takes labels."""
    return getattr(augmentation, "among_classes", False)


def is_geometric(augmentation: object) -> TypeGuard[Geometric]:
    """Whether an augmentation has matrices."""
    return hasattr(augmentation, "matrices")


def _composed(x: Tensor, members: Sequence[Augmentation], *, generator: torch.Generator) -> Tensor:
    expect_images(x)
    whole = torch.eye(3, dtype=torch.float64)
    for augmentation in members:
        assert is_geometric(augmentation)
        whole = whole @ augmentation.matrices(x, generator=generator)
    return whole
