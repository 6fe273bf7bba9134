"""The arguments and results of the kernel against the network."""

from importlib.util import find_spec

import pytest
import torch

from samekind.errors import SettingError
from samekind.similarities import Cosine, PairsNetwork
from samekind.similarities.kernels.on_hopper import in_pieces
from samekind.similarities.kernels.pairs_kernel import PairsKernel, _packed, has_kernel

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")


def network(*, hidden=72, depth=3, **arguments):
    torch.manual_seed(0)
    return PairsNetwork(dimension=8, hidden=hidden, depth=depth, **arguments).eval()


def test_a_kernel_is_for_a_pairs_network_on_a_gpu():
    assert not has_kernel(network(), torch.device("cpu"))
    assert not has_kernel(Cosine(), torch.device("cuda"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"dtype": torch.float32}, "bfloat16 or float16, not torch.float32"),
        ({"path": "hopper"}, "at most 256 units on an H100 or H200; this network has 3 of 72, on cpu"),
    ],
)
def test_refuses_unsupported_settings(arguments, said):
    with pytest.raises(SettingError, match=said):
        PairsKernel(network(), **arguments)


def test_layers_are_padded_with_zeros():
    packed = _packed(network(), torch.float16, pieces=False)
    assert (packed.layers, packed.width) == (2, 128)
    for padded, layer in zip(packed.weights, network().layers, strict=True):
        assert torch.equal(padded[:72, :72], layer.weight.half())
        assert not padded[72:].any()
        assert not padded[:, 72:].any()
    assert not packed.last[72:].any()


def test_for_the_hopper_kernel_they_come_in_pieces():
    whole = _packed(network(), torch.float16, pieces=False).weights
    assert torch.equal(_packed(network(), torch.float16, pieces=True).weights, in_pieces(whole))


def test_paired_scores_are_the_networks_own():
    similarity = network()
    kernel = PairsKernel(similarity)
    a, b = torch.randn(5, 8), torch.randn(5, 8)
    assert torch.equal(kernel(a, b), similarity(a, b))
    assert kernel.quantity == "logit"
    assert kernel.scale is similarity.scale
    assert kernel.pair_bytes(8) == 4


#: Run in a process of its own: Triton reads the variable when it is imported. Half precision, because the
#: interpreter does not know how to multiply bfloat16.
CHECK = """
import torch
from samekind.measures.binning import count_bins
from samekind.similarities import PairsNetwork, score_all
from samekind.similarities.kernels.on_hopper import in_pieces
from samekind.similarities.kernels.pairs_kernel import PairsKernel

for depth, hidden, slope, n, m in SHAPES:
    torch.manual_seed(n)
    network = PairsNetwork(dimension=8, hidden=hidden, depth=depth, slope=slope).eval()
    kernel = PairsKernel(network, dtype=torch.float16)
    a, b = torch.randn(n, 16)[:, ::2], torch.randn(8, m).T  # neither is contiguous
    with torch.no_grad():
        plain = network.score_all(a, b)
    scores = kernel.score_all(a, b)
    torch.testing.assert_close(scores, plain, atol=2e-3, rtol=2e-3)
    assert torch.equal(score_all(kernel, a, b), scores)
    rows, columns = kernel.log_sum_exp(a, b, scale=2.0), kernel.log_sum_exp(a, b, over="first")
    torch.testing.assert_close(rows, (2 * plain).logsumexp(1), atol=5e-3, rtol=5e-3)
    torch.testing.assert_close(columns, plain.logsumexp(0), atol=5e-3, rtol=5e-3)
    values, places = kernel.best(a, b, 3)
    torch.testing.assert_close(values, plain.topk(min(3, m)).values, atol=2e-3, rtol=2e-3)
    torch.testing.assert_close(values, plain.gather(1, places))
    mine, others = torch.arange(n) % 2, torch.arange(m) % 2
    same = mine[:, None] == others
    bins, errors = kernel.count_bins(a, b, (mine, others), threshold=0.01)
    expected, wrong = count_bins([(scores.flatten(), same.flatten())], 0.01)
    assert torch.equal(bins, expected)
    assert tuple(errors.tolist()) == wrong
    looked_at = bins.sum(1).nonzero().flatten().tolist()[:3]
    cells = kernel.count_cells(a, b, (mine, others), looked_at)
    assert torch.equal(cells.sum(2), bins[looked_at])
    bins, _ = kernel.count_bins(a, b, (mine, others), upper=True)
    above = torch.ones(n, m, dtype=torch.bool).triu(1)
    assert torch.equal(bins, count_bins([(scores[above], same[above])])[0])
    assert kernel.score_all(a[:0], b).shape == (0, m)
# Neither the network nor the embeddings need be in float32.
for dtype, given in ((torch.double, a), (torch.bfloat16, a.bfloat16()), (torch.float, a.double())):
    kernel = PairsKernel(network.to(dtype), dtype=torch.float16)
    torch.testing.assert_close(kernel.score_all(given, b.double()), plain, atol=0.02, rtol=0.02)
    assert kernel.best(given, b, 3)[0].dtype == torch.float32
print("all agree")
"""


@needs_triton
@pytest.mark.parametrize(
    "shapes",
    [
        [(1, 40, 0.1, 3, 66), (2, 16, 0.1, 1, 1)],
        [(3, 72, 0.1, 3, 2), (2, 16, 1.5, 5, 3)],
    ],
    ids=["one layer, one pair", "odd sizes, a steep slope"],
)
def test_agrees_with_the_network_by_the_interpreter(shapes, interpreting):
    interpreting(CHECK.replace("SHAPES", repr(shapes)))
