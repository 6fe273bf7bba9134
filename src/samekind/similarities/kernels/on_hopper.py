"""The launch of the kernel for Hopper GPUs, for a network in use and for the scores in training."""

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from samekind.similarities.kernels.gpu import current_gpu, multiprocessors

Epilogue = Literal["scores", "best", "log_sum_exp", "bins", "cells"]

#: Columns of a tile; the width of a layer is padded to a multiple of it.
PIECE = 64
#: Units of a layer that the registers of a Hopper GPU hold.
WIDEST = 256


class Dropout(NamedTuple):
    """Which units of which pairs are dropped: those with a small product of the unit's and the pair's number.

    ``factors`` (width,) are the units' numbers, ``seed`` is the first pair's, which is mixed; both have 32
    bits. The highest 24 bits of the product are compared with ``threshold``.
    """

    factors: Tensor
    seed: int
    threshold: int


def takes(device: torch.device, *, hidden: int, depth: int, slope: float) -> bool:
    """Whether the kernel takes this GPU (H100 or H200) and such a network."""
    fits = hidden <= WIDEST and depth > 1 and 0 <= slope <= 1
    # AMD's GPUs are "cuda" in PyTorch, too, and some have capability 9.
    nvidia = device.type == "cuda" and torch.version.hip is None
    return fits and nvidia and torch.cuda.get_device_capability(device)[0] == 9


def in_pieces(weights: Tensor) -> Tensor:
    """Weights (layers, width, width) as pieces (64 outputs, 64 inputs), one after another in the order in
    which they are used: (layers x pieces x pieces x 64, 64).
    """
    layers, width, _ = weights.shape
    split = weights.view(layers, width // PIECE, PIECE, width // PIECE, PIECE)
    return split.transpose(2, 3).reshape(-1, PIECE).contiguous()


def score_tiles(
    rows: Tensor, columns: Tensor, weights: Tensor, given: tuple[Tensor, ...], numbers: tuple[float, ...],
    *, epilogue: Epilogue, upper: bool = False, dropout: Dropout | None = None,
) -> None:  # fmt: skip
    """Every row (n, width) against every column (m, width), both first layers' halves, with the weights of
    the other layers in pieces.

    ``given`` are the biases (layers, width), the last layer's weights (width,), where the result goes, and
    what epilogues read; ``numbers`` slope, offset, scale and threshold.
    """
    from samekind.similarities.kernels import pairs_kernel_hopper as hopper

    layout = hopper.piece_layout(weights.dtype)
    described = [
        hopper.TensorDescriptor.from_tensor(tensor, [PIECE, PIECE], layout) for tensor in (columns, weights)
    ]
    n, m, pieces = len(rows), len(columns), rows.shape[1] // PIECE
    strips = -(-m // PIECE) * -(-n // hopper.STRIP.value)
    programs = min(multiprocessors(rows.device), strips)
    # An argument that is not read must still be an address.
    dropped = Dropout(given[0], 0, 0) if dropout is None else dropout
    with current_gpu(rows):
        hopper.score_tiles[(programs,)](
            rows, *described, *given, n, m, *numbers, *dropped,
            pieces, len(weights) // (pieces * pieces * PIECE), epilogue, upper, dropout is not None,
            num_warps=4,
        )  # fmt: skip
