"""Which class is every item, with the runner-up?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import Tensor

from samekind.data import Collection
from samekind.decisions import Head, Kind
from samekind.inference import asking, device_of
from samekind.inference.embed import BATCH
from samekind.inference.open_set import familiar
from samekind.questions.identify import NO_THRESHOLD, NONE
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import embedded, known_head, known_kind
from samekind.space import MetricSpace


class Prediction(NamedTuple):
    """The class of one item, or `NONE`, and the next one, None if there is no other. ``score`` is what was
    compared with the threshold for none of these, None if the space has none.
    """

    name: str
    probability: float
    runner_up: str | None
    runner_up_probability: float | None
    score: float | None


@dataclass(frozen=True)
class Predicted:
    """The class of each item; ``kind`` is the score of the similarity head. ``judged`` of them have a label
    that the space knows; ``accuracy`` is the share of these that was named rightly. ``none`` counts items of
    no known class, if there is a threshold.
    """

    kind: Kind
    ids: tuple[str, ...]
    labels: tuple[str | None, ...]
    predictions: tuple[Prediction, ...]
    classes: tuple[str, ...]
    none: int | None
    judged: int
    accuracy: float | None
    skipped: tuple[tuple[str, str], ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        return (NO_THRESHOLD,) if self.none is None else ()

    def columns(self) -> dict[str, Sequence[Any]]:
        """The answer as a table: columns that are known of no item are left out."""
        names = ("class", *Prediction._fields[1:])
        columns = dict(zip(names, zip(*self.predictions, strict=True), strict=True))
        if self.none is None:
            columns.pop("score")
        labelled = any(label is not None for label in self.labels)
        return {"id": self.ids, **({"label": self.labels} if labelled else {}), **columns}

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values, without the single items."""
        return {
            "kind": self.kind,
            "items": len(self.ids),
            "classes": self.classes,
            NONE: self.none,
            "judged": self.judged,
            "accuracy": self.accuracy,
            "skipped": self.skipped,
        }


def predict(
    space: MetricSpace,
    items: Collection,
    *,
    head: str = "similarity",
    kind: str | None = None,
    progress: Progress = silent,
) -> Predicted:
    """The class of each item by a head of the space, and how often it is the item's label.

    ``kind`` is the score of the similarity head; None is the space's choice for classes.
    """
    chosen = known_head(space, head)
    score = known_kind(space, kind, "classes")
    z = embedded(space, items.inputs, title="predict", progress=progress)
    # In batches: every item has a probability of each of perhaps thousands of classes.
    parts = [_predictions(space, part, chosen, score) for part in torch.split(z, BATCH)]
    predictions, known = tuple(chain.from_iterable(parts)), set(space.classes)
    pairs = zip(items.labels, predictions, strict=True)
    right = [label == answer.name for label, answer in pairs if label in known]
    names = [answer.name for answer in predictions]
    return Predicted(
        kind=score,
        ids=items.ids,
        labels=items.labels,
        predictions=predictions,
        classes=tuple(space.classes),
        none=None if space.open_set is None else names.count(NONE),
        judged=len(right),
        accuracy=sum(right) / len(right) if right else None,
        skipped=items.skipped,
    )


def _predictions(space: MetricSpace, z: Tensor, head: Head, kind: Kind) -> list[Prediction]:
    """The answers for embeddings (n, d); beside none of these, the best class is the runner-up."""
    with asking(space):
        scores, probabilities, names = space.classify(z.to(device_of(space)), head=head, kind=kind)
    classes = space.classes
    probabilities, place = probabilities.cpu(), {name: index for index, name in enumerate(classes)}
    first = torch.tensor([place[name] for name in names], dtype=torch.int64)[:, None]
    chances, accepted = probabilities.gather(1, first)[:, 0], torch.ones(len(z), dtype=torch.bool)
    compared: list[float | None] = [None] * len(z)
    if space.open_set is not None:
        stands = familiar(space, z, scores=scores if head == "similarity" else None, kind=kind)
        chances, accepted = stands.answered(chances), stands.accepted
        probabilities, compared = stands.probability[:, None] * probabilities, stands.score.tolist()
    # A space of one class has no runner-up: what is left is -1.
    values, second = probabilities.scatter(1, first, -1.0).where(accepted[:, None], probabilities).max(1)
    rows = zip(
        names, accepted.tolist(), chances.tolist(), second.tolist(), values.tolist(), compared, strict=True
    )
    return [
        Prediction(
            name=name if known else NONE,
            probability=chance,
            runner_up=classes[other] if value >= 0 else None,
            runner_up_probability=value if value >= 0 else None,
            score=score,
        )
        for name, known, chance, other, value, score in rows
    ]
