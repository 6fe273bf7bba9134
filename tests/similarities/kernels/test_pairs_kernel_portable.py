"""The kernel for any GPU, compiled without one and asked on one; test_pairs_kernel.py runs it by Triton's
interpreter.
"""

from importlib.util import find_spec

import pytest
import torch

from samekind.similarities import PairsNetwork
from samekind.similarities.kernels.pairs_kernel import PairsKernel

#: For an A100. A million rows and columns have more tiles than 32 bits can count.
COMPILE = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from samekind.similarities.kernels.pairs_kernel_portable import score_tiles

kinds = dict.fromkeys(("rows", "columns", "weights", "scratch"), "*bf16")
kinds |= dict.fromkeys(("bias", "last"), "*fp32") | {"slots": "*i32"}
kinds |= dict.fromkeys(("target", "row_labels", "column_labels", "errors"), "*i64")
kinds |= dict.fromkeys(("n", "m", "width", "layers"), "i32")
kinds |= dict.fromkeys(("slope", "offset", "scale", "threshold"), "fp32")
kinds |= {"tiles": "i64"}
known = {"EPILOGUE": "bins", "UPPER": True}
taken = {name: "constexpr" if name in known else kinds[name] for name in score_tiles.arg_names}
places = {(score_tiles.arg_names.index(name),): value for name, value in known.items()}
given = enumerate(taken.values())
aligned = {(place,): [["tt.divisibility", 16]] for place, kind in given if kind[0] == "*"}
source = ASTSource(score_tiles, taken, places, aligned)
assert len(triton.compile(source, target=GPUTarget("cuda", 80, 32)).asm["cubin"]) > 1000
print("compiled")
"""


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
def test_compiles_without_a_gpu(compiling):
    compiling(COMPILE)


@pytest.mark.device
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
