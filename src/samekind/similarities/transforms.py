"""Whether `torch.func` is at work: its transforms go through plain operations alone.

A similarity or loss that has a gradient of its own, or computes in blocks to save memory, does neither inside
of `torch.func.grad`, `jacrev`, `hessian` or `torch.vmap`: there it is made of PyTorch's operations, all at
once, with the same values.
"""

import torch
from torch import Tensor


def transforming() -> bool:
    """Whether a transform of `torch.func`, or `torch.vmap`, is at work."""
    return bool(torch._C._are_functorch_transforms_active())


def is_mapped(tensor: Tensor) -> bool:
    """Whether `torch.vmap` maps over this tensor."""
    wrapped = torch._C._functorch
    while wrapped.is_functorch_wrapped_tensor(tensor):
        if wrapped.is_batchedtensor(tensor):
            return True
        tensor = wrapped.get_unwrapped(tensor)
    return False
