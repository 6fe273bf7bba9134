"""Training by kernels against the plain walk: by Triton's interpreter, and on a GPU."""

import contextlib
from importlib.util import find_spec

import pytest
import torch

from samekind.similarities import PairsNetwork, recomputed
from samekind.similarities.pairs_network import concatenated
from samekind.similarities.recomputed import Walk, walk_for
from samekind.similarities.recomputed_walk import Way

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")

#: Run in a process of its own: Triton reads the variable when it is imported. Half precision, because the
#: interpreter does not know how to multiply bfloat16.
BEGIN = """
import torch
from samekind.similarities import PairsNetwork, recomputed
from samekind.similarities.pairs_network import concatenated
from samekind.similarities.recomputed import Walk, recomputed_scores
from samekind.similarities.kernels.recomputed_kernels import KernelWalk
from samekind.similarities.recomputed_walk import Way

# Room that nobody has written to holds anything: here what a sum cannot swallow.
torch.Tensor.new_empty = lambda self, *size, **options: self.new_full(
    size, float("nan") if self.is_floating_point() else 0, **options
)

def network(**arguments):
    torch.manual_seed(0)
    return PairsNetwork(dimension=8, **{"hidden": 40, "depth": 3, "dropout": 0.0, **arguments})

def by(walk, network, a, b, *, pairs=None, pull=None, leaves=()):
    recomputed.walk_for = lambda *_: walk
    first, second = (each.half() for each in network.halves(a, b))
    scores = recomputed_scores(
        first, second, list(network.layers), network.last,
        slope=network.slope, dropout=network.dropout if network.training else 0.0, block_pairs=pairs,
    )
    pull = torch.ones_like(scores) if pull is None else pull
    return scores.float(), torch.autograd.grad((scores.float() * pull).sum(), leaves) if leaves else ()

def some(count, seed):
    return torch.randn(count, 8, generator=torch.Generator().manual_seed(seed)).requires_grad_()
"""

AGREES = """
for depth, hidden, slope, n, m, pairs in CASES:
    similarity, a, b = network(depth=depth, hidden=hidden, slope=slope), some(n, 1), some(m, 2)
    leaves, pull = [a, b, *similarity.parameters()], torch.randn(n, m)
    scores, ours = by(KernelWalk, similarity, a, b, pairs=pairs, pull=pull, leaves=leaves)
    _, plain = by(Walk, similarity, a, b, pull=pull, leaves=leaves)
    exact = concatenated(similarity, a, b)
    torch.testing.assert_close(scores, exact, atol=2e-3, rtol=2e-3)
    truth = torch.autograd.grad((exact * pull).sum(), leaves)
    for one, other, right in zip(ours, plain, truth):
        # Half precision puts units near 0 on the wrong side of the LeakyReLU, in either way of computing.
        assert (one - right).norm() <= 1.5 * (other - right).norm() + 3e-3 * right.norm() + 1e-4
print("all agree")
"""

DROPS = """
# One unit of each layer, copies of one pair: the bias alone, or the bias and 1 / (1 - dropout) of the rest.
similarity = network(hidden=1, depth=2, dropout=0.4)
a, b = some(1, 1).expand(40, -1), some(1, 2).expand(50, -1)
rest = (concatenated(similarity.eval(), a[:1], b[:1]) - similarity.last.bias).item()
found = (by(KernelWalk, similarity.train(), a, b, pairs=128)[0] - similarity.last.bias).detach() / rest
kept = found > 0.5
torch.testing.assert_close(found, torch.where(kept, 1 / 0.6, 0.0), atol=0.01, rtol=0.01)
assert 0.55 < kept.float().mean() < 0.65  # 2,000 draws: more than four standard deviations either side
blocks = kept.unfold(0, 8, 8).unfold(1, 10, 10).flatten(2).flatten(0, 1)
assert len({tuple(each.tolist()) for each in blocks}) == len(blocks) > 20
# Without biases a network of LeakyReLUs is homogeneous: its inputs times its gradient are its score, if both
# passes drop the same units; and so are the last layer's weights times theirs.
similarity = network(hidden=100, depth=3, dropout=0.5).train()
with torch.no_grad():
    for each in (similarity.first, *similarity.layers, similarity.last):
        each.bias.zero_()
a, b = some(9, 1), some(20, 2)
for leaves in ([a, b], [similarity.last.weight]):
    torch.manual_seed(3)
    scores, grads = by(KernelWalk, similarity, a, b, leaves=leaves)
    total = sum((leaf * grad).sum() for leaf, grad in zip(leaves, grads))
    torch.testing.assert_close(total, scores.sum(), atol=0.02, rtol=0.01)
torch.manual_seed(3)
again = by(KernelWalk, similarity, a, b)[0]
assert torch.equal(again, scores)
assert not torch.equal(by(KernelWalk, similarity, a, b)[0], scores)
print("all agree")
"""

