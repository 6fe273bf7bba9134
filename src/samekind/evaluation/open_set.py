"""Which class is it, or none of these? Items of known classes among items of unknown ones.

Phillips, Grother and Micheals, "Evaluation Methods in Face Recognition", Handbook of Face Recognition 2011:
an item is identified where its best class is its own and its score passes the threshold; an item of no known
class that passes it is a false alarm.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items
from samekind.decisions import Head
from samekind.evaluation.classification import predicted_labels
from samekind.evaluation.rows import Row
from samekind.evaluation.samples import COMPUTED, MANY, Sample, mean_sample, rows_of
from samekind.inference import asking, device_of
from samekind.inference.known_classes import class_names, knows
from samekind.inference.open_set import best_of
from samekind.inference.temperatures import heads
from samekind.measures import area_under_curve, catalogue
from samekind.space import MetricSpace

#: The default rate of false alarms: the share of unknown items that are given a class.
ALLOWED_FALSE_ALARMS = 0.01


class Identification(NamedTuple):
    """How well known items are separated from unknown ones, and from each other."""

    rate: float  # of detection and identification
    area: float  # AUROC of known against unknown


def open_set(
    space: MetricSpace,
    known: Items,
    known_z: Tensor,
    unknown: Items,
    unknown_z: Tensor,
    *,
    name: str,
    false_alarms: float = ALLOWED_FALSE_ALARMS,
    seed: int = 0,
) -> list[Row]:
    """The share of known items that are identified when ``false_alarms`` of the unknown ones are named
    (DIR), and how often a known item outscores an unknown one (AUROC), for each head.

    If the space has a threshold for "none of these", both rates there as well. No row if a class of ``known``
    is unknown to the space, or one of ``unknown`` is known.
    """
    overlap = class_names(unknown) & set(space.classes)
    if not len(known) or not len(unknown) or not knows(space, known) or overlap:
        return []
    samples: list[Sample] = []
    for head in heads(space):
        right = predicted_labels(space, known, known_z, head) == known.labels.cpu()
        inside, outside = best_class_scores(space, known_z, head), best_class_scores(space, unknown_z, head)
        values = identification(inside, right, outside, false_alarms=false_alarms)
        again = _drawn_again(inside, right, outside, false_alarms=false_alarms, seed=seed)
        units = min(len(known), len(unknown))
        measures = (catalogue.identification_rate(false_alarms), catalogue.AUROC)
        samples += [
            Sample("open set", name, measure, head, "items", value, replicates=replicates, units=units)
            for measure, value, replicates in zip(measures, values, again, strict=True)
        ]
        if head == "similarity":
            samples += _at_threshold(space, name, right, known_z, unknown_z)
    return rows_of(samples, seed=seed)


def best_class_scores(space: MetricSpace, z: Tensor, head: Head = "similarity") -> Tensor:
    """The score of each item's best class (n,), on the CPU."""
    with asking(space):
        return space.classify(z.to(device_of(space)), head=head).scores.amax(-1).float().cpu()


def identification(known: Tensor, right: Tensor, unknown: Tensor, *, false_alarms: float) -> Identification:
    """The detection-and-identification rate at a rate of false alarms, and the AUROC.

    ``known`` (n,) and ``unknown`` (m,) are the best scores of the two kinds of item, ``right`` (n,) whether
    the best class of a known item is its own. The threshold is the most lenient that lets at most
    ``false_alarms`` of the unknown pass; at a rate of 1 every right class counts.

    >>> known, right = torch.tensor([0.9, 0.8, 0.3]), torch.tensor([True, False, True])
    >>> identification(known, right, torch.tensor([0.5, 0.1]), false_alarms=0.0)
    Identification(rate=0.3333333333333333, area=0.8333333333333334)
    """
    if not 0 <= false_alarms <= 1:
        raise ValueError(f"expected a rate of false alarms from 0 to 1, got {false_alarms}")
    if not len(known) or not len(unknown) or right.shape != known.shape:
        sizes = f"{len(known)} and {len(unknown)} (right: {len(right)})"
        raise ValueError(f"expected scores of known and of unknown items, at least one each, got {sizes}")
    # The small number is for a rate such as 0.07 of 100, which floating point puts slightly below 7.
    allowed = int(false_alarms * len(unknown) + 1e-9)
    # The first score that would let one too many pass: what lies above it may.
    bar = -torch.inf if allowed >= len(unknown) else float(unknown.sort(descending=True).values[allowed])
    rate = int((right & (known > bar)).sum()) / len(known)
    is_known = torch.cat([torch.ones_like(known), torch.zeros_like(unknown)]).bool()
    return Identification(rate, area_under_curve(torch.cat([known, unknown]), is_known))


def _drawn_again(
    known: Tensor, right: Tensor, unknown: Tensor, *, false_alarms: float, seed: int
) -> tuple[Tensor, Tensor]:
    """Both measures of items drawn again, of each kind as many as there are: (replicates,) each."""
    generator = torch.Generator().manual_seed(seed)
    replicates = []
    for _ in range(COMPUTED if len(known) + len(unknown) <= MANY else COMPUTED // 4):
        inside, outside = (torch.randint(len(x), (len(x),), generator=generator) for x in (known, unknown))
        replicates.append(
            identification(known[inside], right[inside], unknown[outside], false_alarms=false_alarms)
        )
    rates, areas = torch.tensor(replicates, dtype=torch.double).T
    return rates, areas


def _at_threshold(
    space: MetricSpace, name: str, right: Tensor, known_z: Tensor, unknown_z: Tensor
) -> list[Sample]:
    """The rates of the stored threshold for "none of these", by the kind of score it was fitted for."""
    decision = space.open_set
    if decision is None:
        return []
    inside, outside = (best_of(space, z, kind=decision.kind) for z in (known_z, unknown_z))
    shares = {
        catalogue.DIR_AT_THRESHOLD: (right & decision.accepts(inside)).double(),
        catalogue.FALSE_ALARMS: decision.accepts(outside).double(),
    }
    return [
        mean_sample("open set", name, measure, decision.kind, "items", values)
        for measure, values in shares.items()
    ]
