"""The kernels for training, compiled without a GPU; test_recomputed_kernels.py checks their results."""

from importlib.util import find_spec

import pytest

#: Compiled for the GPU as a call would compile it, and what it takes there.
COMPILE = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from samekind.similarities.kernels import pairs_kernel_layers as kernels
from samekind.similarities.kernels.recomputed_kernels import (
    ASCEND_FROM_HALVES, FROM_HALVES, SHARED_BYTES, Shape,
)

kinds = dict.fromkeys(("tiles", "n", "m", "seed", "stride", "threshold"), "i32") | {"slope": "fp32"}
kinds |= dict.fromkeys(("below", "first", "second", "weights", "goal", "above", "here"), "*bf16")
kinds |= dict.fromkeys(("bias", "last", "pull", "parts"), "*fp32")
kinds |= {"factors": "*i32"} | dict.fromkeys(("bias_sums", "last_sums", "weight_sums", "sums"), "*fp32")
for kernel, shape, more in (
    (kernels.ascend, ASCEND_FROM_HALVES, {"FIRST": True, "KEEP": True}),
    (kernels.score, Shape(), {"FIRST": False}),
    (kernels.begin_gradients, FROM_HALVES, {"FIRST": True}),
    (kernels.descend, Shape(), {"BOTTOM": False}),
    (kernels.descend, Shape(), {"BOTTOM": True}),
):
    known = {"WIDTH": 256, "OUT": 128, **more}
    taken = {name: "constexpr" if name in known else kinds[name] for name in kernel.arg_names}
    places = {(kernel.arg_names.index(name),): value for name, value in known.items()}
    given = enumerate(taken.values())
    aligned = {(place,): [["tt.divisibility", 16]] for place, kind in given if kind[0] == "*"}
    source = ASTSource(kernel, taken, places, aligned)
    options = {"num_warps": shape.warps, "num_stages": shape.stages}
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    assert "wgmma.mma_async" in compiled.asm["ptx"]
    assert compiled.metadata.shared * shape.programs <= SHARED_BYTES
print("compiled")
"""


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
def test_compiles_without_a_gpu(compiling):
    compiling(COMPILE)
