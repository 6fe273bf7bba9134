"""The kernels for training against the network they stand for, on a GPU: random shapes, both precisions.

    python benchmarks/device/check_pairs_training.py [--cases 40] [--seed 0]

Each case draws a width, a depth, a slope, sizes (one row, one column and odd ones among them) and the pairs
of a block, and compares scores and every gradient of three networks with float64, where autograd under the
same autocast may be as far off; the middle one counts. Then dropout: without biases the network is
homogeneous, so inputs times their gradients are the scores if both passes drop the same units. The last line
says whether all agree.
"""

import random
import statistics

import torch
from cases import checked
from torch import Tensor

from samekind.similarities import PairsNetwork
from samekind.similarities.pairs_network import concatenated
from samekind.similarities.recomputed import Walk, recomputed_scores, walk_for

PRECISIONS = (torch.bfloat16, torch.float16)
#: Of the size of a gradient, beyond what autograd is off by.
TOLERANCE = {torch.bfloat16: 0.02, torch.float16: 0.004}


def drawn(chance: random.Random) -> tuple[torch.dtype, int, int, float, int, int, int]:
    """A precision, and the shape of a case."""
    sizes = [1, 2, 7, 8, 9, 64, chance.randint(1, 300)]
    n, m = chance.choice(sizes), chance.choice(sizes)
    slope, pairs = chance.choice([0.0, 0.1, 0.5, 1.5]), chance.choice([64, 1000, 2**19])
    return chance.choice(PRECISIONS), chance.randint(1, 256), chance.randint(2, 6), slope, n, m, pairs


def by_kernels(network: PairsNetwork, a: Tensor, b: Tensor, dtype: torch.dtype, pairs: int) -> Tensor:
    """The scores, whose gradient goes by kernels, too."""
    with torch.autocast("cuda", dtype=dtype):
        first, second = network.halves(a, b)
    assert walk_for(first, network.depth) is not Walk, "this GPU has no kernels for training"
    layers = [layer for layer in network.layers if isinstance(layer, torch.nn.Linear)]
    dropout = network.dropout if network.training else 0.0
    return recomputed_scores(
        first, second, layers, network.last, slope=network.slope, dropout=dropout, block_pairs=pairs
    )


def check(dtype: torch.dtype, hidden: int, depth: int, slope: float, n: int, m: int, pairs: int) -> float:
    """How far gradients are from float64, of their size, beyond autograd's; an AssertionError if too far.

    Of three networks the middle one: with few pairs a single unit that rounding brings to the other side of
    a LeakyReLU is some per cent of a gradient, with the kernels as with autograd.
    """
    excess = statistics.median(beyond(dtype, hidden, depth, slope, n, m, pairs) for _ in range(3))
    assert excess < TOLERANCE[dtype], f"off by {excess} more than autograd"
    return excess


def beyond(dtype: torch.dtype, hidden: int, depth: int, slope: float, n: int, m: int, pairs: int) -> float:
    """How much farther than 1.5 times autograd's error the worst gradient of one network is off."""
    network = PairsNetwork(dimension=32, hidden=hidden, depth=depth, slope=slope, dropout=0.0).cuda()
    a, b = (torch.randn(count, 32, device="cuda", requires_grad=True) for count in (n, m))
    leaves, pull = [a, b, *network.parameters()], torch.randn(m, n, device="cuda").t()
    ours = by_kernels(network, a, b, dtype, pairs).float()
    with torch.autocast("cuda", dtype=dtype):
        theirs = concatenated(network, a, b).float()
    gradients = [[scores, *torch.autograd.grad((scores * pull).sum(), leaves)] for scores in (ours, theirs)]
    network.double()
    exact = concatenated(network, a.double(), b.double())
    truth = [exact, *torch.autograd.grad((exact * pull).sum(), [a, b, *network.parameters()])]
    worst = 0.0
    for one, other, right in zip(*gradients, truth, strict=True):
        one, other, right = one.detach(), other.detach(), right.detach()
        more = float((one - right).norm() - 1.5 * (other - right).norm()) / (float(right.norm()) + 1e-2)
        worst = max(worst, more)
    return worst


def check_dropout(dtype: torch.dtype) -> None:
    """Both passes drop the same units, and another seed others."""
    network = PairsNetwork(dimension=32, hidden=256, depth=4, dropout=0.5).cuda().train()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.mul_(0.0 if name.endswith("bias") else 1.0)
    a, b = (torch.randn(count, 32, device="cuda", requires_grad=True) for count in (90, 130))
    torch.manual_seed(1)
    scores = by_kernels(network, a, b, dtype, 4096).float()
    by_a, by_b = torch.autograd.grad(scores.sum(), [a, b])
    total, expected = float((a * by_a).sum() + (b * by_b).sum()), float(scores.sum())
    assert abs(total - expected) < 0.02 * float(scores.abs().sum()), f"{total} is not {expected}"
    assert not torch.equal(by_kernels(network, a, b, dtype, 4096).float(), scores), "the same units again"


def main() -> None:
    worst = dict.fromkeys(PRECISIONS, 0.0)
    for (dtype, *_), off in checked(__doc__.splitlines()[0], drawn, check):
        worst[dtype] = max(worst[dtype], off)
    for dtype, off in worst.items():
        check_dropout(dtype)
        print(f"{dtype!s:16} gradients off by {off:.2e} of their size more than 1.5 times autograd's error")


if __name__ == "__main__":
    main()
