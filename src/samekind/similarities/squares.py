"""All squared distances by one matrix product, and by differences for close pairs.

‖a - b‖² = ‖a‖² + ‖b‖² - 2<a, b> is as fast as a cosine, but for close a and b the terms cancel, and digits
are lost, in the value and even more in the gradient. Those few pairs are computed by their difference.
"""

from typing import Any

import torch
from torch import Tensor

from samekind.similarities.transforms import transforming

#: A pair is close when its squared distance is below this part of ‖a‖² + ‖b‖²: the others keep five digits.
CLOSE = 1e-2

#: How many close pairs are gathered at a time.
GATHERED = 2**15


def squared_distances(a: Tensor, b: Tensor) -> Tensor:
    """The squared distance of every a and every b: (n, d), (m, d) -> (n, m), in their own precision; without
    a gradient also within tasks, (tasks, n, d), (tasks, m, d) -> (tasks, n, m).

    Exactly 0 for equal vectors. The gradient of equal vectors is exactly 0 too.
    """
    if a.ndim == 3:
        with torch.autocast(a.device.type, enabled=False):
            return _squares(a, b)[0]
    if transforming():
        return (a[:, None] - b).square().sum(-1)
    squares: Tensor = _SquaredDistances.apply(a, b)  # type: ignore[no-untyped-call]
    return squares


def square_root(squares: Tensor) -> Tensor:
    """The root, with all derivatives 0 where the square is 0."""
    if transforming():
        return squares.where(squares > 0, 1).sqrt().where(squares > 0, 0)
    roots: Tensor = _SquareRoot.apply(squares)  # type: ignore[no-untyped-call]
    return roots


def _squares(a: Tensor, b: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The squares, and the places (task, row, column) of close pairs, which were computed anew."""
    # Each pair by itself: its score must not depend on the other pairs.
    lengths, widths = a.square().sum(-1)[..., None], b.square().sum(-1)[..., None, :]
    squares = (a @ b.mT).mul_(-2).add_(lengths).add_(widths)
    close = (squares < CLOSE * lengths + CLOSE * widths).nonzero(as_tuple=True)
    for part in _portions(close[0]):
        *tasks, rows, columns = (places[part] for places in close)
        difference = a[(*tasks, rows)] - b[(*tasks, columns)]
        squares[(*tasks, rows, columns)] = difference.square().sum(1)
    return squares, close


class _SquareRoot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, squares: Tensor) -> Tensor:
        roots = squares.sqrt()
        ctx.save_for_backward(roots)
        return roots

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (roots,) = ctx.saved_tensors
        return (0.5 * grad).div_(roots.masked_fill(roots == 0, torch.inf))


class _SquaredDistances(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        with torch.autocast(a.device.type, enabled=False):
            squares, (rows, columns) = _squares(a, b)
        ctx.save_for_backward(a, b, rows, columns)
        return squares

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        a, b, rows, columns = ctx.saved_tensors
        close = grad[rows, columns]
        with torch.autocast(a.device.type, enabled=False):
            far = grad.index_put((rows, columns), close.new_zeros(())) if len(rows) else grad
            to_a = a * far.sum(1)[:, None] - far @ b if ctx.needs_input_grad[0] else None
            to_b = b * far.sum(0)[:, None] - far.T @ a if ctx.needs_input_grad[1] else None
            for part in _portions(rows):
                pull = close[part, None] * (a[rows[part]] - b[columns[part]])
                if to_a is not None:
                    to_a.index_add_(0, rows[part], pull)
                if to_b is not None:
                    to_b.index_add_(0, columns[part], pull, alpha=-1)
        return to_a if to_a is None else to_a.mul_(2), to_b if to_b is None else to_b.mul_(2)


def _portions(rows: Tensor) -> list[slice]:
    return [slice(start, start + GATHERED) for start in range(0, len(rows), GATHERED)]
