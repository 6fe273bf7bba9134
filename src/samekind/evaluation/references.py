"""Baselines without training: the commonest class, and the nearest raw input or the untrained encoder.

`start.gains` compares a space with them.
"""

from collections import Counter
from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.data import Items, draw, scaled
from samekind.data.groups import groups_apart
from samekind.data.stored import fetched
from samekind.errors import DataError
from samekind.evaluation.rows import REFERENCE, Row
from samekind.evaluation.samples import Sample, mean_sample, rows_of
from samekind.evaluation.untrained import MOST_ASKED, MOST_KNOWN, untrained_references
from samekind.measures.catalogue import ACCURACY, recall
from samekind.measures.measure import Measure
from samekind.training.build import plain_encoder
from samekind.training.statistics import statistics_of

#: The two baselines.
NEAREST, COMMONEST = "nearest raw input", "commonest class"

#: Pictures are reduced to at most this many pixels a side, which hardly changes the nearest one.
MOST_PIXELS = 32

#: How many items are read, or compared with all others, at a time.
CHUNK = 512


def references(
    train: Items,
    sets: Mapping[str, Items],
    *,
    untrained: nn.Module | None = None,
    way: int = 5,
    shot: int = 5,
    tasks: int = 600,
    seed: int = 0,
    device: torch.device | str = "cpu",
) -> list[Row]:
    """The rows of the baselines, for named sets of items that were not trained on.

    With an ``untrained`` encoder they are those of `untrained_references` and of the commonest class. Without
    one they are those of the raw inputs:

    "accuracy", if all classes of a set were trained on: of the class of the nearest training item, and of the
    commonest class. "Recall@1": whether the nearest other item of the set is of the same class. Nearest is by
    the Euclidean distance of the inputs: features in standard deviations of the training items, pictures
    pixel by pixel, at 32 pixels a side at most, sounds by mean and deviation of their features. At most
    20,000 training items and 5,000 items of a set are used, drawn by ``seed``; a set that is drawn from has
    no Recall@1. If items have groups, the nearest is of another group, as in `retrieval`. Distances are
    computed on the ``device``.
    """
    for items in (train, *sets.values()):
        if not len(items):
            raise DataError(f"{items.name}: expected at least one item to compare, got none")
    if untrained is not None:
        task_settings = {"way": way, "shot": shot, "tasks": tasks, "seed": seed}
        rows = untrained_references(untrained.to(device), train, sets, **task_settings)
        return rows + _of_commonest(train, sets, seed)
    return _of_inputs(train, sets, seed, device)


def _of_inputs(train: Items, sets: Mapping[str, Items], seed: int, device: torch.device | str) -> list[Row]:
    """The rows of the raw inputs, and of the commonest class."""
    gallery = draw(train, most=MOST_KNOWN, seed=seed, balanced=False)
    known, prepared = _names(gallery), _Inputs(gallery, device)
    counts = Counter(_names(train))
    commonest = counts.most_common(1)[0][0]
    rows = []
    for name, items in sets.items():
        queries = draw(items, most=MOST_ASKED, seed=seed, balanced=False)
        truth, x = _names(queries), prepared.of(queries)
        samples = []
        if set(truth) <= counts.keys():
            nearest = _nearest(x, prepared.gallery)
            answers = {NEAREST: [known[place] for place in nearest], COMMONEST: [commonest] * len(truth)}
            samples += [
                _sample(name, ACCURACY, kind, "items", truth, predicted)
                for kind, predicted in answers.items()
            ]
        note = "" if len(queries) == len(items) else f"of {len(queries):,} items drawn"
        rows += rows_of(samples, seed=seed, note=note)
        if len(queries) == len(items) > 1:
            apart = groups_apart(items)
            nearest, query_places = _nearest(x, x, apart=apart.marks), apart.queries.tolist()
            own = [truth[place] for place in query_places]
            neighbours = [truth[nearest[place]] for place in query_places]
            sample = _sample(name, recall(1), NEAREST, "queries", own, neighbours)
            rows += rows_of([sample], seed=seed, note=apart.note)
    return rows


def _of_commonest(train: Items, sets: Mapping[str, Items], seed: int) -> list[Row]:
    """The accuracy of the commonest class alone."""
    counts, samples = Counter(_names(train)), []
    for name, items in sets.items():
        truth = _names(items)
        if set(truth) <= counts.keys():
            commonest = [counts.most_common(1)[0][0]] * len(truth)
            samples.append(_sample(name, ACCURACY, COMMONEST, "items", truth, commonest))
    return rows_of(samples, seed=seed)


def _names(items: Items) -> list[str]:
    return [items.classes[label] for label in items.labels.tolist()]


def _sample(
    name: str, measure: Measure, kind: str, unit: str, truth: list[str], predicted: list[str]
) -> Sample:
    right = [one == other for one, other in zip(truth, predicted, strict=True)]
    return mean_sample(REFERENCE, name, measure, kind, unit, torch.tensor(right).double())


class _Inputs:
    """Inputs as vectors (n, numbers) on a device, in the units of the training items."""

    def __init__(self, train: Items, device: torch.device | str) -> None:
        self.device = device
        means, deviations = [0.0], [1.0]
        units = train.medium.units(train.shape)
        if units == "features":
            means, deviations = statistics_of(train, "features")
        self.has_pixels = units == "channels"
        self.plain = plain_encoder(train).to(device) if train.medium.padded else None
        self.means, self.deviations = (
            torch.tensor(numbers, device=device) for numbers in (means, deviations)
        )
        self.gallery = self.of(train)

    def of(self, items: Items) -> Tensor:
        slices = [slice(start, start + CHUNK) for start in range(0, len(items), CHUNK)]
        return torch.cat([self._compared(scaled(chunk)) for chunk in fetched(items.inputs, slices)])

    def _compared(self, x: Tensor) -> Tensor:
        x = x.to(self.device).float()
        if self.plain is not None:
            x = self.plain(x)
        if self.has_pixels and max(x.shape[2:]) > MOST_PIXELS:
            height, width = (min(side, MOST_PIXELS) for side in x.shape[2:])
            x = F.adaptive_avg_pool2d(x, (height, width))
        return ((x - self.means) / self.deviations).flatten(1)


def _nearest(queries: Tensor, gallery: Tensor, *, apart: Tensor | None = None) -> list[int]:
    """The place of the nearest gallery item of each query, the first of equals. With ``apart``, a mark for
    each item (n,), queries and gallery are the same and no item finds one of its own mark.
    """
    places: list[int] = []
    for start in range(0, len(queries), CHUNK):
        distances = torch.cdist(queries[start : start + CHUNK], gallery)
        if apart is not None:
            own = apart[start : start + CHUNK, None] == apart
            distances = distances.masked_fill(own.to(distances.device), torch.inf)
        places += distances.argmin(1).tolist()
    return places
