"""The pairs network in one kernel for any GPU that Triton knows, any width and any depth.

A program scores two rows against 64 columns at a time. Its hidden layers (128 pairs, width) go through a
scratch memory of its own, small enough to stay in the cache of the GPU. With Triton's interpreter the same
code runs on a CPU, slowly, which is how it is tested without a GPU.

The functions here are compiled for the GPU; they are not Python.
"""

import triton
import triton.language as tl

__all__ = ["PAIRS", "score_tiles"]

#: Units of a piece, and columns of a tile.
PIECE = tl.constexpr(64)
ROWS = tl.constexpr(2)
PAIRS = tl.constexpr(128)
#: What a score's bits are cut into: see `measures.binning`.
CELL_BITS = tl.constexpr(14)
CELLS = tl.constexpr(2**14)
HALF = tl.constexpr(2**17)


@triton.jit
def score_tiles(
    rows, columns, weights, bias, last, target, row_labels, column_labels, slots, errors, scratch,
    tiles, n, m, width, layers, slope, offset, scale, threshold,
    EPILOGUE: tl.constexpr, UPPER: tl.constexpr,
):  # fmt: skip
    """Every row against every column; ``EPILOGUE`` says what becomes of the scores: see `settle`.

    The tiles are counted by who calls, because the count of a million rows and columns needs 64 bits.
    """
    across = tl.cdiv(m, PIECE)
    mine = scratch + tl.program_id(0).to(tl.int64) * 2 * PAIRS * width
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        column = (tile % across) * PIECE
        row = (tile // across) * ROWS
        if (not UPPER) or row < column + PIECE - 1:
            begin(rows, columns, mine, row, column, n, m, width, slope)
            scores = through(mine, weights, bias, last, width, layers, slope) + offset
            result = (target, row_labels, column_labels, slots, errors, scale, threshold)
            settle(tl.reshape(scores, (ROWS, PIECE)), row, column, result, n, m, EPILOGUE, UPPER)
            tl.debug_barrier()  # the next tile writes where this one may still be reading


@triton.jit
def begin(rows, columns, mine, row, column, n, m, width, slope):
    """The first hidden layer of the pairs, written to the scratch memory."""
    pair = tl.arange(0, PAIRS)
    i = tl.minimum(row + pair // PIECE, n - 1).to(tl.int64)
    j = tl.minimum(column + pair % PIECE, m - 1).to(tl.int64)
    for first in range(0, width, PIECE):
        unit = first + tl.arange(0, PIECE)
        a = tl.load(rows + i[:, None] * width + unit[None, :]).to(tl.float32)
        b = tl.load(columns + j[:, None] * width + unit[None, :]).to(tl.float32)
        tl.store(
            mine + pair[:, None] * width + unit[None, :], activated(a + b, slope).to(mine.dtype.element_ty)
        )
    tl.debug_barrier()


@triton.jit
def through(mine, weights, bias, last, width, layers, slope):
    """The scores (pairs,) of what is in the scratch memory, without the last layer's offset."""
    pair = tl.arange(0, PAIRS)
    unit = tl.arange(0, PIECE)
    for layer in range(layers):
        source = mine + (layer % 2) * PAIRS * width
        goal = mine + ((layer + 1) % 2) * PAIRS * width
        for first in range(0, width, PIECE):
            product = tl.zeros((PAIRS, PIECE), tl.float32)
            for inner in range(0, width, PIECE):
                h = tl.load(source + pair[:, None] * width + (inner + unit)[None, :])
                # The weights of a linear layer are (outputs, inputs): read so that the product can be taken.
                place = (layer * width + first + unit).to(tl.int64)[None, :] * width + (inner + unit)[:, None]
                product = tl.dot(h, tl.load(weights + place), product)
            x = activated(product + tl.load(bias + layer * width + first + unit)[None, :], slope)
            tl.store(goal + pair[:, None] * width + (first + unit)[None, :], x.to(mine.dtype.element_ty))
        tl.debug_barrier()
    source = mine + (layers % 2) * PAIRS * width
    scores = tl.zeros((PAIRS,), tl.float32)
    for first in range(0, width, PIECE):
        h = tl.load(source + pair[:, None] * width + (first + unit)[None, :]).to(tl.float32)
        scores += tl.sum(h * tl.load(last + first + unit)[None, :], 1)
    return scores


@triton.jit
def activated(x, slope):
    """LeakyReLU."""
    return tl.where(x >= 0, x, slope * x)


@triton.jit
def settle(scores, row, column, result, n, m, EPILOGUE: tl.constexpr, UPPER: tl.constexpr):
    """Write scores (rows, 64), or only their maxima, log-sum-exps or counts, as ``EPILOGUE`` says."""
    target, row_labels, column_labels, slots, errors, scale, threshold = result
    i = row + tl.arange(0, ROWS)
    j = column + tl.arange(0, PIECE)
    there = (i < n)[:, None] & (j < m)[None, :]
    group = i.to(tl.int64) * tl.cdiv(m, PIECE) + column // PIECE
    if EPILOGUE == "scores":
        tl.store(target + i.to(tl.int64)[:, None] * m + j[None, :], scores, mask=there)
    elif EPILOGUE == "best":
        tl.store(target + group, tl.max(tl.where(there, scores, float("-inf")), 1), mask=i < n)
    elif EPILOGUE == "log_sum_exp":
        scaled = tl.where((j < m)[None, :], scale * scores, float("-inf"))
        most = tl.max(scaled, 1)
        tl.store(target + group, most + tl.log(tl.sum(tl.exp(scaled - most[:, None]), 1)), mask=i < n)
    else:
        if UPPER:
            there = there & (j[None, :] > i[:, None])
        mine = tl.load(row_labels + i, mask=i < n, other=-1)
        same = mine[:, None] == tl.load(column_labels + j, mask=j < m, other=-1)[None, :]
        count(scores, same, there, target, slots, errors, threshold, EPILOGUE)


@triton.jit
def count(scores, same, there, target, slots, errors, threshold, EPILOGUE: tl.constexpr):
    """Scores counted by their bits, of one class and of two apart: by bin, or by cell of chosen bins."""
    bits = (scores + 0.0).to(tl.int32, bitcast=True)
    order = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    bin = (order >> CELL_BITS) + HALF
    truth = same.to(tl.int32)
    one = tl.full((ROWS, PIECE), 1, target.dtype.element_ty)
    if EPILOGUE == "bins":
        tl.atomic_add(target + bin * 2 + truth, one, mask=there, sem="relaxed")
        accepts = there & (scores >= threshold) & (truth == 0)
        rejects = there & (scores < threshold) & same
        tl.atomic_add(errors, tl.sum(tl.sum(accepts.to(tl.int64), 1), 0), sem="relaxed")
        tl.atomic_add(errors + 1, tl.sum(tl.sum(rejects.to(tl.int64), 1), 0), sem="relaxed")
    else:
        slot = tl.load(slots + bin, mask=there, other=0)
        place = ((slot.to(tl.int64) * 2 + truth) * CELLS) + (order & (CELLS - 1))
        tl.atomic_add(target + place, one, mask=there & (slot > 0), sem="relaxed")