DROPS_ALONE = """
# Both layers are 1 whatever the pair, and each of 16 units has a bit of the score of its own.
half, ones, parts = torch.zeros(32, 64).half(), torch.ones(64), []
for units in torch.arange(64).split(16):
    last = torch.zeros(1, 64)
    last[0, units] = 2.0 ** torch.arange(16)
    parameters = [torch.zeros(64, 64), ones, last, torch.zeros(1)]
    walk = KernelWalk(Way(0.1, 0.5, 1234567, 32 * 32), half, half, parameters, back=False)
    (block,) = walk.blocks()
    scores = (walk.logits(block) / 2).long()  # what is left counts twice
    parts.append((scores[:, None] >> torch.arange(16)) & 1)
kept = torch.cat(parts, 1).double()  # (pairs, units)
# In standard deviations of what 1,024 pairs show of units that have nothing to do with each other.
found = 32 * (torch.corrcoef(kept.T) - torch.eye(64))
assert found.abs().max() < 6
assert 0.9 < found.std() < 1.1
first_tile = kept.view(32, 32, 64)[:8, :8].reshape(64, 64)
assert 16 < first_tile.diagonal().sum() < 48  # of 64, four standard deviations either side
assert not torch.equal(first_tile, first_tile.T)
print("all agree")
"""

ON_CHIP = """
from samekind.similarities.kernels import on_hopper, recomputed_kernels

def by_hand(rows, columns, weights, given, numbers, *, epilogue, dropout):
    # What the kernel for Hopper GPUs is to write, pair after pair, with Python's whole numbers.
    width, (biases, last, target, *_) = rows.shape[1], given
    pieces = weights.view(len(biases), width // 64, width // 64, 64, 64).transpose(2, 3)
    layers = pieces.reshape(len(biases), width, width).float()
    assert epilogue == "scores"
    for i in range(len(rows)):
        for j in range(len(columns)):
            x = torch.nn.functional.leaky_relu(rows[i].float() + columns[j].float(), numbers[0])
            for weight, bias in zip(layers, biases):
                x = torch.nn.functional.leaky_relu(weight @ x + bias, numbers[0])
            if dropout is not None:
                number, factors = i * len(columns) + j, dropout.factors.tolist()
                x = x * torch.tensor([is_kept(number, each, dropout) for each in factors])
            target[i, j] = last @ x + numbers[1]

def is_kept(pair, factor, dropout):
    x = (pair + dropout.seed) % 2**32
    x = (x ^ x >> 16) * 0x85EBCA6B % 2**32
    x = (x ^ x >> 13) * 0xC2B2AE35 % 2**32
    x = x ^ x >> 16
    return x * factor % 2**32 >> 8 >= dropout.threshold

on_hopper.score_tiles = by_hand
similarity = network(hidden=70, depth=3)
parameters = [each for layer in [*similarity.layers, similarity.last] for each in (layer.weight, layer.bias)]
first, second = torch.randn(9, 70).half(), torch.randn(11, 70).half()
drawn = recomputed_kernels._drawn
# The pairs' numbers pass the largest of 32 bits with a sign, and then 0; in the last case nothing is dropped.
for dropout, start in ((0.5, 2**31 - 40), (0.25, -50), (0.0, 0)):
    recomputed_kernels._drawn = lambda *given: drawn(*given)._replace(seed=start)
    found = []
    for there in (True, False):
        on_hopper.takes = lambda *_, **__: there
        with torch.no_grad():
            walk = KernelWalk(Way(0.1, dropout, 5, 64), first, second, parameters, back=False)
            assert walk.on_chip is there and len(walk.buffers) == (0 if there else 2)
            assert there or len(list(walk.blocks())) > 2
            found.append(walk.scores())
    torch.testing.assert_close(*found, atol=2e-3, rtol=2e-3)
print("all agree")
"""

