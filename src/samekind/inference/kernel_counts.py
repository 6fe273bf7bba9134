"""Counts all pairs of a set by their scores, with the GPU kernel of a learned similarity; no scores are
stored.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SettingError
from samekind.inference.embed import device_of
from samekind.measures.binning import StoredScores, expect_finite
from samekind.similarities import PairsNetwork
from samekind.similarities.kernels.pairs_kernel import PairsKernel, has_kernel
from samekind.space import MetricSpace

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


def kernel_for(space: MetricSpace, *, kind: Kind, precision: str) -> PairsKernel:
    """The kernel of a space's similarity in 16 bits. Raises SettingError if there is none."""
    if precision not in DTYPES:
        raise SettingError(f'there is no precision "{precision}"; choose one of {", ".join(DTYPES)}')
    device, similarity = device_of(space), space.similarity
    if kind != "similarity" or not isinstance(similarity, PairsNetwork) or not has_kernel(similarity, device):
        raise SettingError(
            f"precision {precision} is for the scores of a learned similarity (PairsNetwork) on a GPU, with "
            f"Triton 3.6 or newer; this is {type(similarity).__name__}, {kind}, on {device}"
        )
    return PairsKernel(similarity, dtype=DTYPES[precision])


class KernelCounter:
    """Every unordered pair of items (n, d), the earlier first, scored and counted walk by walk."""

    def __init__(self, kernel: PairsKernel, z: Tensor, labels: Tensor) -> None:
        self.kernel, self.z, self.labels = kernel, z, labels
        self.device = z.device

    def bins(self, threshold: float | None) -> tuple[Tensor, tuple[int, int] | None]:
        if threshold is not None and math.isnan(threshold):
            raise ValueError("expected a threshold to compare scores with, got NaN")
        limit = math.nan if threshold is None else threshold
        labels = (self.labels, self.labels)
        counts, errors = self.kernel.count_bins(self.z, self.z, labels, upper=True, threshold=limit)
        accepts, rejects = errors.tolist()
        return expect_finite(counts), None if threshold is None else (accepts, rejects)

    def cells(
        self, counted: Sequence[int], stored: Sequence[int], store: StoredScores, *, dtype: torch.dtype
    ) -> Tensor:
        """The same in each cell of the counted bins; no scores are stored."""
        assert not stored
        assert not store.filled[0]
        labels = (self.labels, self.labels)
        return self.kernel.count_cells(self.z, self.z, labels, counted, dtype=dtype, upper=True)
