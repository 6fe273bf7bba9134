"""Faster training steps: settings of a GPU, memory formats, and items that are on the device already."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from samekind.data import Items, Stored
from samekind.data.stored import fetched
from samekind.training.fabric import Fabric

#: Pictures that are decoded and sent to a GPU at a time.
TOGETHER = 256


@contextmanager
def tuned(device: torch.device, *, tf32: bool, try_convolutions: bool) -> Iterator[None]:
    """Within it a GPU multiplies float32 matrices with fewer digits (``tf32``), and tries which convolution
    is quickest for every shape (``try_convolutions``). Afterwards both are as before. Other devices do not
    change.

    Nothing is tried where PyTorch is set to be deterministic: the quickest may differ from run to run.
    """
    if device.type != "cuda":
        yield
        return
    benchmark = torch.backends.cudnn.benchmark
    precision = torch.get_float32_matmul_precision() if tf32 else ""
    exact = torch.are_deterministic_algorithms_enabled() or torch.backends.cudnn.deterministic
    try:
        torch.backends.cudnn.benchmark = benchmark or (try_convolutions and not exact)
        if tf32:
            torch.set_float32_matmul_precision("high")
        yield
    finally:
        torch.backends.cudnn.benchmark = benchmark
        if tf32:
            torch.set_float32_matmul_precision(precision)


def lay_out(encoder: Any, *, channels_last: bool) -> None:
    """Store the filters of an encoder with the channels last, or as usual."""
    encoder.to(memory_format=torch.channels_last if channels_last else torch.contiguous_format)


def compiled_forward(encoder: nn.Module, *, method: str = "forward") -> Callable[[Tensor], Tensor]:
    """The encoder's ``forward`` (or another method), compiled; the encoder itself does not change.

    Every shape is compiled by itself: a step must not depend on the shapes before it.
    """
    compiled: Callable[[Tensor], Tensor] = torch.compile(getattr(encoder, method), dynamic=False)
    return compiled


def moves_at_once(fabric: Fabric) -> bool:
    """Whether the optimiser moves all weights by one kernel: on a GPU.

    Not where gradients are scaled, as in half precision: a fused optimiser unscales them itself, and they
    could not be clipped before.
    """
    return fabric.device.type == "cuda" and getattr(fabric.strategy.precision, "scaler", None) is None


def resident(items: Items, device: torch.device) -> Items:
    """The items on the device. Inputs that would take more than half of the free memory of a GPU stay where
    they are and go there batch by batch, as stored ones do.
    """
    if device.type == "cuda" and not isinstance(items.inputs, Stored):
        free, _ = torch.cuda.mem_get_info(device)
        if items.inputs.nbytes > free // 2:
            return replace(items, labels=items.labels.to(device))
    return items.to(device)


def decoded_onto(items: Items, device: torch.device) -> Items:
    """Stored pictures, decoded once onto a GPU if they take at most half of its free memory. Other items, and
    pictures that are to stay stored, are returned unchanged. The CPU holds a few batches at a time.
    """
    stored = items.inputs
    if device.type != "cuda" or not isinstance(stored, Stored) or stored.stays:
        return items
    free, _ = torch.cuda.mem_get_info(device)
    return replace(items, inputs=_decoded(stored, device)) if stored.nbytes <= free // 2 else items


def _decoded(stored: Stored, device: torch.device) -> Tensor:
    pixels = torch.empty(stored.shape, dtype=stored.dtype, device=device)
    parts = [slice(start, start + TOGETHER) for start in range(0, len(stored), TOGETHER)]
    for part, decoded in zip(parts, fetched(stored, parts), strict=True):
        pixels[part] = decoded.to(device)
    return pixels


def batches_on(device: torch.device, batches: list[Tensor]) -> list[Tensor]:
    """Indices on the device, all sent at once: one by one would make a GPU wait."""
    if device.type == "cpu" or not batches:
        return batches
    return list(torch.split(torch.cat(batches).to(device), [len(batch) for batch in batches]))


def sent(x: Tensor, device: torch.device) -> Tensor:
    """A batch on the device; it is sent while the GPU still computes."""
    if device.type == "cuda" and x.device.type == "cpu":
        return x.pin_memory().to(device, non_blocking=True)
    return x.to(device)