LAYS_OUT = """
def agree(network, halves, cost, leaves):
    found = []
    for walk in (KernelWalk, Walk):
        recomputed.walk_for = lambda *_: walk
        scores = recomputed_scores(*halves(), list(network.layers), network.last, slope=0.1)
        found.append(torch.autograd.grad(cost(scores), leaves))
    for one, other in zip(*found):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other, atol=0.03 * float(other.abs().max()), rtol=0.03)

similarity, a, b = network(hidden=70), some(16, 1), some(24, 2)
laid_out = lambda: (each.half().t().contiguous().t() for each in similarity.halves(a, b))
for cost in (
    torch.sum,  # an expanded gradient, a transposed one, one of some pairs
    lambda scores: (scores.t() * torch.linspace(-1, 1, 16).half()).t().sum(),
    lambda scores: scores.t()[::2, 1::3].float().square().sum(),
):
    agree(similarity, laid_out, cost, [a, b, *similarity.parameters()])

# A network in 16 bits has its gradients in 16 bits, one in 64 in 64.
for dtype in (torch.half, torch.double):
    similarity = network().to(dtype)
    halves = [torch.randn(9, 40).half().requires_grad_() for _ in range(2)]
    agree(similarity, lambda: halves, torch.sum, [*halves, *similarity.layers.parameters()])

# A gradient that half precision has no room for is not finite, as one who scales the loss has to see.
similarity = network()
with torch.no_grad():
    similarity.last.weight *= 1000
_, (found,) = by(KernelWalk, similarity, a, b, pull=torch.full((16, 24), 6e4), leaves=[a])
assert not found.isfinite().all()

for n, m in ((0, 5), (5, 0)):
    a, b = some(n, 1), some(m, 2)
    scores, found = by(KernelWalk, network(), a, b, leaves=[a, b])
    assert scores.shape == (n, m) and not any(each.any() for each in found)
print("all agree")
"""

FREEZES = """
similarity, a, b = network(), some(9, 1).detach(), some(7, 2)
similarity.layers[0].bias.requires_grad_(False)
similarity.last.requires_grad_(False)
leaves = [b, similarity.layers[0].weight, similarity.layers[1].bias]
ours, plain = (by(walk, similarity, a, b, leaves=leaves)[1] for walk in (KernelWalk, Walk))
for one, other in zip(ours, plain):
    torch.testing.assert_close(one, other, atol=2e-2, rtol=2e-2)
print("all agree")
"""


@needs_triton
@pytest.mark.parametrize(
    "cases",
    [
        [(2, 16, 0.1, 5, 9, None), (3, 64, 0.1, 11, 19, None), (4, 70, 0.0, 1, 1, None)],
        [(3, 130, 0.1, 10, 20, 100), (2, 256, 0.1, 9, 3, None), (3, 3, 1.5, 17, 8, 64)],
    ],
    ids=["one block", "several blocks, wide, steep"],
)
def test_scores_and_gradients_are_those_of_the_network(cases, interpreting):
    interpreting(BEGIN + AGREES.replace("CASES", repr(cases)))


@needs_triton
def test_dropout_keeps_its_share_and_both_passes_drop_the_same(interpreting):
    interpreting(BEGIN + DROPS)


@needs_triton
def test_each_unit_of_each_pair_is_dropped_on_its_own(interpreting):
    interpreting(BEGIN + DROPS_ALONE)


@needs_triton
def test_scores_on_the_chip_are_asked_for_with_the_dropout_of_the_blocks(interpreting):
    interpreting(BEGIN + ON_CHIP)


@needs_triton
def test_what_needs_no_gradient_gets_none_and_the_rest_is_right(interpreting):
    interpreting(BEGIN + FREEZES)


@needs_triton
def test_layouts_precisions_and_no_items(interpreting):
    interpreting(BEGIN + LAYS_OUT)


def test_a_processor_has_no_kernels():
    half = torch.zeros(3, 64, dtype=torch.bfloat16)
    assert walk_for(half, 3) is Walk


def recomputed_kernels():
    """The module, which cannot be imported without Triton."""
    from samekind.similarities.kernels import recomputed_kernels

    return recomputed_kernels


def kernel_walk(n, m, *, block_pairs):
    network = PairsNetwork(dimension=4, hidden=6, depth=2)
    parameters = [
        parameter for layer in [*network.layers, network.last] for parameter in (layer.weight, layer.bias)
    ]
    halves = torch.zeros(n, 6).half(), torch.zeros(m, 6).half()
    return recomputed_kernels().KernelWalk(Way(0.1, 0.0, 0, block_pairs), *halves, parameters, back=True)


