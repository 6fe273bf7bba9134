"""The data behind the figures of a report: embeddings and trials of every system on the same items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from samekind.data import Items
from samekind.data.drawing import MOST_ITEMS, draw
from samekind.data.groups import groups_apart
from samekind.decisions import Kind
from samekind.evaluation import Row
from samekind.inference import all_trials, embed
from samekind.inference.trials import Trials
from samekind.space import MetricSpace


@dataclass(frozen=True)
class System:
    """A trained space, the rows of its evaluation, and the record of its training (which may be empty)."""

    space: MetricSpace
    rows: Sequence[Row]
    record: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, eq=False)
class Measured:
    """A set of items as all systems see it: embeddings (n, d) by system, trials by system and kind."""

    items: Items
    of: int  # how many items there were before a part of them was drawn
    embeddings: dict[str, Tensor]
    trials: dict[str, dict[Kind, Trials]]

    @property
    def note(self) -> str:
        """The end of a caption if not all items are shown."""
        drawn = len(self.items)
        return "" if drawn == self.of else f" Shown are {drawn:,} items drawn at random from {self.of:,}."

    @property
    def pairs_note(self) -> str:
        """The same for pairs and neighbours, and that those of one group are left out."""
        apart = groups_apart(self.items).groups is not None
        return f"{' Items of one group are not compared.' if apart else ''}{self.note}"


def measure(systems: Mapping[str, System], items: Items) -> Measured:
    """The embeddings of the items, or of a fixed random part of very many, and the scores of their pairs (of
    different groups, if they have groups) by every system.
    """
    drawn = draw(items, most=MOST_ITEMS, balanced=False)
    groups = groups_apart(drawn).groups
    embeddings = {name: embed(system.space, drawn.inputs) for name, system in systems.items()}
    trials = {
        name: {
            kind: all_trials(system.space, embeddings[name], drawn.labels, groups=groups, kind=kind)
            for kind in system.space.kinds
        }
        for name, system in systems.items()
    }
    return Measured(drawn, len(items), embeddings, trials)


def notes(sets: Mapping[str, Measured]) -> str:
    """The distinct notes of all sets."""
    return "".join(dict.fromkeys(measured.note for measured in sets.values()))


def pairs_notes(sets: Mapping[str, Measured]) -> str:
    """The distinct notes about pairs of all sets."""
    return "".join(dict.fromkeys(measured.pairs_note for measured in sets.values()))
