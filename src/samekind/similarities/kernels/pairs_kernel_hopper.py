"""The pairs network in one kernel for Hopper GPUs (H100, H200): hidden layers never leave the chip.

A group of four warps scores a row against 64 columns. Its hidden layer (64 pairs, width) lies in registers
as pieces of 64 units, which is how the matrix units want their left side; the weights come through shared
memory as pieces of 64 x 64, loaded ahead by a warp of its own. Two groups share what is loaded, and while one
activates its layer, the other keeps the matrix units busy.

Written in Gluon, Triton's language one level down, because Triton itself cannot load the next weights while
these are multiplied. The functions here are compiled for the GPU; they are not Python.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

__all__ = ["STAGES", "STRIP", "TensorDescriptor", "piece_layout", "score_tiles"]

#: From global to shared memory; the name it has depends on the version of Triton.
load_piece = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
#: Units of a piece, and columns of a tile.
PIECE = gl.constexpr(64)
#: Rows that meet the same columns one after the other, so that those are loaded once.
STRIP = gl.constexpr(64)
#: Rows of pieces of weights on their way or in use: with 32 kB each, as many as shared memory holds.
STAGES = gl.constexpr(6)
#: What a score's bits are cut into: see `measures.binning`.
CELL_BITS = gl.constexpr(14)
CELLS = gl.constexpr(2**14)
HALF = gl.constexpr(2**17)


def piece_layout(dtype: object) -> gl.NVMMASharedLayout:
    """How a piece lies in shared memory."""
    return gl.NVMMASharedLayout.get_default_for(
        [64, 64], {"torch.bfloat16": gl.bfloat16}.get(str(dtype), gl.float16)
    )


@gluon.jit(do_not_specialize=["seed"])  # it differs in every call
def score_tiles(
    rows, columns, weights, bias, last, target, row_labels, column_labels, slots, errors,
    n, m, slope, offset, scale, threshold, factors, seed, dropped,
    PIECES: gl.constexpr, LAYERS: gl.constexpr, EPILOGUE: gl.constexpr, UPPER: gl.constexpr,
    DROPOUT: gl.constexpr,
):  # fmt: skip
    """Every row against every column; ``EPILOGUE`` says what becomes of the scores: see `settle`.

    DROPOUT is that of the kernels for training, by the same numbers: see `pairs_kernel_layers.not_dropped`.
    """
    dtype: gl.constexpr = weights.dtype
    layout: gl.constexpr = weights.layout
    barriers: gl.constexpr = mbarrier.MBarrierLayout()
    tile = gl.allocate_shared_memory(dtype, [PIECES, PIECE, PIECE], layout)
    ring = gl.allocate_shared_memory(dtype, [STAGES * PIECES, PIECE, PIECE], layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], barriers)
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], barriers)
    tile_full = gl.allocate_shared_memory(gl.int64, [1], barriers)
    tile_empty = gl.allocate_shared_memory(gl.int64, [1], barriers)
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(empty.index(stage), count=2)
    mbarrier.init(tile_full, count=1)
    mbarrier.init(tile_empty, count=2)
    shared = (tile, tile_full, tile_empty, ring, full, empty)
    network = (rows, bias, last, slope, offset, factors, dropped)
    result = (target, row_labels, column_labels, slots, errors, scale, threshold)
    gl.warp_specialize(
        [
            (consume, (0, shared, network, result, n, m, seed, PIECES, LAYERS, EPILOGUE, UPPER, DROPOUT)),
            (consume, (1, shared, network, result, n, m, seed, PIECES, LAYERS, EPILOGUE, UPPER, DROPOUT)),
            (produce, (shared, columns, weights, n, m, PIECES, LAYERS, UPPER)),
        ],
        [4, 1],
        [240, 24],
    )


@gluon.jit
def produce(shared, columns, weights, n, m, PIECES: gl.constexpr, LAYERS: gl.constexpr, UPPER: gl.constexpr):
    """One warp loads: the columns of a strip, then all weights once for every two rows."""
    tile, tile_full, tile_empty, ring, full, empty = shared
    bytes: gl.constexpr = PIECES * PIECE * PIECE * 2
    across = gl.cdiv(m, PIECE)
    turn = 0
    step = 0
    for strip in range(gl.program_id(0), across * gl.cdiv(n, STRIP), gl.num_programs(0)):
        column, top, bottom = bounds(strip, n, m, UPPER)
        mbarrier.wait(tile_empty, (turn & 1) ^ 1)
        mbarrier.expect(tile_full, bytes)
        for j in gl.static_range(PIECES):
            load_piece(columns, [column, j * PIECE], tile_full, tile.index(j))
        turn += 1
        for _ in range(top, bottom, 2):
            for chunk in range(LAYERS * PIECES):
                stage = step % STAGES
                mbarrier.wait(empty.index(stage), ((step // STAGES) & 1) ^ 1)
                mbarrier.expect(full.index(stage), bytes)
                for j in gl.static_range(PIECES):
                    place = [(chunk * PIECES + j) * PIECE, 0]
                    load_piece(weights, place, full.index(stage), ring.index(stage * PIECES + j))
                step += 1


@gluon.jit
def consume(
    which: gl.constexpr, shared, network, result, n, m, seed,
    PIECES: gl.constexpr, LAYERS: gl.constexpr, EPILOGUE: gl.constexpr, UPPER: gl.constexpr,
    DROPOUT: gl.constexpr,
):  # fmt: skip
    """Four warps score every other row of a strip against its 64 columns."""
    tile, tile_full, tile_empty, ring, full, empty = shared
    turn = 0
    step = 0
    for strip in range(gl.program_id(0), gl.cdiv(m, PIECE) * gl.cdiv(n, STRIP), gl.num_programs(0)):
        column, top, bottom = bounds(strip, n, m, UPPER)
        mbarrier.wait(tile_full, turn & 1)
        for pair in range(top, bottom, 2):
            row = pair + which
            number = row * m + column + seed
            row_there = gl.minimum(row, n - 1)
            scores, step = score_row(row_there, number, shared, network, step, PIECES, LAYERS, DROPOUT)
            settle(scores, row, column, result, n, m, EPILOGUE, UPPER)
        mbarrier.arrive(tile_empty, count=1)
        turn += 1


@gluon.jit
def bounds(strip, n, m, UPPER: gl.constexpr):
    """The first column of a strip, and its rows; with UPPER only those that come before a column."""
    across = gl.cdiv(m, PIECE)
    column = (strip % across) * PIECE
    top = (strip // across) * STRIP
    bottom = gl.minimum(top + STRIP, n)
    if UPPER:
        bottom = gl.minimum(bottom, column + PIECE - 1)
    return column, top, bottom


@gluon.jit
def score_row(
    row, number, shared, network, step,
    PIECES: gl.constexpr, LAYERS: gl.constexpr, DROPOUT: gl.constexpr,
):  # fmt: skip
    """The scores (64,) of a row and the columns of the tile, and the step after the last weights used.

    ``number`` is the first pair's, for DROPOUT.
    """
    tile, tile_full, tile_empty, ring, full, empty = shared
    rows, bias, last, slope, offset, factors, dropped = network
    units: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    left: gl.constexpr = gl.DotOperandLayout(0, units, 2)
    names = gl.arange(0, PIECE, layout=gl.SliceLayout(0, units))
    h = begin(row, tile, rows, slope, PIECES, left)
    scores = gl.zeros([PIECE], gl.float32, gl.SliceLayout(1, units)) + offset
    if DROPOUT:
        pair = mixed((number + gl.arange(0, PIECE, layout=gl.SliceLayout(1, units))).to(gl.uint32))
    for layer in gl.static_range(LAYERS):
        # The products of piece i run while piece i - 1 is activated; -1 and PIECES are the ends of this.
        new = ()
        running = gl.zeros([PIECE, PIECE], gl.float32, units)
        for i in gl.static_range(PIECES + 1):
            done = running
            if i < PIECES:
                running = multiply(h, ring, full, step, PIECES, units)
            if i > 0:
                if i < PIECES:
                    done = warpgroup_mma_wait(PIECES, deps=[done])
                else:
                    # Named, so that the registers of h are not given away while they are still read.
                    done = warpgroup_mma_wait(0, deps=(done,) + h)[0]
                mbarrier.arrive(empty.index((step - 1) % STAGES), count=1)
                place = layer * PIECES * PIECE + (i - 1) * PIECE + names
                x = activated(done + gl.expand_dims(gl.load(bias + place), 0), slope)
                if layer < LAYERS - 1:
                    new = new + (gl.convert_layout(x.to(h[0].dtype), left, assert_trivial=True),)
                else:
                    weight = gl.load(last + (i - 1) * PIECE + names)
                    if DROPOUT:
                        factor = gl.load(factors + (i - 1) * PIECE + names).to(gl.uint32)
                        x = gl.where(not_dropped(pair, factor, dropped), x, 0.0)
                    scores += gl.sum(x * gl.expand_dims(weight, 0), 1)
            if i < PIECES:
                step += 1
        h = new
    return scores, step


@gluon.jit
def begin(row, tile, rows, slope, PIECES: gl.constexpr, left: gl.constexpr):
    """The first hidden layer of a row and the columns of the tile, in pieces (64, 64)."""
    h = ()
    for j in gl.static_range(PIECES):
        b = tile.index(j).load(left)
        place = row.to(gl.int64) * (PIECES * PIECE) + j * PIECE
        a = gl.load(rows + place + gl.arange(0, PIECE, layout=gl.SliceLayout(0, left)))
        x = activated(b.to(gl.float32) + gl.expand_dims(a.to(gl.float32), 0), slope)
        h = h + (x.to(b.dtype),)
    return h


@gluon.jit
def multiply(h, ring, full, step, PIECES: gl.constexpr, units: gl.constexpr):
    """Start the products of a hidden layer with the weights of 64 units of the next."""
    stage = step % STAGES
    mbarrier.wait(full.index(stage), (step // STAGES) & 1)
    product = gl.zeros([PIECE, PIECE], gl.float32, units)
    for j in gl.static_range(PIECES):
        weight = ring.index(stage * PIECES + j).permute((1, 0))
        product = warpgroup_mma(h[j], weight, product, use_acc=j > 0, is_async=True)
    return product


@gluon.jit
def activated(x, slope):
    """LeakyReLU for slopes from 0 to 1."""
    return gl.maximum(x, slope * x)


@gluon.jit
def not_dropped(pair, factor, dropped):
    """Which units dropout leaves (64, 64), by high bits of a product of the pair's number and the unit's."""
    product = gl.expand_dims(pair, 1) * gl.expand_dims(factor, 0)
    return (product >> 8).to(gl.int32) >= dropped


@gluon.jit
def mixed(x):
    """32 bits from 32 bits, each of which depends on all: the end of MurmurHash3."""
    x = (x ^ (x >> 16)) * 0x85EBCA6B
    x = (x ^ (x >> 13)) * 0xC2B2AE35
    return x ^ (x >> 16)


@gluon.jit
def settle(scores, row, column, result, n, m, EPILOGUE: gl.constexpr, UPPER: gl.constexpr):
    """Write the scores of a row and 64 columns, or what ``EPILOGUE`` names: maximum, log-sum-exp, counts."""
    target, row_labels, column_labels, slots, errors, scale, threshold = result
    columns = column + gl.arange(0, PIECE, layout=scores.type.layout)
    there = (columns < m) & (row < n)
    if EPILOGUE == "scores":
        gl.store(target + row.to(gl.int64) * m + columns, scores, mask=there)
    elif EPILOGUE == "best":
        best = gl.max(gl.where(there, scores, float("-inf")), 0)
        gl.store(target + row.to(gl.int64) * gl.cdiv(m, PIECE) + column // PIECE, best, mask=row < n)
    elif EPILOGUE == "log_sum_exp":
        scaled = gl.where(there, scale * scores, float("-inf"))
        most = gl.max(scaled, 0)
        total = most + gl.log(gl.sum(gl.exp(scaled - most), 0))
        gl.store(target + row.to(gl.int64) * gl.cdiv(m, PIECE) + column // PIECE, total, mask=row < n)
    else:
        if UPPER:
            there = there & (columns > row)
        mine = gl.load(row_labels + gl.minimum(row, n - 1))
        same = gl.load(column_labels + columns, mask=columns < m, other=-1) == mine
        count(scores, same, there, target, slots, errors, threshold, EPILOGUE)


@gluon.jit
def count(scores, same, there, target, slots, errors, threshold, EPILOGUE: gl.constexpr):
    """Scores counted by their bits, of one class and of two apart: by bin, or by cell of chosen bins."""
    bits = (scores + 0.0).to(gl.int32, bitcast=True)
    order = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    bin = (order >> CELL_BITS) + HALF
    truth = same.to(gl.int32)
    one = gl.full([PIECE], 1, target.dtype.element_ty, scores.type.layout)
    if EPILOGUE == "bins":
        gl.atomic_add(target + bin * 2 + truth, one, mask=there, sem="relaxed")
        accepts = there & (scores >= threshold) & (truth == 0)
        rejects = there & (scores < threshold) & same
        gl.atomic_add(errors, gl.sum(accepts.to(gl.int64), 0), sem="relaxed")
        gl.atomic_add(errors + 1, gl.sum(rejects.to(gl.int64), 0), sem="relaxed")
    else:
        slot = gl.load(slots + bin, mask=there, other=0)
        place = ((slot.to(gl.int64) * 2 + truth) * CELLS) + (order & (CELLS - 1))
        gl.atomic_add(target + place, one, mask=there & (slot > 0), sem="relaxed")
