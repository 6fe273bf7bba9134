"""Measures of a rung of the ladder on items that it was not fitted to, and whether it is better than another.

Two rungs are compared on the same queries, pairs and held-out items of known classes. The intervals are over
classes, because the classes to come are others; those of naming are over items, because the known classes
stay the same. A rung is better if it finds more, errs less, or names more items rightly, by more than chance,
and worse in none of the three by more than chance. Intervals over few classes are too wide to show a loss, so
there fewer neighbours are counted over queries as well.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items, draw
from samekind.data.groups import groups_apart
from samekind.decisions import Balance, Kind, Rung
from samekind.errors import DataError
from samekind.inference import asking, device_of
from samekind.inference.balancing import WAY, Task, balanced, enrolments
from samekind.inference.discriminant import fit_discriminant
from samekind.inference.open_set import Familiarity, best_of
from samekind.inference.search import search
from samekind.inference.settle import fill_means
from samekind.inference.standings import balances_of, labelled
from samekind.inference.trials import Trials, ordered_trials
from samekind.measures import (
    FEWEST_CLASSES,
    bootstrap_mean,
    bootstrap_trials,
    equal_error_rate,
    paired_bootstrap,
    paired_bootstrap_mean,
    relevant_counts,
    retrieval_values,
)
from samekind.prototypes import class_means
from samekind.space import MetricSpace

#: At most so many items of a fold are measured: half a million pairs.
MEASURED_ITEMS = 1000
#: What is measured of the neighbours of a query.
MEASURES = ("Recall", "MAP@R")


class Measured(NamedTuple):
    """By each kind of score: 1 for a query whose nearest other item is of its class, else 0; the average
    precision of each query (MAP@R); and the trials. ``units`` has the class of each query. `Named` is of
    other items, where there are some. ``enrolled`` has, for each fold, the tasks in which held-out classes
    are enrolled beside the others, ``familiar`` how familiar held-out items are to it, of known classes and
    of the held-out ones.
    """

    hits: dict[Kind, Tensor]
    precision: dict[Kind, Tensor]
    units: Tensor
    trials: dict[Kind, Trials]
    named: "Named | None" = None
    enrolled: Sequence[Mapping[Kind, Sequence[Task]]] = ()
    familiar: Sequence[Familiarity] = ()

    @property
    def neighbours(self) -> Kind:
        """The kind of score that finds most, by the sum of Recall@1 and MAP@R: the nearest item alone says
        too little of a few hundred queries. Of equal ones it is the space's own.
        """
        return max(self.hits, key=lambda kind: float(self.hits[kind].mean() + self.precision[kind].mean()))

    @property
    def pairs(self) -> Kind:
        """The kind of score with the lowest equal error."""
        return min(self.trials, key=self.equal_error)

    def equal_error(self, kind: Kind) -> float:
        """The equal error of a kind of score."""
        return equal_error_rate(self.trials[kind].scores, self.trials[kind].same).rate

    def balances(self, measured_on: str) -> dict[str, Balance]:
        """The balance of enrolled and known classes, by kind of score; empty if no class was enrolled."""
        return balances_of(
            {kind: balanced([tasks[kind] for tasks in self.enrolled]) for kind in self.hits}
            if self.enrolled
            else {},
            measured_on,
        )


class Named(NamedTuple):
    """By each kind of score: 1 for an item of a known class that is named rightly, else 0. ``units`` has the
    number of each item, which several folds ask about. ``discriminant`` is the same by a linear discriminant,
    if there is one.
    """

    right: dict[Kind, Tensor]
    units: Tensor
    discriminant: Tensor | None = None

    def by_discriminant(self, *, seed: int = 0) -> bool:
        """Whether the discriminant names the classes: unless it does so worse by more than chance."""
        if self.discriminant is None:
            return False
        by_score = self.right[self.best]
        return (
            paired_bootstrap_mean(self.discriminant, by_score, units=self.units, seed=seed).interval.high >= 0
        )

    def answers(self, *, seed: int = 0) -> Tensor:
        """Whether each item is named rightly by what names the classes."""
        if self.discriminant is not None and self.by_discriminant(seed=seed):
            return self.discriminant
        return self.right[self.best]

    @property
    def best(self) -> Kind:
        """The kind of score that names most items rightly."""
        return max(self.right, key=lambda kind: float(self.right[kind].mean()))


def measure_names(space: MetricSpace, known: Items, items: Items) -> Named | None:
    """Whether items are named rightly by the nearest class mean of the ``known`` ones, and by a discriminant
    that is fitted to these; inputs are embeddings.

    Items of other classes are left out; None if there are no items.
    """
    labels, device = known.labels.cpu(), device_of(space)
    asked = torch.isin(items.labels.cpu(), labels)
    if not asked.any():
        return None
    truth, z = items.labels.cpu()[asked], _vectors(items)[asked.to(_vectors(items).device)].to(device)
    means, present = class_means(_vectors(known).cpu(), labels, len(known.classes))
    places, means = present.nonzero().flatten(), means[present].to(device)
    with asking(space):
        scores = {kind: space.score_all(means, z, kind=kind) for kind in space.kinds}
    right = {kind: (places[score.argmax(0).cpu()] == truth).double() for kind, score in scores.items()}
    head, by_head = fit_discriminant(_vectors(known), labels, known.classes), None
    if head is not None:
        with asking(space):
            by_head = (places[head.score_classes(z.to(_vectors(known))).argmax(1).cpu()] == truth).double()
    return Named(right, asked.nonzero().flatten(), by_head)


def measure_enrolled(
    space: MetricSpace, known: Items, items: Items, new: Items, *, seed: int = 0
) -> dict[Kind, list[Task]]:
    """Tasks in which five of the ``new`` classes at a time are enrolled from five items each, beside those of
    the ``known`` items; inputs are embeddings. Asked about are the other new items, and ``items`` of known
    classes; empty without such items, or without two new classes of two items.
    """
    several = int((torch.bincount(new.labels.cpu()) > 1).sum())
    named = items.take(torch.isin(items.labels.cpu(), known.labels.cpu()).nonzero().flatten())
    if not len(named) or several < 2:
        return {}
    space = deepcopy(space)
    fill_means(space, known)
    one, other = (
        labelled(space, part, _vectors(part))
        for part in (draw(some, most=MEASURED_ITEMS, seed=seed) for some in (named, new))
    )
    return {kind: enrolments(space, one, other, kind=kind, way=WAY, seed=seed) for kind in space.kinds}


def measure_familiar(
    space: MetricSpace, known: Items, items: Items, new: Items, *, seed: int = 0
) -> Familiarity | None:
    """The best score of the ``known`` classes, for ``items`` of these classes and for ``new`` items of other
    classes. Inputs are embeddings. None without items of known classes.
    """
    named = items.take(torch.isin(items.labels.cpu(), known.labels.cpu()).nonzero().flatten())
    if not len(named):
        return None
    space = deepcopy(space)
    fill_means(space, known)
    named, new = (draw(some, most=MEASURED_ITEMS, seed=seed) for some in (named, new))
    z = torch.cat([_vectors(named), _vectors(new).to(_vectors(named).device)])
    return Familiarity(
        {kind: best_of(space, z, kind=kind) for kind in space.kinds},
        torch.arange(len(z)) < len(named),
        torch.cat([part.labels.cpu() for part in (named, new)]),
    )


def _vectors(items: Items) -> Tensor:
    assert isinstance(items.inputs, Tensor)
    return items.inputs


def measure(space: MetricSpace, items: Items) -> Measured:
    """The measures of a space on items whose inputs are embeddings. Items of one group are not compared.

    Raises DataError if no item can be compared with another one of its class.
    """
    z, labels, apart = _vectors(items), items.labels.cpu(), groups_apart(items)
    sizes = torch.bincount(labels)
    queries = apart.queries[sizes[labels[apart.queries]] > 1]
    if not len(queries):
        raise DataError(
            "the house recipe holds out parts of the training items, and one of them has no two items of a "
            "class to compare; add items, from different groups (sessions) where items have groups"
        )
    marks = apart.marks[queries], apart.marks
    relevant = relevant_counts(labels[queries], gallery=labels, apart=marks)
    # As many as every query can find.
    largest = int(torch.unique(apart.marks, return_counts=True)[1].max())
    most = max(1, min(int(relevant.max()), len(labels) - largest))
    hits, precision, trials = {}, {}, {}
    for kind in space.kinds:
        nearest = search(space, z[queries], z, k=most, kind=kind, apart=marks).indices.cpu()
        values = retrieval_values(
            labels[nearest], labels[queries], relevant=relevant.clamp(max=most), ks=(1,), measures=MEASURES
        )
        hits[kind], precision[kind] = values["Recall@1"], values["MAP@R"].nan_to_num(0)
        trials[kind] = ordered_trials(space, z, labels, groups=apart.groups, kind=kind)
    return Measured(hits, precision, labels[queries], trials)


def joined(parts: Sequence[Measured]) -> Measured:
    """The measures of several folds as one."""
    kinds = list(parts[0].hits)
    return Measured(
        {kind: torch.cat([part.hits[kind] for part in parts]) for kind in kinds},
        {kind: torch.cat([part.precision[kind] for part in parts]) for kind in kinds},
        torch.cat([part.units for part in parts]),
        {
            kind: Trials(
                *(torch.cat(columns) for columns in zip(*(part.trials[kind] for part in parts), strict=True))
            )
            for kind in kinds
        },
        _joined_names([part.named for part in parts if part.named is not None]),
        [tasks for part in parts for tasks in part.enrolled],
        [familiar for part in parts for familiar in part.familiar],
    )


def _joined_names(parts: Sequence[Named]) -> Named | None:
    if not parts:
        return None
    right = {kind: torch.cat([part.right[kind] for part in parts]) for kind in parts[0].right}
    heads = [part.discriminant for part in parts if part.discriminant is not None]
    by_head = torch.cat(heads) if len(heads) == len(parts) else None
    return Named(right, torch.cat([part.units for part in parts]), by_head)


def rung_of(name: str, measured: Measured, *, seconds: float, by_class: bool, seed: int = 0) -> Rung:
    """The entry of the ladder. Intervals are over classes; of too few, over queries for the recall alone."""
    neighbours, pairs = measured.neighbours, measured.pairs
    units = measured.units if by_class else None
    recall = bootstrap_mean(measured.hits[neighbours], units=units, seed=seed)
    errors = None
    if _classes(measured) >= FEWEST_CLASSES:
        interval = bootstrap_trials(*measured.trials[pairs], statistics=("EER",), seed=seed)["EER"]
        errors = (interval.low, interval.high)
    return Rung(
        name=name,
        recall=recall.mean,
        equal_error=measured.equal_error(pairs),
        neighbours=neighbours,
        pairs=pairs,
        seconds=round(seconds, 1),
        recall_interval=(recall.low, recall.high),
        error_interval=errors,
        accuracy=None if measured.named is None else float(measured.named.answers(seed=seed).mean()),
    )


def is_better(
    new: Measured, old: Measured, *, by_class: bool, few: bool = False, certainly: bool = True, seed: int = 0
) -> bool:
    """Whether one is better than the other by more than chance, see above; ``few`` for few classes. With
    fewer than three the errors of pairs do not count. Not ``certainly``: it is enough to be as good or better
    in all measures.
    """
    hits = new.hits[new.neighbours], old.hits[old.neighbours]
    if few and paired_bootstrap_mean(*hits, seed=seed).interval.high < 0:
        return False
    gains = [paired_bootstrap_mean(*hits, units=new.units if by_class else None, seed=seed).interval]
    if _classes(new) >= FEWEST_CLASSES:
        one, other = new.trials[new.pairs], old.trials[old.pairs]
        fewer = paired_bootstrap(other.scores, one.scores, *one[1:], statistics=("EER",), seed=seed)
        gains.append(fewer["EER"].interval)
    if new.named is not None and old.named is not None:
        right = new.named.answers(seed=seed), old.named.answers(seed=seed)
        gains.append(paired_bootstrap_mean(*right, units=new.named.units, seed=seed).interval)
    better = any(gain.low > 0 for gain in gains)
    if not certainly:
        better |= any(gain.mean > 0 for gain in gains) and all(gain.mean >= 0 for gain in gains)
    return better and not any(gain.high < 0 for gain in gains)


def _classes(measured: Measured) -> int:
    return len(torch.unique(measured.units))
