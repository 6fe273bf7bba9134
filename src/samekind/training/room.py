"""How many items fit into memory at once, for an encoder and one size of items."""

import os
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from samekind.inference.embed import device_of

#: The share of the free memory that what is kept for the backward pass may take. The rest is for gradients,
#: working memory, the optimiser and other programs.
SHARE = 0.5

#: Items that are tried.
TRIED = 2

#: What is changed for the trial.
SET_ASIDE = {"training", "checkpointing"}

MEMORY_OF_GROUP = Path("/sys/fs/cgroup")


def items_at_once(encoder: nn.Module, shape: Sequence[int], *, free: int | None = None) -> int:
    """How many items of a shape a training step may hold on the encoder's device, at least 1, given its
    ``free`` bytes (None: those free now). Measured: two items of zeros pass through the encoder as in
    training, and what is kept for the backward pass is counted. The encoder does not change.
    """
    device = device_of(encoder)
    room = SHARE * (free_memory(device) if free is None else free)
    kept = kept_for_gradient(encoder, torch.zeros(TRIED, *shape, device=device)) / TRIED
    return max(1, int(room / max(kept, 1)))


def kept_for_gradient(encoder: nn.Module, x: Tensor) -> int:
    """The bytes that the forward pass of items keeps for the backward pass, without the weights."""
    weights = {weight.untyped_storage().data_ptr() for weight in encoder.state_dict(keep_vars=True).values()}
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    # Statistics stay; in training as much is kept, but for masks of dropout. Stages that are computed again
    # would hide what they keep.
    before = [(module, dict(vars(module))) for module in encoder.modules()]
    encoder.eval()
    try:
        for module, settings in before:
            if "checkpointing" in settings:
                vars(module)["checkpointing"] = False
        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            encoder(x)
    finally:
        for module, settings in before:
            vars(module).update({name: settings[name] for name in SET_ASIDE & settings.keys()})
    return sum(kept.values())


def free_memory(device: torch.device) -> int:
    """The bytes that are free on a device. Of the main memory those that programs can get, at most what the
    group of processes may still use.
    """
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    available = _available()
    try:
        most, used = ((MEMORY_OF_GROUP / f"memory.{name}").read_text() for name in ("max", "current"))
        return min(available, max(0, int(most) - int(used)))
    except (OSError, ValueError):  # no such group, or "max": no limit
        return available


def _available() -> int:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):  # not Linux
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
