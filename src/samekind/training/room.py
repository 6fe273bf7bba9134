"""How many items fit into memory at once, for an encoder and one size of items."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn

from samekind.augmentations import augment
from samekind.data import Items, Stored, scaled
from samekind.data.stored import fetched
from samekind.encoders.stages import statistics_kept
from samekind.inference.embed import device_of
from samekind.training.build import build_augmentations, build_encoder, build_sampler
from samekind.training.checkpoints import random_states_kept
from samekind.training.fabric import launch
from samekind.training.run import Run

#: The share of the free memory that what is kept for the backward pass may take. The rest is for the items,
#: which may fill half of a GPU, for gradients and for working memory.
SHARE = 0.4

#: Items that are tried.
TRIED = 2

#: What is changed for the trial.
SET_ASIDE = {"training", "checkpointing"}

MEMORY_OF_GROUP = Path("/sys/fs/cgroup")


def items_at_once(encoder: nn.Module, shape: Sequence[int], *, free: int | None = None) -> int:
    """How many items of a shape a training step may hold on the encoder's device, at least 1, given its
    ``free`` bytes (None: those free now). Measured: two items of zeros pass through the encoder as in
    training, and what is kept for the backward pass is counted, in float32. The encoder does not change.
    """
    device = device_of(encoder)
    room = SHARE * (free_memory(device) if free is None else free)
    bytes_an_item = kept_for_gradient(encoder, torch.zeros(TRIED, *shape, device=device)) / TRIED
    return max(1, int(room / max(bytes_an_item, 1)))


def within_memory(run: Run, items: Items, *, device: str = "auto") -> Run:
    """The run, with ``batches.at_once`` set where a step on its largest batch of these items would take more
    memory than is free now. One that sets it already stays as it is.
    """
    if run.batches.at_once or not len(items):
        return run
    fabric = launch(device, run.precision)
    with random_states_kept():
        encoder = build_encoder(run, items).to(fabric.device)
    place = items.inputs.longest if isinstance(items.inputs, Stored) else 0
    (shown,) = fetched(items.inputs, [slice(place, place + 1)])
    # As training sees it: a crop may have another size.
    channels = items.medium.seen(items.shape)[0]
    changes = build_augmentations(run, items)
    x = augment(scaled(shown), changes, generator=torch.Generator(), channels=channels)
    fits = items_at_once(encoder, x.shape[1:])
    largest = max(
        map(len, build_sampler(run, items.labels, domains=items.domains, names=items.classes).batches(0))
    )
    return run if largest <= fits else replace(run, batches=replace(run.batches, at_once=fits))


def kept_for_gradient(encoder: nn.Module, x: Tensor) -> int:
    """The bytes that the forward pass of items keeps for the backward pass, without the weights."""
    weights = {weight.untyped_storage().data_ptr() for weight in encoder.state_dict(keep_vars=True).values()}
    sizes: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    before = [(module, dict(vars(module))) for module in encoder.modules()]
    encoder.train()
    try:
        for module, settings in before:
            if "checkpointing" in settings:  # stages that are computed again would hide what they keep
                vars(module)["checkpointing"] = False
        count = torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor)
        with random_states_kept(), statistics_kept([encoder]), torch.enable_grad(), count:
            encoder(x)
    finally:
        for module, settings in before:
            vars(module).update({name: settings[name] for name in SET_ASIDE & settings.keys()})
    return sum(sizes.values())


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
