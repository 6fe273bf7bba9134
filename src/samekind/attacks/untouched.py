"""A model attacked and left as it was found."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn


@contextmanager
def untouched(*models: nn.Module) -> Iterator[None]:
    """Within: evaluation mode, gradients of inputs but none of parameters. Afterwards: every mode, every
    ``requires_grad``, every buffer (batch statistics) and the random state are as before.

    A gradient that a parameter has already is kept. Raises nothing of its own.
    """
    modules = {module: module.training for model in models for module in model.modules()}
    parameters = {p: p.requires_grad for model in models for p in model.parameters()}
    buffers = [(buffer, buffer.clone()) for model in models for buffer in model.buffers()]
    devices = {place.device for place in (*parameters, *(buffer for buffer, _ in buffers))}
    cuda = [device for device in devices if device.type == "cuda"]
    try:
        for module in modules:
            module.training = False
        for parameter in parameters:
            parameter.requires_grad_(False)
        with torch.random.fork_rng(devices=cuda), torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        with torch.no_grad():
            for (buffer, before), changed in zip(buffers, _changed(buffers), strict=True):
                if changed:
                    buffer.copy_(before)
        for module, mode in modules.items():
            module.training = mode
        for parameter, learned in parameters.items():
            parameter.requires_grad_(learned)


def _changed(pairs: Sequence[tuple[Tensor, Tensor]]) -> list[bool]:
    """Which of the pairs differ; a device is waited for once, not for every pair."""
    flags = [(one != other).any() for one, other in pairs]
    together = torch.stack([flag.to(flags[0].device) for flag in flags]) if flags else torch.zeros(0)
    return [bool(flag) for flag in together.tolist()]
