"""One layer of the pairs network for all pairs of a block, there and back: kernels for training.

A program keeps the weights of some units of a layer on the chip and takes one tile of 8 x 8 pairs after the
other. What lies between two layers is (tiles x 64 pairs, width), tile after tile, so that whole lines are
read and written; pairs of a tile that are not there have no gradient. Each kernel does at the end of a
product all that is to be done with it (bias, activation, dropout, the sums that are gradients of weights,
biases and both halves), and so a layer goes to the memory once.

The functions here are compiled for the GPU; they are not Python. With Triton's interpreter they run on a CPU,
which is how they are tested without a GPU.
"""

import triton
import triton.language as tl

__all__ = ["PAIRS", "SIDE", "ascend", "begin_gradients", "descend", "score"]

#: Rows and columns of a tile, and its pairs.
SIDE = tl.constexpr(8)
PAIRS = tl.constexpr(64)


@triton.jit
def ascend(
    below, first, second, weights, bias, goal, tiles, n, m, slope,
    WIDTH: tl.constexpr, OUT: tl.constexpr, FIRST: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    """The next hidden layer, activated, from the one below or, FIRST, from both halves."""
    unit = tl.program_id(1) * OUT + tl.arange(0, OUT)
    w, b = upward(weights, bias, unit, WIDTH)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        x = layer(tile, below, first, second, w, b, n, m, slope, WIDTH, FIRST, KEEP)
        tl.store(goal + places(tile, unit, WIDTH), x.to(goal.dtype.element_ty))


@triton.jit(do_not_specialize=["seed"])  # it differs in every call
def score(
    below, first, second, weights, bias, last, parts, tiles, n, m, slope, factors, seed, stride, threshold,
    WIDTH: tl.constexpr, OUT: tl.constexpr, FIRST: tl.constexpr,
):  # fmt: skip
    """The parts of the scores that some units of the last hidden layer add: (WIDTH / OUT, pairs)."""
    unit = tl.program_id(1) * OUT + tl.arange(0, OUT)
    w, b = upward(weights, bias, unit, WIDTH)
    heavy, factor = tl.load(last + unit), tl.load(factors + unit)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        x = layer(tile, below, first, second, w, b, n, m, slope, WIDTH, FIRST, False)
        x = tl.where(not_dropped(tile, m, factor, seed, stride, threshold), x * heavy[None, :], 0.0)
        tl.store(parts + tl.arange(0, PAIRS) + (tl.program_id(1) * tiles + tile) * PAIRS, tl.sum(x, 1))


@triton.jit(do_not_specialize=["seed"])  # it differs in every call
def begin_gradients(
    below, first, second, weights, bias, last, pull, goal, bias_sums, last_sums,
    tiles, n, m, slope, factors, seed, stride, threshold,
    WIDTH: tl.constexpr, OUT: tl.constexpr, FIRST: tl.constexpr,
):  # fmt: skip
    """The gradient before the last hidden layer's activation, from that of the scores (pairs,).

    Beside it what a program's tiles give to the gradients of this layer's bias and of the last layer's
    weights: bias_sums and last_sums (programs, WIDTH).
    """
    unit = tl.program_id(1) * OUT + tl.arange(0, OUT)
    w, b = upward(weights, bias, unit, WIDTH)
    heavy, factor = tl.load(last + unit), tl.load(factors + unit)
    bias_sum = tl.zeros((PAIRS, OUT), tl.float32)
    last_sum = tl.zeros((PAIRS, OUT), tl.float32)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        given = tl.load(pull + tl.arange(0, PAIRS) + tile * PAIRS)
        x = layer(tile, below, first, second, w, b, n, m, slope, WIDTH, FIRST, True)
        share = tl.where(not_dropped(tile, m, factor, seed, stride, threshold), given[:, None], 0.0)
        last_sum += x * share
        grad = share * heavy[None, :] * tl.where(x > 0, 1.0, slope)
        bias_sum += grad
        tl.store(goal + places(tile, unit, WIDTH), grad.to(goal.dtype.element_ty))
    tl.store(bias_sums + tl.program_id(0) * WIDTH + unit, tl.sum(bias_sum, 0))
    tl.store(last_sums + tl.program_id(0) * WIDTH + unit, tl.sum(last_sum, 0))


@triton.jit
def descend(
    above, here, weights, weight_sums, sums, tiles, slope,
    WIDTH: tl.constexpr, OUT: tl.constexpr, BOTTOM: tl.constexpr,
):  # fmt: skip
    """The gradient before a layer's activation, from that of the layer above; written over the activations.

    Beside it what a program's tiles give to the gradient of the weights between the two, weight_sums
    (programs, WIDTH, WIDTH), and of this layer's bias, sums (programs, WIDTH). At the BOTTOM sums are those
    of each tile's rows and columns, (tiles, 16, WIDTH), and the gradient itself, which nobody needs then, is
    not written.
    """
    unit = tl.program_id(1) * OUT + tl.arange(0, OUT)
    outer = tl.arange(0, WIDTH)
    w = tl.load(weights + outer[:, None] * WIDTH + unit[None, :])
    total = tl.zeros((PAIRS, OUT), tl.float32)
    weight_sum = tl.zeros((WIDTH, OUT), tl.float32)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        place = places(tile, unit, WIDTH)
        x = tl.load(here + place)
        g = tl.load(above + places(tile, outer, WIDTH))
        weight_sum = tl.dot(tl.trans(g), x, weight_sum)
        grad = tl.dot(g, w) * tl.where(x > 0, 1.0, slope)
        if BOTTOM:
            store_sides(sums, grad.to(x.dtype), tile, unit, WIDTH)
        else:
            total += grad
            tl.store(here + place, grad.to(x.dtype))
    place = (outer + tl.program_id(0) * WIDTH)[:, None] * WIDTH + unit[None, :]
    tl.store(weight_sums + place, weight_sum)
    if not BOTTOM:
        tl.store(sums + tl.program_id(0) * WIDTH + unit, tl.sum(total, 0))


@triton.jit
def store_sides(sums, grad, tile, unit, WIDTH: tl.constexpr):
    """The sums over each row of a tile, then over each column, by a product with ones and zeros."""
    number = tl.arange(0, 2 * SIDE)
    pair = tl.arange(0, PAIRS)[None, :]
    chosen = (pair // SIDE == number[:, None]) | (pair % SIDE + SIDE == number[:, None])
    place = (number + tile * 2 * SIDE).to(tl.int64)[:, None] * WIDTH + unit[None, :]
    tl.store(sums + place, tl.dot(chosen.to(grad.dtype), grad))


@triton.jit
def upward(weights, bias, unit, WIDTH: tl.constexpr):
    """The weights (inputs, units) of some units of a layer, as the product takes them, and their bias."""
    inner = tl.arange(0, WIDTH)
    return tl.load(weights + unit[None, :] * WIDTH + inner[:, None]), tl.load(bias + unit)


@triton.jit
def layer(
    tile, below, first, second, w, b, n, m, slope,
    WIDTH: tl.constexpr, FIRST: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    """Some units of a hidden layer (64, units) for the pairs of a tile.

    FIRST: the layer below is made from both halves, and with KEEP written.
    """
    inner = tl.arange(0, WIDTH)
    place = places(tile, inner, WIDTH)
    if FIRST:
        row, column = sides(tile, m)
        row, column = tl.minimum(row, n - 1)[:, None], tl.minimum(column, m - 1)[:, None]
        left = tl.load(first + row * WIDTH + inner[None, :]).to(tl.float32)
        right = tl.load(second + column * WIDTH + inner[None, :]).to(tl.float32)
        x = activated(left + right, slope).to(first.dtype.element_ty)
        if KEEP:
            if tl.program_id(1) == 0:
                tl.store(below + place, x)
    else:
        x = tl.load(below + place)
    return activated(tl.dot(x, w) + b[None, :], slope)


@triton.jit
def places(tile, unit, WIDTH: tl.constexpr):
    """Where units of a tile's pairs lie: (64, units)."""
    return (tl.arange(0, PAIRS) + tile * PAIRS).to(tl.int64)[:, None] * WIDTH + unit[None, :]


@triton.jit
def activated(x, slope):
    """LeakyReLU."""
    return tl.where(x >= 0, x, slope * x)


@triton.jit
def sides(tile, m):
    """The row and the column of each pair of a tile (64,); beyond the last, where one is not there."""
    pair = tl.arange(0, PAIRS)
    across = tl.cdiv(m, SIDE)
    return (tile // across) * SIDE + pair // SIDE, (tile % across) * SIDE + pair % SIDE


@triton.jit
def not_dropped(tile, m, factor, seed, stride, threshold):
    """Which units of a tile's pairs dropout leaves (64, units), by the high bits of a product: one factor is
    mixed from the pair's number among all pairs, of which ``seed`` is the block's first, one is the unit's.
    """
    row, column = sides(tile, m)
    pair = mixed((row * stride + column + seed).to(tl.uint32))
    return ((pair[:, None] * factor.to(tl.uint32)[None, :]) >> 8).to(tl.int32) >= threshold


@triton.jit
def mixed(x):
    """32 bits from 32 bits, each of which depends on all: the end of MurmurHash3."""
    x = (x ^ (x >> 16)) * 0x85EBCA6B
    x = (x ^ (x >> 13)) * 0xC2B2AE35
    return x ^ (x >> 16)
