"""Which class is it?"""

from collections.abc import Callable

import torch
from torch import Tensor

from samekind.data import Items
from samekind.decisions import Head
from samekind.evaluation.rows import Measures, Row, noted
from samekind.evaluation.samples import Sample, computed_sample, mean_sample, rows_of
from samekind.inference import asking, device_of
from samekind.inference.known_classes import knows, labels_in
from samekind.inference.temperatures import heads
from samekind.measures import catalogue
from samekind.measures.calibration_error import expected_calibration_error
from samekind.measures.classification import macro_f1, macro_recall
from samekind.measures.measure import Measure
from samekind.space import Classification, MetricSpace

#: What answers in the rows of a space whose known classes are named by its discriminant.
DISCRIMINANT = "discriminant"


def classification(
    space: MetricSpace, items: Items, z: Tensor, *, name: str, measures: Measures = "main", seed: int = 0
) -> list[Row]:
    """Accuracy and macro F1 of each head, with ``measures="all"`` also macro recall and the calibration error
    (ECE) of its probabilities, with and without its temperature; no row if the space does not know all
    classes. Where the space has a discriminant, that is what answers, and not the similarity.
    """
    samples = classification_samples(space, items, z, name=name, measures=measures, seed=seed)
    return [_told(row, space) if row.kind == "similarity" else row for row in rows_of(samples, seed=seed)]


def _told(row: Row, space: MetricSpace) -> Row:
    """A row of the space's own head with what names its classes."""
    if space.discriminant is not None:
        return row._replace(kind=DISCRIMINANT)
    kind = space.kind_for("classes")
    return noted(row, f"by {kind}" if kind != "similarity" else "")


def classification_samples(
    space: MetricSpace, items: Items, z: Tensor, *, name: str, measures: Measures = "main", seed: int = 0
) -> list[Sample]:
    """The same before the intervals are made; the units are the items."""
    if not knows(space, items):
        return []
    return [
        sample
        for head in heads(space)
        for sample in _of_head(space, items, z, head, name=name, measures=measures, seed=seed)
    ]


def predicted_labels(space: MetricSpace, items: Items, z: Tensor, head: Head = "similarity") -> Tensor:
    """The class the space gives each item, as an index into the items' classes, -1 if they lack it."""
    position = {name: index for index, name in enumerate(items.classes)}
    names = _answer(space, z, head).classes
    return torch.tensor([position.get(name, -1) for name in names], dtype=torch.int64)


def _answer(space: MetricSpace, z: Tensor, head: Head, *, calibrated: bool = True) -> Classification:
    with asking(space):
        return space.classify(z.to(device_of(space)), head=head, calibrated=calibrated)


def _of_head(
    space: MetricSpace, items: Items, z: Tensor, head: Head, *, name: str, measures: Measures, seed: int
) -> list[Sample]:
    position = {class_name: index for index, class_name in enumerate(space.classes)}
    truth, answer = labels_in(space, items), _answer(space, z, head)
    probabilities = answer.probabilities.cpu()
    predicted = torch.tensor([position[class_name] for class_name in answer.classes])
    computed: dict[Measure, Callable[[Tensor], float]] = {
        catalogue.MACRO_F1: lambda rows: macro_f1(predicted[rows], truth[rows])
    }
    if measures == "all":
        computed[catalogue.MACRO_RECALL] = lambda rows: macro_recall(predicted[rows], truth[rows])
        computed[catalogue.ECE] = lambda rows: expected_calibration_error(probabilities[rows], truth[rows])
    if measures == "all" and head in space.temperatures:
        plain = _answer(space, z, head, calibrated=False).probabilities.cpu()
        computed[catalogue.UNCALIBRATED_ECE] = lambda rows: expected_calibration_error(
            plain[rows], truth[rows]
        )
    right = (predicted == truth).double()
    return [
        mean_sample("classification", name, catalogue.ACCURACY, head, "items", right),
        *(
            computed_sample("classification", name, measure, head, compute, len(items), seed=seed)
            for measure, compute in computed.items()
        ),
    ]
