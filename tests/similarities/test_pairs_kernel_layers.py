"""The kernels for training, compiled without a GPU; test_recomputed_kernels.py checks what they say."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

#: Compiled for the GPU as a call would compile it, and what it takes there.
COMPILE = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from samekind.similarities import pairs_kernel_layers as kernels

number, half, single = "i32", "*bf16", "*fp32"
kinds = {"above": half, "here": half, "weights": half, "weight_sums": single, "sums": single, "tiles": number}
kinds |= {"slope": "fp32"}
known = {"WIDTH": 256, "OUT": 128, "BOTTOM": False}
kinds |= dict.fromkeys(known, "constexpr")
places = {(list(kinds).index(name),): value for name, value in known.items()}
aligned = {(place,): [["tt.divisibility", 16]] for place, kind in enumerate(kinds.values()) if kind[0] == "*"}
source = ASTSource(kernels.descend, kinds, places, aligned)
options = {"num_warps": 8, "num_stages": 3}
compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
assert "wgmma.mma_async" in compiled.asm["ptx"]
assert compiled.metadata.shared <= 227 * 1024
print("compiled")
"""


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
def test_compiles_without_a_gpu(tmp_path):
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", COMPILE], env=environment, capture_output=True, text=True, check=False
    )
    assert "compiled" in ran.stdout, ran.stderr[-2000:]
