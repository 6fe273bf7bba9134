"""How new is each item to the space?"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from samekind.data import Collection
from samekind.decisions import Kind
from samekind.errors import SettingError, nearest
from samekind.evaluation import Row, upside_down
from samekind.inference import asking, device_of, neighbour_novelty, one_class_novelty, prototype_novelty
from samekind.measures import novelty_auroc
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import embedded, known_kind
from samekind.space import MetricSpace

METHODS = ("prototypes", "neighbours", "svm")


class Auroc(NamedTuple):
    """How well novelty tells items of unknown classes from those of known ones, and how many of each."""

    value: float
    low: float
    high: float
    new: int
    known: int


@dataclass(frozen=True)
class NoveltySettings:
    """How to judge. Without a ``method``: svm if there are known items, else prototypes. Without a ``kind``:
    the space's choice, for prototypes that of the threshold for none of these. The rest is for svm: the
    share of known items that may lie outside their region, and how many of them to draw.
    """

    method: str | None = None
    kind: str | None = None
    outliers: float = 0.1
    limit: int = 2000
    seed: int = 0

    def method_for(self, *, known: bool) -> str:
        """The method, where there are ``known`` items or none."""
        if self.method is None:
            return "svm" if known else "prototypes"
        if self.method not in METHODS:
            raise SettingError(f'there is no method "{self.method}"; {nearest(self.method, METHODS)}')
        if self.method != "prototypes" and not known:
            raise SettingError(f"the method {self.method} needs items that are known; name some (--known)")
        if self.method == "prototypes" and known:
            raise SettingError(
                "the method prototypes looks at classes alone; leave out the known items (--known), or take "
                "another"
            )
        return self.method

    def kind_for(self, space: MetricSpace, method: str) -> Kind:
        if self.kind is None and method == "prototypes" and space.open_set:
            return space.open_set.kind
        return known_kind(space, self.kind, "classes" if method == "prototypes" else "neighbours")


@dataclass(frozen=True)
class Judged:
    """Items, newest first, as ``columns``: id, novelty and, where it is known, new (whether the item lies
    beyond the threshold), class (the most alike) and label. ``auroc`` needs labels of known and new classes.
    """

    method: str
    kind: Kind
    known: int | None
    auroc: Auroc | None
    warning: str | None
    skipped: tuple[tuple[str, str], ...]
    columns: dict[str, Sequence[Any]]

    def to_json(self) -> dict[str, Any]:
        rows = zip(*self.columns.values(), strict=True)
        return {
            "method": self.method,
            "kind": self.kind,
            "known": self.known,
            "auroc": None if self.auroc is None else self.auroc._asdict(),
            "warning": self.warning,
            "skipped": self.skipped,
            "items": [dict(zip(self.columns, row, strict=True)) for row in rows],
        }


def novelty(
    space: MetricSpace,
    items: Collection,
    known: Collection | None = None,
    *,
    settings: NoveltySettings | None = None,
    progress: Progress = silent,
) -> Judged:
    """How new each item is: to the classes of the space, or to ``known`` items."""
    used = settings or NoveltySettings()
    method = used.method_for(known=known is not None)
    kind = used.kind_for(space, method)
    z = embedded(space, items.inputs, title="embed", progress=progress)
    if known is None:
        values = prototype_novelty(space, z, kind=kind)
    else:
        reference = embedded(space, known.inputs, title="embed known", progress=progress)
        values = (
            neighbour_novelty(space, z, reference, kind=kind)
            if method == "neighbours"
            else one_class_novelty(
                space, z, reference, kind=kind, outliers=used.outliers, most_items=used.limit, seed=used.seed
            )
        )
    # Not new are the classes of the known items if they have labels, else those of the space.
    labels = set(known.labels if known is not None else ()) - {None}
    auroc = _auroc(values, items.labels, labels or set(space.classes))
    warning = auroc and upside_down([Row("novelty", "known, new", "AUROC", kind, *auroc[:3])])
    return Judged(
        method=method,
        kind=kind,
        known=None if known is None else len(known.ids),
        auroc=auroc,
        warning=warning or None,
        skipped=(*items.skipped, *(known.skipped if known is not None else ())),
        columns=_columns(space, items, z, values, _beyond(space, values, method, kind)),
    )


def _beyond(space: MetricSpace, values: Tensor, method: str, kind: Kind) -> list[bool] | None:
    """Whether each item lies beyond the threshold: of the region, or of the best class; None without one."""
    if method == "svm":
        return (values > 0).tolist()
    decision = space.open_set
    if method == "prototypes" and decision is not None and decision.kind == kind:
        return (~decision.accepts(-values)).tolist()
    return None


def _columns(
    space: MetricSpace, items: Collection, z: Tensor, values: Tensor, beyond: list[bool] | None
) -> dict[str, Sequence[Any]]:
    """One row an item, newest first; what is known of no item has no column."""
    order = values.argsort(descending=True, stable=True).tolist()
    columns: dict[str, Sequence[Any]] = {"id": items.ids, "novelty": values.tolist()}
    if beyond is not None:
        columns["new"] = beyond
    if space.classes:
        with asking(space):
            columns["class"] = space.classify(z.to(device_of(space))).classes
    if any(label is not None for label in items.labels):
        columns["label"] = items.labels
    return {name: [column[place] for place in order] for name, column in columns.items()}


def _auroc(values: Tensor, labels: Sequence[str | None], known: Container[str | None]) -> Auroc | None:
    """None without labels of both known and new classes."""
    judged = [place for place, label in enumerate(labels) if label is not None]
    is_new = torch.tensor([labels[place] not in known for place in judged], dtype=torch.bool)
    if not is_new.any() or is_new.all():
        return None
    mean, low, high = novelty_auroc(values[judged], is_new)
    return Auroc(mean, low, high, int(is_new.sum()), int((~is_new).sum()))
