"""Are two collections from one source? A two-sample test with the learned similarity as kernel."""

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import DataError, SettingError, SpaceError
from samekind.inference.embed import NOT_FINITE
from samekind.inference.kernels import Spectrum, Symmetrise, kernel_blocks, kernel_matrix, semidefinite
from samekind.measures import TwoSample, two_sample_test
from samekind.measures.kernels import two_sample_in_blocks
from samekind.space import MetricSpace


def two_sample(
    space: MetricSpace,
    first: Tensor,
    second: Tensor,
    *,
    kind: Kind = "similarity",
    symmetrise: Symmetrise = "max",
    spectrum: Spectrum = "clip",
    permutations: int = 1000,
    seed: int = 0,
) -> TwoSample:
    """The squared maximum mean discrepancy of two sets of embeddings, (n, d) and (m, d), and its p-value.

    The p-value is valid with any similarity, but its power is not the same. A learned one has negative
    eigenvalues, along which a difference lowers the discrepancy. ``"clip"`` removes them from the centred
    kernel, and changes nothing for a semidefinite one or for a negative distance (the energy distance); it
    holds the kernel and takes n³ time. ``"shift"`` changes the diagonal alone, which the discrepancy does not
    use: the kernel is never held, but a difference may be missed, or make the discrepancy negative.
    """
    if min(len(first), len(second)) < 2:
        raise DataError(f"a two-sample test needs two items on each side; got {len(first)} and {len(second)}")
    if permutations < 1:
        raise SettingError(f"a two-sample test needs one permutation or more; got {permutations}")
    both = torch.cat([first, second])
    in_first = torch.arange(len(both)) < len(first)
    if spectrum == "shift":
        walk = kernel_blocks(space, both, kind=kind, symmetrise=symmetrise)
        try:
            return two_sample_in_blocks(walk, in_first, permutations=permutations, seed=seed)
        except ValueError as error:
            raise SpaceError(NOT_FINITE) from error
    kernel = kernel_matrix(space, both, kind=kind, symmetrise=symmetrise)
    clipped = semidefinite(_centred(kernel), spectrum).values
    return two_sample_test(clipped, in_first, permutations=permutations, seed=seed)


def _centred(kernel: Tensor) -> Tensor:
    """The centred kernel, which has the same discrepancy."""
    return kernel - kernel.mean(0) - kernel.mean(1, keepdim=True) + kernel.mean()
