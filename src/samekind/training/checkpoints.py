"""Checkpoints: everything that a run needs to go on as if it had never stopped."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from samekind import storage
from samekind.errors import TrainingError


@dataclass
class RunProgress:
    """How far a run has come. ``costs`` holds the terms of each step of the unfinished epoch, ``untrained``
    the measures before the first step, ``before`` what a `Remembering` validation remembers.
    """

    epoch: int = 0
    batch: int = 0
    step: int = 0
    best: float | None = None
    best_epoch: int | None = None
    costs: list[list[float]] = field(default_factory=list)
    untrained: dict[str, float] = field(default_factory=dict)
    before: torch.Tensor | None = None


def save_checkpoint(
    path: Path,
    *,
    run: dict[str, Any],
    data: str,
    progress: RunProgress,
    states: dict[str, Any],
    tree: str | None = None,
) -> None:
    """Write a checkpoint, whole or not at all. ``data`` and ``tree`` are the fingerprints of the training
    items and of the tree of their classes.
    """
    content = {
        "run": run,
        "data": data,
        "tree": tree,
        "progress": asdict(progress),
        "states": states,
        "random": random_states(),
    }
    buffer = io.BytesIO()
    torch.save(content, buffer)
    storage.write_bytes(path, buffer.getvalue())


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint. Only tensors and plain values are accepted, so no code runs."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        return {**content, "progress": RunProgress(**content["progress"])}
    except Exception as error:  # torch raises many different errors for a damaged file
        why = "it is damaged, or not one of samekind's" if path.exists() else "it does not exist"
        raise TrainingError(
            f"the checkpoint {path} cannot be read: {why}; "
            "remove all checkpoints of that folder to start again"
        ) from error


def random_states() -> dict[str, Any]:
    """The state of the global random generator of every device."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    mps = [torch.mps.get_rng_state()] if torch.backends.mps.is_available() else []
    return {"cpu": torch.get_rng_state(), "cuda": cuda, "mps": mps}


def set_random_states(states: dict[str, Any]) -> None:
    """Set every random generator; a device that the states do not cover keeps its own."""
    torch.set_rng_state(states["cpu"])
    if states["cuda"] and len(states["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(states["cuda"])
    # Old checkpoints have no state of MPS.
    if states.get("mps") and torch.backends.mps.is_available():
        torch.mps.set_rng_state(states["mps"][0])


@contextmanager
def random_states_kept() -> Iterator[None]:
    """Restore every random generator at the end, whatever was drawn or seeded inside."""
    states = random_states()
    try:
        yield
    finally:
        set_random_states(states)
