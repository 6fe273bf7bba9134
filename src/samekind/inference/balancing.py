"""New classes beside the known ones: how many items each kind of score names rightly, and with which bonus.

A class that was trained on scores high by habit, so items of a class that is enrolled from a few examples are
often given to a known one. A bonus for enrolled classes moves the border: Chao et al., "An Empirical Study
and Analysis of Generalized Zero-Shot Learning for Object Recognition in the Wild", ECCV 2016. It is chosen by
the harmonic mean of the shares of known and of new items that are named rightly.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.inference.embed import asking, device_of, in_batches
from samekind.space import MetricSpace

#: Examples that a class is enrolled from, and how often they are drawn.
SHOTS, DRAWS = 5, 10
#: Boundaries that are tried.
BOUNDARIES = 201
#: Without new classes the bonus is this share of a margin: that between the best and the next known class,
#: which all but a few of the known items have. A new class comes closer to them than that.
#: With classes held out of the training items (`benchmarks/bonus.py`, raw input) it gained 0.1 (characters),
#: 0.3 (digits) and 2.3 points (wine) of the harmonic mean; a half gained 0.1, 0.4 and 3.0. The smaller share
#: is taken, because trained spaces were not measured there.
OF_MARGIN, FEW = 0.25, 0.02


class Labelled(NamedTuple):
    """Embeddings (n, d) with their labels (n,) and, to keep copies apart, their groups (n,)."""

    z: Tensor
    labels: Tensor
    groups: Tensor | None = None


class Naming(NamedTuple):
    """How often each known item (n,) and each new one (m,) is named rightly, 0 to 1, with the ``bonus``.

    Without known or without new items that part is empty. ``bonus`` is None without known classes.
    """

    known: Tensor
    new: Tensor
    bonus: float | None

    @property
    def share(self) -> float:
        """The harmonic mean of the two shares, or the one that there is."""
        return float(naming_share(self.known[None], self.new[None]))


def naming_share(known: Tensor, new: Tensor) -> Tensor:
    """The harmonic mean of two shares: (…, n), (…, m) -> (…,); of an empty part, the other share."""
    if not known.shape[-1] or not new.shape[-1]:
        return (known if known.shape[-1] else new).mean(-1)
    one, other = known.mean(-1), new.mean(-1)
    return 2 * one * other / (one + other).clamp(min=torch.finfo(one.dtype).tiny)


def naming(
    space: MetricSpace,
    known: Labelled | None,
    new: Labelled | None,
    *,
    kind: Kind,
    shots: int = SHOTS,
    draws: int = DRAWS,
    seed: int = 0,
) -> Naming:
    """What a kind of score names rightly: held-out items of the space's classes (``known``, their labels in
    the order of the space's classes), and items of other classes, each of which is enrolled from ``shots`` of
    its items, drawn ``draws`` times; the rest is asked about.

    With both, the bonus is the one with the highest harmonic mean. With known items alone it is a quarter of
    the margin between the best and the next class that all but 2 % of them have; none for normalised scores,
    which lower the known classes themselves.
    """
    empty = torch.zeros(0, dtype=torch.double)
    if known is None or not len(known.z):
        if new is None:
            return Naming(empty, empty, None)
        tasks = [_task(space, new, kind, None, shots, seed + draw) for draw in range(draws)]
        return Naming(empty, _means([task.right.where(task.asked, torch.nan) for task in tasks]), None)
    scores = _class_scores(space, known.z, kind)
    best = scores.max(1)
    right = best.indices == known.labels.cpu()
    if new is None or not len(new.z):
        return Naming(right.double(), empty, 0.0 if kind == "normalised" else _spare(scores, right))
    best_of_all = torch.cat([best.values, _class_scores(space, new.z, kind).amax(1)])
    tasks = [_task(space, new, kind, (known.z, best_of_all), shots, seed + draw) for draw in range(draws)]
    return _balanced([task for task in tasks if task.asked.any()], right)


class _Task(NamedTuple):
    """New classes enrolled once. ``margin`` (n + m,): how far the best of them is above the best known class,
    for known items and for new ones. ``right`` (m,): whether it is the right one; ``asked`` (m,): whether the
    item was no example.
    """

    margin: Tensor
    right: Tensor
    asked: Tensor


def _task(
    space: MetricSpace,
    new: Labelled,
    kind: Kind,
    known: tuple[Tensor, Tensor] | None,
    shots: int,
    seed: int,
) -> _Task:
    generator, labels = torch.Generator().manual_seed(seed), new.labels.cpu()
    prototypes, names, counts = [], [], []
    asked = torch.ones(len(labels), dtype=torch.bool)
    for label in torch.unique(labels).tolist():
        places = (labels == label).nonzero().flatten()
        chosen = places[torch.randperm(len(places), generator=generator)[: min(shots, len(places) - 1)]]
        if len(chosen):  # a class of one item cannot be enrolled and asked about
            asked[chosen] = False
            prototypes.append(new.z[chosen.to(new.z.device)].mean(0))
            names.append(label)
            counts.append(len(chosen))
        else:
            asked[places] = False
    if new.groups is not None:
        asked &= ~torch.isin(new.groups, new.groups[~asked])
    z = new.z if known is None else torch.cat([known[0], new.z.to(known[0].device)])
    with asking(space):
        device = device_of(space)
        enrolled = torch.stack(prototypes).to(device), z.to(device), torch.tensor(counts, device=device)
        scores = space.score_enrolled(*enrolled, kind=kind)
    best = scores.float().cpu().max(0)
    right = torch.tensor(names)[best.indices[-len(labels) :]] == labels
    return _Task(best.values if known is None else best.values - known[1], right.double(), asked)


def _balanced(tasks: list[_Task], right: Tensor) -> Naming:
    """The naming with the best bonus over all tasks, the smallest of equals."""
    count = len(right)
    margins = torch.cat([task.margin for task in tasks]).double()
    grid = -margins.quantile(torch.linspace(0, 1, BOUNDARIES, dtype=torch.double))
    grid = torch.cat([grid, grid.new_zeros(1)])
    grid = grid[grid.abs().argsort(stable=True)]
    known, new = torch.zeros(len(grid)), torch.zeros(len(grid))
    for task in tasks:
        enrolled = task.margin.double() + grid[:, None] > 0
        known += (right & ~enrolled[:, :count]).float().mean(1)
        new += (enrolled[:, count:] * task.right)[:, task.asked].float().mean(1)
    bonus = float(grid[naming_share(known[:, None], new[:, None]).argmax()])
    named = [task.margin.double() + bonus > 0 for task in tasks]
    return Naming(
        _means([(right & ~chosen[:count]).double() for chosen in named]),
        _means(
            [
                (chosen[count:] * task.right).where(task.asked, torch.nan)
                for task, chosen in zip(tasks, named, strict=True)
            ]
        ),
        bonus,
    )


def _means(parts: list[Tensor]) -> Tensor:
    """The mean of each item over the tasks it was asked in; items that never were are left out."""
    means = torch.stack(parts).nanmean(0)
    return means[~means.isnan()]


def _spare(scores: Tensor, right: Tensor) -> float:
    """A share of how far the right class is above the next, for all but a few of the items (n, classes)."""
    if scores.shape[1] < 2 or not right.any():
        return 0.0
    first, second = scores[right].topk(2, dim=1).values.T
    return OF_MARGIN * float((first - second).double().quantile(FEW))


def _class_scores(space: MetricSpace, z: Tensor, kind: Kind) -> Tensor:
    """Scores of the known classes (n, classes), on the CPU."""
    return in_batches(space, z, lambda part: space.score_classes(part, kind=kind).float())
