"""What makes a machine quick, for the training steps alone: what is set for them is put back afterwards."""

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
    """What was asked of a GPU: to multiply float32 matrices with fewer digits (``tf32``), and to try which
    convolution is quickest for every shape it meets. Other devices are left as they are.

    Nothing is tried where PyTorch was told to be deterministic: what wins may differ from run to run.
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
    """Put the filters of an encoder with their channels innermost, or as they usually are."""
    encoder.to(memory_format=torch.channels_last if channels_last else torch.contiguous_format)


def compiled_forward(encoder: nn.Module, *, method: str = "forward") -> Callable[[Tensor], Tensor]:
    """The encoder's ``forward`` (or another method), compiled; the encoder, and the names of its weights,
    stay as they are.

    Every shape is compiled for itself: what a step computes must not depend on which shapes came before.
    """
    compiled: Callable[[Tensor], Tensor] = torch.compile(getattr(encoder, method), dynamic=False)
    return compiled


def moves_at_once(fabric: Fabric) -> bool:
    """Whether the optimiser is to move all weights by one kernel: on a GPU, which waits for what it is told.

    Not where gradients are scaled, as in half precision: such an optimiser would divide them by itself, and
    they could not be clipped before.
    """
    return fabric.device.type == "cuda" and getattr(fabric.strategy.precision, "scaler", None) is None


def resident(items: Items, device: torch.device) -> Items:
    """The items on the device, where a batch of them is quickly gathered; inputs that would take more than
    half of what memory a GPU has left stay where they are and go there batch by batch, as stored ones do.
    """
    if device.type == "cuda" and not isinstance(items.inputs, Stored):
        free, _ = torch.cuda.mem_get_info(device)
        if items.inputs.nbytes > free // 2:
            return replace(items, labels=items.labels.to(device))
    return items.to(device)


def decoded_there(items: Items, device: torch.device) -> Items:
    """Stored pictures decoded once onto a GPU, where they take no more than half of what memory it has left;
    those that are to stay where they are, and all other items, as they are. Of the machine's own memory no
    more than a few batches are taken.
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
    """Indices on the device, all of them sent at once: to send each by itself would make a GPU wait."""
    if device.type == "cpu" or not batches:
        return batches
    return list(torch.split(torch.cat(batches).to(device), [len(each) for each in batches]))


def sent(x: Tensor, device: torch.device) -> Tensor:
    """A batch on the device, on its way there while earlier ones are still computed with."""
    if device.type == "cuda" and x.device.type == "cpu":
        return x.pin_memory().to(device, non_blocking=True)
    return x.to(device)
