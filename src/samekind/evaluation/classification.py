"""Which class is it?"""

from collections.abc import Callable

import torch
from torch import Tensor

from samekind.data import Items
from samekind.decisions import Head
from samekind.evaluation.rows import Measures, Row
from samekind.evaluation.samples import Sample, replicated, row_of
from samekind.inference import asking, device_of
from samekind.inference.temperatures import heads
from samekind.measures import catalogue
from samekind.measures.calibration_error import expected_calibration_error
from samekind.measures.classification import macro_f1
from samekind.space import Classification, MetricSpace


def classification(
    space: MetricSpace, items: Items, z: Tensor, *, name: str, measures: Measures = "main", seed: int = 0
) -> list[Row]:
    """Accuracy and macro F1 of each head that knows the classes of the items, with ``measures="all"`` the
    calibration error (ECE) of its probabilities and, where it has a temperature, of those before it; no row
    where none does.
    """
    samples = classification_samples(space, items, z, name=name, measures=measures, seed=seed)
    return [row_of(each, seed=seed) for each in samples]


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


def knows(space: MetricSpace, items: Items) -> bool:
    """Whether the space knows the classes of all items; classes without items do not matter."""
    return {items.classes[label] for label in items.labels.tolist()} <= set(space.classes)


def predicted_labels(space: MetricSpace, items: Items, z: Tensor, head: Head = "similarity") -> Tensor:
    """The class the space gives each item, as an index into the items' classes (-1: a class they do not
    have).
    """
    position = {name: index for index, name in enumerate(items.classes)}
    names = _answer(space, z, head).classes
    return torch.tensor([position.get(name, -1) for name in names], dtype=torch.int64)


def _answer(space: MetricSpace, z: Tensor, head: Head, *, calibrated: bool = True) -> Classification:
    with asking(space):
        return space.classify(z.to(device_of(space)), head=head, calibrated=calibrated)


def _of_head(
    space: MetricSpace, items: Items, z: Tensor, head: Head, *, name: str, measures: Measures, seed: int
) -> list[Sample]:
    # In the space's own numbers of its classes, which its probabilities are in the order of.
    position = {each: index for index, each in enumerate(space.classes)}
    truth = torch.tensor([position.get(each, -1) for each in items.classes])[items.labels.cpu()]
    answer = _answer(space, z, head)
    probabilities = answer.probabilities.cpu()
    predicted = torch.tensor([position[each] for each in answer.classes])
    computed: dict[str, Callable[[Tensor], float]] = {
        catalogue.MACRO_F1: lambda drawn: macro_f1(predicted[drawn], truth[drawn])
    }
    if measures == "all":
        computed[catalogue.ECE] = lambda drawn: expected_calibration_error(probabilities[drawn], truth[drawn])
    if measures == "all" and head in space.temperatures:
        plain = _answer(space, z, head, calibrated=False).probabilities.cpu()
        computed[catalogue.UNCALIBRATED_ECE] = lambda drawn: expected_calibration_error(
            plain[drawn], truth[drawn]
        )
    right = (predicted == truth).double()
    found = [Sample("classification", name, catalogue.ACCURACY, head, "items", float(right.mean()), right)]
    for measure, function in computed.items():
        value, replicates = function(torch.arange(len(items))), replicated(function, len(items), seed=seed)
        found.append(
            Sample("classification", name, measure, head, "items", value, None, replicates, len(items))
        )
    return found
