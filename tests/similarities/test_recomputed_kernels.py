"""Training by kernels against the plain walk: by Triton's interpreter, and on a GPU."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
import torch

from samekind.similarities import PairsNetwork, recomputed
from samekind.similarities.pairs_network import concatenated
from samekind.similarities.recomputed import Walk, walk_for

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")

#: Run in a process of its own: Triton reads the variable when it is imported. Half precision, because the
#: interpreter does not know how to multiply bfloat16.
BEGIN = """
import torch
from samekind.similarities import PairsNetwork, recomputed
from samekind.similarities.pairs_network import concatenated
from samekind.similarities.recomputed import Walk, recomputed_scores
from samekind.similarities.recomputed_kernels import KernelWalk

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


def interpreted(code):
    ran = subprocess.run(
        [sys.executable, "-c", BEGIN + code],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.strip() == "all agree", ran.stderr[-2000:]


@needs_triton
@pytest.mark.parametrize(
    "cases",
    [
        [(2, 16, 0.1, 5, 9, None), (3, 64, 0.1, 11, 19, None), (4, 70, 0.0, 1, 1, None)],
        [(3, 130, 0.1, 10, 20, 100), (2, 256, 0.1, 9, 3, None), (3, 3, 1.5, 17, 8, 64)],
    ],
    ids=["one block", "several blocks, wide, steep"],
)
def test_scores_and_gradients_are_those_of_the_network(cases):
    interpreted(AGREES.replace("CASES", repr(cases)))


@needs_triton
def test_dropout_keeps_its_share_and_both_passes_drop_the_same():
    interpreted(DROPS)


@needs_triton
def test_what_needs_no_gradient_gets_none_and_the_rest_is_right():
    interpreted(FREEZES)


def test_a_processor_has_no_kernels():
    half = torch.zeros(3, 64, dtype=torch.bfloat16)
    assert walk_for(half, 3) is Walk


@pytest.mark.device
@pytest.mark.parametrize(("depth", "hidden"), [(2, 64), (3, 100), (4, 256)])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (67, 129), (200, 3)])
def test_a_gpu_in_bfloat16_goes_by_kernels(monkeypatch, n, m, depth, hidden):
    monkeypatch.setitem(recomputed.KEPT_BYTES, "other", -1)
    torch.manual_seed(0)
    network = PairsNetwork(dimension=32, hidden=hidden, depth=depth, dropout=0.0).cuda()
    a, b = (torch.randn(each, 32, device="cuda", requires_grad=True) for each in (n, m))
    leaves, pull, found = [a, b, *network.parameters()], torch.randn(n, m, device="cuda"), []
    for score in (network.score_all, lambda a, b: concatenated(network, a, b)):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            scores = score(a, b)
        found.append((scores.float(), *torch.autograd.grad((scores.float() * pull).sum(), leaves)))
    exact = concatenated(network, a, b)
    truth = (exact, *torch.autograd.grad((exact * pull).sum(), leaves))
    for ours, theirs, right in zip(*found, truth, strict=True):
        assert (ours - right).norm() <= 1.5 * (theirs - right).norm() + 1e-2 * right.norm() + 1e-4
