"""Shift: items of another domain, compared with items of the space's own domain.

For each set of items: how much the accuracy falls (the gap), whether the distribution differs, whether all
items have shifted or some are of new classes, and whether thresholds still give the promised error rates.

Shift and new classes are separated by leaving out the items that look new: those beyond the 95% quantile of
the home items. If the rest does not differ from the home items, only new items were added. If it still
differs, all items have shifted.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from samekind.augmentations.corruptions import corrupted
from samekind.data import Items, draw, scaled
from samekind.decisions import Head
from samekind.errors import DataError
from samekind.evaluation.promises import PromiseRow, promises
from samekind.inference import asking, device_of, embed, two_sample
from samekind.inference.known_classes import labels_in
from samekind.inference.novelty import prototype_novelty
from samekind.inference.temperatures import heads
from samekind.measures import Interval, TwoSample, paired_bootstrap_mean
from samekind.measures.intervals import proportion_interval
from samekind.space import MetricSpace

#: Items of a set that are compared, the share of home items that may look new, and the level of the tests.
MOST, USUAL, LEVEL = 500, 0.95, 0.05
#: A share of new items beyond that of home items by less than this is no sign of new classes.
SLIGHT = 0.05
PERMUTATIONS = 500
#: Fewest items of a side for the test of the rest.
FEWEST = 10

Cause = Literal["none", "shift", "new classes", "shift or new classes"]


class Gap(NamedTuple):
    """The share that a head names rightly at home and away, and the loss away, with its 95% interval."""

    head: Head
    home: Interval
    away: Interval
    gap: Interval


class Shift(NamedTuple):
    """One set of items beside the home items.

    ``whole`` tests all items, ``rest`` those that do not look new (None: too few). ``new`` is the share that
    looks new, which is 5% at home.
    """

    name: str
    items: int
    gaps: tuple[Gap, ...]
    whole: TwoSample
    rest: TwoSample | None
    new: Interval
    promises: tuple[PromiseRow, ...]

    @property
    def cause(self) -> Cause:
        """Why the items differ from those at home, if they do."""
        if self.whole.p_value >= LEVEL:
            return "none"
        new = self.new.low > 1 - USUAL + SLIGHT
        moved = self.rest is None or self.rest.p_value < LEVEL
        if not moved:
            return "new classes" if new else "none"
        return "shift or new classes" if self.rest is None else "shift"

    @property
    def unexplained(self) -> bool:
        """Whether fewer are surely right away, by the first head, although no cause is named."""
        return self.cause == "none" and bool(self.gaps) and self.gaps[0].gap.low > 0

    @property
    def broken(self) -> tuple[PromiseRow, ...]:
        """The thresholds that no longer give what they promised."""
        return tuple(row for row in self.promises if row.broken)

    @property
    def thresholds(self) -> str:
        """Whether thresholds give what they promised: "hold", "broken", "undecided", or "" without any."""
        if not self.promises:
            return ""
        if self.broken:
            return "broken"
        return "hold" if all(row.holds for row in self.promises) else "undecided"

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "items": self.items,
            "gaps": [
                {
                    "head": gap.head,
                    **{title: getattr(gap, title)._asdict() for title in ("home", "away", "gap")},
                }
                for gap in self.gaps
            ],
            "two-sample": self.whole._asdict(),
            "two-sample of the rest": None if self.rest is None else self.rest._asdict(),
            "looks new": self.new._asdict(),
            "cause": self.cause,
            "thresholds": self.thresholds,
            "promises": [row.as_json() for row in self.promises],
        }


def corrupted_sets(
    items: Items, corruptions: tuple[str, ...], severities: tuple[int, ...], *, seed: int = 0
) -> dict[str, Items]:
    """The items with each corruption in each severity, by name; pictures alone have them."""
    if not items.medium.colours:
        raise DataError(f"{items.name}: only pictures are corrupted on the spot; give other items to compare")
    x, sets = scaled(items.inputs[:]).float(), {}
    channels = items.medium.seen(items.shape)[0]
    for corruption in corruptions:
        for severity in severities:
            generator = torch.Generator().manual_seed(seed)
            # The plane of the original size is no picture.
            changed = x.clone()
            changed[:, :channels] = corrupted(x[:, :channels], corruption, severity, generator=generator)
            sets[f"{corruption} {severity}"] = replace(items, inputs=changed)
    return sets


def shifts(
    space: MetricSpace,
    home: Items,
    away: Mapping[str, Items],
    *,
    paired: bool = False,
    most: int = MOST,
    seed: int = 0,
) -> list[Shift]:
    """Each named set of ``away`` beside the ``home`` items, of which the space knows the classes. With
    ``paired`` the sets are the home items themselves, changed, one by one: gaps are then of the same items,
    and the tests have half of the items on each side.
    """
    home_items = draw(home, most=most, seed=seed)
    z = embed(space, home_items.inputs).cpu()
    right = _right(space, home_items, z)
    answers = []
    for name, items in away.items():
        away_items = draw(items, most=most, seed=seed)
        there = embed(space, away_items.inputs).cpu()
        gaps = _gaps(right, _right(space, away_items, there), paired=paired, seed=seed)
        # The same items on both sides would look more alike than two draws are: half of each class on each.
        order = home_items.labels.cpu().argsort(stable=True)
        sides = (z[order[::2]], there[order[1::2]]) if paired else (z, there)
        whole, rest, new = _compared(space, *sides, seed=seed)
        checked = tuple(promises(space, {name: away_items}, seed=seed)) if len(away_items.classes) > 1 else ()
        answers.append(Shift(name, len(away_items), gaps, whole, rest, new, checked))
    return answers


def _right(space: MetricSpace, items: Items, z: Tensor) -> dict[Head, Tensor]:
    """Which items of known classes each head names rightly (n,)."""
    truth = labels_in(space, items).cpu()
    is_known = truth >= 0
    right: dict[Head, Tensor] = {}
    for head in heads(space):
        with asking(space):
            predicted = space.log_probabilities(z.to(device_of(space)), head=head).argmax(1).cpu()
        right[head] = (predicted == truth)[is_known]
    return right


def _gaps(
    home: Mapping[Head, Tensor], away: Mapping[Head, Tensor], *, paired: bool, seed: int
) -> tuple[Gap, ...]:
    gaps = []
    for head, right in home.items():
        away_right = away[head]
        if not len(right) or not len(away_right):
            continue
        here, there = (proportion_interval(int(part.sum()), len(part)) for part in (right, away_right))
        if paired and len(right) == len(away_right):
            gap = paired_bootstrap_mean(right.double(), away_right.double(), seed=seed).interval
        else:
            gap = unpaired_gap(right, away_right)
        gaps.append(Gap(head, here, there, gap))
    return tuple(gaps)


def unpaired_gap(home: Tensor, away: Tensor) -> Interval:
    """The share of ``home`` (n,) less that of ``away`` (m,), and its interval: Newcombe's, of two Wilson
    intervals.

    >>> [round(end, 3) for end in unpaired_gap(torch.tensor([1, 1, 1, 0]), torch.tensor([1, 0, 0, 0]))]
    [0.5, -0.135, 0.789]
    """
    near, far = (proportion_interval(int(part.sum()), len(part), form="wilson") for part in (home, away))
    gap = near.mean - far.mean
    below = ((near.mean - near.low) ** 2 + (far.high - far.mean) ** 2) ** 0.5
    above = ((near.high - near.mean) ** 2 + (far.mean - far.low) ** 2) ** 0.5
    return Interval(gap, gap - below, gap + above)


def _compared(
    space: MetricSpace, home: Tensor, away: Tensor, *, seed: int
) -> tuple[TwoSample, TwoSample | None, Interval]:
    """The test of all items, that of those that do not look new, and the share that does."""
    kind = space.kind_for("pairs")
    whole = two_sample(space, home, away, kind=kind, permutations=PERMUTATIONS, seed=seed)
    novelty, other = (prototype_novelty(space, z) for z in (home, away))
    bar = novelty.quantile(USUAL)
    familiar, usual = away[other <= bar], home[novelty <= bar]
    new = proportion_interval(len(away) - len(familiar), len(away))
    rest = None
    if min(len(familiar), len(usual)) >= FEWEST:
        rest = two_sample(space, usual, familiar, kind=kind, permutations=PERMUTATIONS, seed=seed)
    return whole, rest, new
