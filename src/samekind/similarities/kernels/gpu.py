"""What the kernels have to know of a GPU."""

from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

#: The oldest Triton that compiles the kernels; PyTorch before 2.10 brings an older one.
OLDEST_TRITON = (3, 6)


def has_triton() -> bool:
    """Whether Triton is installed, and new enough for the kernels."""
    try:
        import triton
    except ImportError:
        return False
    return tuple(int(each) for each in triton.__version__.split(".")[:2]) >= OLDEST_TRITON


def multiprocessors(device: torch.device) -> int:
    """How many programs run at a time; on a CPU, where Triton's interpreter takes them in turn, a few."""
    properties: Any = torch.cuda.get_device_properties(device) if device.type == "cuda" else None
    return int(properties.multi_processor_count) if properties is not None else 4


def shared_memory(device: torch.device) -> int:
    """The bytes of shared memory that one program may have; 0 on a CPU, and where PyTorch does not say."""
    properties: Any = torch.cuda.get_device_properties(device) if device.type == "cuda" else None
    # Only for NVIDIA, and since PyTorch 2.6.
    return int(getattr(properties, "shared_memory_per_block_optin", 0))


def current_gpu(tensor: Tensor) -> AbstractContextManager[None]:
    """Makes the GPU of a tensor the current one, which is where Triton launches; a CPU changes nothing."""
    guard: AbstractContextManager[None] = torch.cuda.device_of(tensor)  # type: ignore[no-untyped-call]
    return guard
