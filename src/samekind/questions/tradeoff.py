"""What does each threshold cost? False accepts and false rejects on held-out pairs, over all thresholds."""

from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from samekind.data import Items, draw
from samekind.data.drawing import MOST_ITEMS, at_most
from samekind.data.groups import groups_apart
from samekind.decisions import Decision, Kind
from samekind.errors import DataError, SamekindError
from samekind.index import Index
from samekind.index.mapped import stored_kind
from samekind.inference import all_trials, fit_decision
from samekind.inference.trials import Trials
from samekind.measures import error_rates
from samekind.questions.reading import embedded, known_kind
from samekind.space import MetricSpace
from samekind.training import RunFolder

#: Thresholds on the curve.
THRESHOLDS = 400


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Embeddings (n, d) of items that thresholds are measured on, with their classes and groups."""

    z: Tensor
    labels: Tensor
    groups: Tensor | None
    name: str

    def trials(self, space: MetricSpace, kind: Kind) -> Trials:
        """All their pairs. Raises DataError if there are not both same and different ones."""
        trials = all_trials(space, self.z, self.labels, groups=self.groups, kind=kind)
        if not trials.same.any() or trials.same.all():
            raise DataError(
                f"{self.name}: a trade-off takes pairs of one class and pairs of two; there are "
                f"{int(trials.same.sum()):,} and {int((~trials.same).sum()):,}"
            )
        return trials


@dataclass(frozen=True)
class TradeOff:
    """Both error rates at thresholds, the lowest first, on so many pairs, and the decision of the space."""

    kind: Kind
    thresholds: tuple[float, ...]
    false_accepts: tuple[float, ...]
    false_rejects: tuple[float, ...]
    same: int
    different: int
    name: str
    decision: Decision | None

    @property
    def sentence(self) -> str:
        return f"{self.name}: {self.same:,} same, {self.different:,} different"

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "thresholds": self.thresholds,
            "false_accepts": self.false_accepts,
            "false_rejects": self.false_rejects,
            "trials": {"same": self.same, "different": self.different, "sentence": self.sentence},
            "decision": None if self.decision is None else asdict(self.decision),
        }


def held_out_items(space: MetricSpace, items: Items) -> HeldOut:
    """Items that were not trained on, or some of them, embedded."""
    items = draw(items, most=MOST_ITEMS)
    apart = groups_apart(items)
    z = embedded(space, items.inputs)
    return HeldOut(z, items.labels, apart.groups, apart.named(items.name))


def held_out_gallery(index: Index) -> HeldOut:
    """The labelled items of a gallery, or some of them. Raises DataError without any."""
    ids = list(index)
    labels = [metadata.get("label") for metadata in index.metadata(ids)]
    labelled = [place for place, label in enumerate(labels) if label is not None]
    if not labelled or stored_kind(index) is not None:
        raise DataError("the gallery has no labelled items to measure thresholds on")
    chosen = [labelled[place] for place in at_most(len(labelled), MOST_ITEMS).tolist()]
    names = {name: place for place, name in enumerate(sorted({str(labels[place]) for place in chosen}))}
    numbers = torch.tensor([names[str(labels[place])] for place in chosen])
    z = index.vectors([ids[place] for place in chosen]).clone()
    return HeldOut(z, numbers, None, f"{len(chosen):,} items of the gallery")


def held_out_of(space: MetricSpace, run: RunFolder, gallery: Index | None) -> HeldOut | None:
    """The validation items of a run, if its data are there, or else those of a labelled gallery, if any."""
    if run.finished:
        with suppress(SamekindError):  # the data may be gone
            return held_out_items(space, run.sets().validation)
    if gallery is not None:
        with suppress(DataError):
            return held_out_gallery(gallery)
    return None


def tradeoff(space: MetricSpace, held_out: HeldOut, *, kind: str | None = None) -> TradeOff:
    """The error rates at thresholds of one kind of score, or of the space's choice for pairs."""
    score = known_kind(space, kind, "pairs")
    trials = held_out.trials(space, score)
    rates = error_rates(trials.scores, trials.same)
    # The first threshold is infinite. The others are spread evenly over the changes of both rates.
    thresholds, accepts, rejects = (column[1:] for column in rates)
    way = (accepts.diff().abs() + rejects.diff().abs()).cumsum(0)
    wanted = torch.linspace(0, float(way[-1]) if len(way) else 0.0, THRESHOLDS, dtype=way.dtype)
    inner = torch.searchsorted(way, wanted).clamp(max=len(thresholds) - 1)
    places = torch.unique(torch.cat([inner, torch.tensor([0, len(thresholds) - 1])])).flip(0)
    same = int(trials.same.sum())
    return TradeOff(
        score,
        tuple(thresholds[places].tolist()),
        tuple(accepts[places].tolist()),
        tuple(rejects[places].tolist()),
        same,
        len(trials.same) - same,
        held_out.name,
        space.decisions.get(score),
    )


def decision_at(
    space: MetricSpace, held_out: HeldOut, threshold: float, *, kind: str | None = None
) -> Decision:
    """The decision by a threshold that somebody chose, with the rates it has on held-out pairs."""
    score = known_kind(space, kind, "pairs")
    trials = held_out.trials(space, score)
    return fit_decision(trials, kind=score, point=f"threshold={threshold!r}", description=held_out.name)
