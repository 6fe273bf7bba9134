"""Five questions about classes that were never shown: a space beside a reference, such as raw input."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from samekind.data import Items
from samekind.errors import DataError
from samekind.evaluation.everything import evaluate
from samekind.evaluation.open_set import open_set
from samekind.evaluation.rows import Row
from samekind.inference import embed
from samekind.measures.catalogue import AUROC, EER, NMI, few_shot, recall
from samekind.prototypes import SupportMeans
from samekind.space import MetricSpace

#: The classes of a few-shot task at most, and the examples of each class.
WAY, SHOTS = 20, 5


class Answered(NamedTuple):
    """A question in words, and the answers of the reference and of the space."""

    question: str
    reference: Row
    own: Row

    @property
    def better(self) -> bool:
        """Whether the space is better than the reference by more than its interval."""
        lower = self.own.entry.better == "lower"
        end = self.own.high if lower else self.own.low
        nearest = self.own.value if end is None else end
        return nearest < self.reference.value if lower else nearest > self.reference.value

    def to_json(self) -> dict[str, Any]:
        rows = {"reference": self.reference._asdict(), "own": self.own._asdict()}
        return {"question": self.question, **rows, "better": self.better}


def five_questions(
    space: MetricSpace, reference: Sequence[Row], own: Sequence[Row], *, noun: str = "class"
) -> list[Answered]:
    """The five questions, picked out of the rows of `unseen_rows`; of the space by the kind of score that it
    has chosen. ``noun`` is what a class is called.
    """
    pairs, neighbours = space.kind_for("pairs"), space.kind_for("neighbours")
    measures = {row.measure for row in own}
    way = next(way for way in range(WAY, 0, -1) if few_shot(way, SHOTS) in measures)
    picked = [
        (f"Which of {way}, seen {SHOTS} times each?", few_shot(way, SHOTS), None),
        (f"Are these two the same {noun}?", EER, pairs),
        ("What is most like this?", recall(1), neighbours),
        ("What groups are here?", NMI, None),
        ("Is it none of those I know?", AUROC, None),
    ]
    return [
        Answered(question, _first(reference, measure), _first(own, measure, by))
        for question, measure, by in picked
    ]


def unseen_rows(space: MetricSpace, items: Items, *, tasks: int = 600, seed: int = 0) -> list[Row]:
    """All rows about items of unseen classes.

    New classes are known from five examples: few-shot tasks have 20 classes, or all if there are fewer; for
    "none of these" every other class is enrolled, and the items of the rest are to be refused.
    """
    way = min(WAY, len(items.classes))
    rows = evaluate(space, {"unseen": items}, way=way, tasks=tasks, seed=seed)
    return rows + _none_of_these(space, items, embed(space, items.inputs), seed=seed)


def _none_of_these(space: MetricSpace, items: Items, z: Tensor, *, seed: int) -> list[Row]:
    """Every other class enrolled from its first examples; all other items are the queries."""
    known_names = items.classes[::2]
    labels = items.class_indices(known_names)
    places = [(items.labels == label).nonzero().flatten() for label in labels.tolist()]
    if min(map(len, places)) <= SHOTS:
        raise DataError(f"{items.name}: expected more than {SHOTS} items in every class")
    examples = torch.stack([place[:SHOTS] for place in places])
    means = SupportMeans(dimension=z.shape[1])
    means.assign(known_names, z[examples].mean(1, keepdim=True))
    enrolled = MetricSpace(space.encoder, space.similarity, means, reader=space.reader).eval()
    inside = torch.isin(items.labels, labels)
    is_query = inside.clone()
    is_query[examples] = False
    return open_set(
        enrolled,
        items.take(is_query).only(known_names),
        z[is_query],
        items.take(~inside).only(items.classes[1::2]),
        z[~inside],
        name="unseen",
        seed=seed,
    )


def _first(rows: Sequence[Row], measure: str, kind: str | None = None) -> Row:
    """The first row of a measure, by a kind of score if one is named."""
    return next(row for row in rows if row.measure == measure and kind in (None, row.kind))
