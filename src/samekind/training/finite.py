"""Weights that are NaN or infinite."""

from collections.abc import Mapping

import torch
from torch import nn


@torch.no_grad()
def not_finite(parts: Mapping[str, nn.Module]) -> list[str]:
    """The names of the parts that have a weight that is NaN or infinite. A GPU is waited for once."""
    weights = {
        name: [weight for weight in part.parameters() if weight.numel()] for name, part in parts.items()
    }
    # The greatest size among the weights of a part; NaN if there is one.
    norms = {
        name: nn.utils.get_total_norm(tensors, torch.inf) for name, tensors in weights.items() if tensors
    }
    if not norms:
        return []
    finite = torch.stack([norm.float() for norm in norms.values()]).isfinite().tolist()
    return [name for name, good in zip(norms, finite, strict=True) if not good]
