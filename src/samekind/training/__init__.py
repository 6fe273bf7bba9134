"""From a run and items to a trained space.

A step is ``observe`` (prototypes move), ``objective`` (the terms of the loss; it changes nothing), the
optimiser, and ``settle`` (prototypes, scales and the memory move). `training.context` lists what losses and
penalties may ask for. The extras (`training.extras`) train or watch beside the terms: they belong to the run
and its checkpoint, never to the space, and so does the memory.
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
    Head,
    Optimiser,
    Part,
    Parts,
    Penalty,
    Schedule,
    Term,
)
from samekind.training.watching import Bar, Nobody, Watcher

__all__ = [
    "Adversary",
    "Bar",
    "Batches",
    "Head",
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
