"""From a run and items to a trained space.

- A `Run` is typed and strict: terms (a loss against the batch, the prototypes, the auxiliary head or the
  memory), penalties by name, the parts of the space, batches, optimiser and schedule. A part that no term
  trains is refused, and so is a loss with scores that it does not take.
- A step is ``observe`` (prototypes move), ``objective`` (the terms of the loss; nothing moves but random
  states), the optimiser, and ``settle`` (prototypes, scales, the memory and extras move). Extras may call the
  objective as often as they like: for them random states are restored. `training.context` lists what losses
  and penalties may ask for.
- Extras (`training.extras`) train or watch beside the terms. They belong to the run and its checkpoint,
  never to the space, and so does the memory.
- A run is a function of its settings, its data and its seed. It can be killed at any moment, and goes on to
  the same numbers.
- `run_folder.RunFolder` alone knows the files of a run's folder. One process trains in it at a time; readers
  need no lock.
- A module of the user's own stands in run.json as ``given``, with its class and fingerprint.
"""

from samekind.training.build import build_space
from samekind.training.fabric import launch
from samekind.training.loop import train
from samekind.training.record import Record
from samekind.training.run import Run
from samekind.training.run_folder import RunFolder
from samekind.training.tables import (
    Adversary,
    Batches,
    Defence,
    Head,
    Later,
    Optimiser,
    Part,
    Parts,
    Penalty,
    Schedule,
    Term,
)
from samekind.training.watching import Nobody, Watcher

__all__ = [
    "Adversary",
    "Batches",
    "Defence",
    "Head",
    "Later",
    "Nobody",
    "Optimiser",
    "Part",
    "Parts",
    "Penalty",
    "Record",
    "Run",
    "RunFolder",
    "Schedule",
    "Term",
    "Watcher",
    "build_space",
    "launch",
    "train",
]
