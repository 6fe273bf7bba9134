"""The kernel for any GPU, on one; without a GPU Triton's interpreter runs it: see test_pairs_kernel.py."""

import pytest
import torch

from samekind.similarities import PairsNetwork
from samekind.similarities.pairs_kernel import PairsKernel

pytestmark = pytest.mark.device


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("depth", "hidden"), [(1, 100), (3, 350), (4, 256), (2, 600)])
def test_agrees_with_the_network(depth, hidden, dtype):
    torch.manual_seed(0)
    network = PairsNetwork(dimension=32, hidden=hidden, depth=depth).cuda().eval()
    a, b = torch.randn(70, 32, device="cuda"), torch.randn(131, 32, device="cuda")
    with torch.no_grad():
        plain = network.score_all(a, b)
    scores = PairsKernel(network, dtype=dtype, path="portable").score_all(a, b)
    torch.testing.assert_close(scores, plain, atol=0.02, rtol=0.02)
