"""The kernel for Hopper GPUs: compiled without such a GPU, and run on one."""

from importlib.util import find_spec

import pytest
import torch

from samekind.similarities import PairsNetwork
from samekind.similarities.kernels.pairs_kernel import PairsKernel

#: Compiled for the GPU as a call would compile it, down to its registers.
COMPILE = """
import triton
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon._runtime import GluonASTSource
from samekind.similarities.kernels import pairs_kernel_hopper as hopper

layout = hopper.piece_layout("torch.bfloat16")
pieces = f"tensordesc<bf16[64,64],{layout!r}>"
kinds = {"rows": "*bf16", "columns": pieces, "weights": pieces, "bias": "*fp32", "last": "*fp32"}
kinds |= {"target": "", "row_labels": "*i64", "column_labels": "*i64", "slots": "*i32", "errors": "*i64"}
kinds |= {"n": "i32", "m": "i32", "slope": "fp32", "offset": "fp32", "scale": "fp32", "threshold": "fp32"}
kinds |= {"factors": "*i32", "seed": "i32", "dropped": "i32"}
for target, epilogue, dropout in (("*i64", "bins", False), ("*fp32", "scores", True)):
    known = {"PIECES": 1, "LAYERS": 2, "EPILOGUE": epilogue, "UPPER": not dropout, "DROPOUT": dropout}
    taken = kinds | {"target": target} | dict.fromkeys(known, "constexpr")
    places = {(list(taken).index(name),): value for name, value in known.items()}
    source = GluonASTSource(hopper.score_tiles, taken, places, {})
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
    assert "wgmma.mma_async" in compiled.asm["ptx"]
    assert len(compiled.asm["cubin"]) > 1000
print("compiled")
"""


needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")


@needs_triton
def test_compiles_without_a_gpu(compiling):
    compiling(COMPILE)


@needs_triton
def test_mixes_the_numbers_of_pairs_as_the_kernels_that_go_back_do():
    """Neither language can call a function of the other, so there are two: alike to the letter."""
    from samekind.similarities.kernels import pairs_kernel_hopper, pairs_kernel_layers

    assert pairs_kernel_hopper.mixed.src == pairs_kernel_layers.mixed.src


@pytest.mark.device
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    ("depth", "hidden"), [(2, 64), (3, 100), (4, 256), (6, 192)], ids=lambda number: str(number)
)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 200), (200, 1), (67, 129)])
def test_agrees_with_the_network(n, m, depth, hidden, dtype):
    if torch.cuda.get_device_capability()[0] != 9:
        pytest.skip("not a Hopper GPU")
    torch.manual_seed(0)
    network = PairsNetwork(dimension=32, hidden=hidden, depth=depth).cuda().eval()
    a, b = torch.randn(n, 64, device="cuda")[:, ::2], torch.randn(32, m, device="cuda").T
    with torch.no_grad():
        plain = network.score_all(a, b)
    scores = PairsKernel(network, dtype=dtype, path="hopper").score_all(a, b)
    torch.testing.assert_close(scores, plain, atol=0.01, rtol=0.02)
