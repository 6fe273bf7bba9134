"""Everything a run needs to go on as if it had never stopped."""

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
class Progress:
    """How far a run is. ``costs`` holds the terms of each step of the unfinished epoch."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    best: float | None = None
    best_epoch: int | None = None
    costs: list[list[float]] = field(default_factory=list)


def save_checkpoint(
    path: Path, *, run: dict[str, Any], data: str, progress: Progress, states: dict[str, Any]
) -> None:
    """Write a checkpoint in one step: the run, the data it was made of, how far it is, and all states."""
    content = {
        "run": run,
        "data": data,
        "progress": asdict(progress),
        "states": states,
        "random": random_states(),
    }
    buffer = io.BytesIO()
    torch.save(content, buffer)
    storage.write_bytes(path, buffer.getvalue())


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint; only tensors and plain values are accepted, so no code runs."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        return {**content, "progress": Progress(**content["progress"])}
    except Exception as error:  # torch raises many kinds for a damaged file, in many words
        why = "it is damaged, or not one of samekind's" if path.exists() else "it is not there"
        raise TrainingError(
            f"the checkpoint {path} cannot be read: {why}; "
            "remove all checkpoints of that folder to start again"
        ) from error


def random_states() -> dict[str, Any]:
    """The state of every random generator that layers such as dropout use."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    mps = [torch.mps.get_rng_state()] if torch.backends.mps.is_available() else []
    return {"cpu": torch.get_rng_state(), "cuda": cuda, "mps": mps}


def set_random_states(states: dict[str, Any]) -> None:
    """Put every random generator back; a machine with other devices keeps its own there."""
    torch.set_rng_state(states["cpu"])
    if states["cuda"] and len(states["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(states["cuda"])
    # A checkpoint from before they were kept has none of MPS.
    if states.get("mps") and torch.backends.mps.is_available():
        torch.mps.set_rng_state(states["mps"][0])


@contextmanager
def random_states_kept() -> Iterator[None]:
    """Whatever draws, or sets a seed, in here leaves every random generator as it was."""
    states = random_states()
    try:
        yield
    finally:
        set_random_states(states)