@needs_triton
@pytest.mark.parametrize(("n", "m", "pairs"), [(1000, 1, 512), (3, 1000, 512), (100, 90, 1000), (40, 50, 1)])
def test_a_block_takes_no_more_room_than_it_is_given(n, m, pairs):
    """One tile of 64 pairs aside, and what a tile has of rows and columns that are not there counts."""
    walk = kernel_walk(n, m, block_pairs=pairs)
    seen = torch.zeros(n, m, dtype=torch.int64)
    for block in walk.blocks():
        seen[block.rows, block.columns] += 1
    assert (seen == 1).all()
    assert all(len(buffer) <= max(64, pairs) for buffer in walk.buffers)


@needs_triton
def test_padded_units_count_as_memory(monkeypatch):
    monkeypatch.setattr(recomputed, "walk_for", lambda *_: None)
    assert recomputed.block_size(torch.empty(3, 65).half(), 2) == 2**30 // (2 * 128 * 2)
    assert recomputed.block_size(torch.empty(3, 1).half(), 4) == 2**30 // (2 * 64 * 4)


@needs_triton
def test_kernels_are_launched_on_the_gpu_of_the_tensors(monkeypatch):
    """Triton takes the current one, which may be another."""
    events = []

    @contextlib.contextmanager
    def device_of(tensor):
        events.append(("from", tensor.device))
        yield
        events.append(("to", tensor.device))

    class Kernel:
        def __getitem__(self, grid):
            return lambda *_, **__: events.append("launched")

    walk = kernel_walk(9, 9, block_pairs=256)
    monkeypatch.setattr(torch.cuda, "device_of", device_of)
    (block,) = walk.blocks()
    for name in ("ascend", "score"):
        monkeypatch.setattr(recomputed_kernels().kernels, name, Kernel())
    walk.logits(block)
    assert events == [("from", walk.first.device), "launched", ("to", walk.first.device)]


@pytest.mark.device
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("depth", "hidden"), [(2, 64), (3, 100), (4, 256)])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (67, 129), (200, 3)])
def test_a_gpu_in_16_bits_goes_by_kernels(monkeypatch, n, m, depth, hidden, dtype):
    if walk_for(torch.empty(1, hidden, dtype=dtype, device="cuda"), depth) is Walk:
        pytest.skip("not the shared memory of a Hopper GPU")
    monkeypatch.setitem(recomputed.KEPT_BYTES, "other", -1)
    torch.manual_seed(0)
    network = PairsNetwork(dimension=32, hidden=hidden, depth=depth, dropout=0.0).cuda()
    a, b = (torch.randn(count, 32, device="cuda", requires_grad=True) for count in (n, m))
    leaves, pull, gradients = [a, b, *network.parameters()], torch.randn(n, m, device="cuda"), []
    for score in (network.score_all, lambda a, b: concatenated(network, a, b)):
        with torch.autocast("cuda", dtype=dtype):
            scores = score(a, b)
        gradients.append((scores.float(), *torch.autograd.grad((scores.float() * pull).sum(), leaves)))
    exact = concatenated(network, a, b)
    truth = (exact, *torch.autograd.grad((exact * pull).sum(), leaves))
    for ours, theirs, right in zip(*gradients, truth, strict=True):
        # A unit near 0 that one rounding puts above it and the other below takes its whole gradient along: of
        # few pairs the two are off by unlike amounts.
        assert (ours - right).norm() <= 1.5 * (theirs - right).norm() + 3e-2 * right.norm() + 1e-4


@pytest.mark.device
@pytest.mark.parametrize("hidden", [64, 100, 256])
def test_scores_on_the_chip_drop_what_those_of_blocks_do(monkeypatch, hidden):
    """The gradient drops as the blocks do: in the same units of the same pairs."""
    module = recomputed_kernels()
    torch.manual_seed(0)
    network = PairsNetwork(dimension=4, hidden=hidden, depth=3).cuda()
    parameters = [
        parameter for layer in [*network.layers, network.last] for parameter in (layer.weight, layer.bias)
    ]
    halves = [torch.randn(count, hidden, device="cuda", dtype=torch.bfloat16) for count in (67, 150)]

    def walk():
        return module.KernelWalk(Way(0.1, 0.5, 5, 640), *halves, parameters, back=False)

    if not walk().on_chip:
        pytest.skip("not a Hopper GPU")
    on_chip = walk().scores()
    monkeypatch.setattr(module.on_hopper, "takes", lambda *_, **__: False)
    torch.testing.assert_close(on_chip, walk().scores(), atol=0.02, rtol=0.02)
