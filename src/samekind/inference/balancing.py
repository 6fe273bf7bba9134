"""New classes beside the known ones: how many items each kind of score names rightly, and with which bonus.

A class that was trained on scores high by habit, so items of a class that is enrolled from a few examples are
often given to a known one. A bonus for enrolled classes moves the border: Chao et al., "An Empirical Study
and Analysis of Generalized Zero-Shot Learning for Object Recognition in the Wild", ECCV 2016. It is chosen by
the harmonic mean of the shares of known and of new items that are named rightly: the smallest that comes
close to the best, none if that does.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.inference.embed import asking, device_of, in_batches
from samekind.space import MetricSpace

#: Examples that a class is enrolled from, how many classes at a time, and how often they are drawn.
SHOTS, WAY, DRAWS = 5, 5, 10
#: Boundaries that are tried; how close to the best harmonic mean the smallest bonus has to come; and what a
#: bonus below 0 has to gain with classes of the space that are enrolled as if they were new.
BOUNDARIES, CLOSE, CLEARLY = 201, 0.005, 0.01
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
    its items, drawn ``draws`` times; the other items are the queries.

    With both, the bonus is the one with the highest harmonic mean. With known items alone it is a quarter of
    the margin between the best and the next class that all but 2 % of them have; none for normalised scores,
    which lower the known classes themselves. It is less, and below 0, where enrolled classes win already:
    where classes of the space that are taken out of it, and enrolled from their items beside the others, draw
    too much (prototypes that lag behind the encoder).
    """
    empty = torch.zeros(0, dtype=torch.double)
    known = None if known is None or not len(known.z) else known
    tasks = []
    if new is not None and len(new.z):
        tasks = enrolments(space, known, new, kind=kind, shots=shots, draws=draws, seed=seed)
    if known is None:
        return Naming(empty, _means([task.of_new(0.0) for task in tasks]) if tasks else empty, None)
    if tasks:
        return balanced([tasks])
    scores = _class_scores(space, known.z, kind)
    right = scores.argmax(1) == known.labels.cpu()
    spare = 0.0 if kind == "normalised" else OF_MARGIN * spare_margin(scores, right)
    pretended = _pretended(space, known, scores, kind=kind, shots=shots, draws=draws, seed=seed)
    return Naming(right.double(), empty, _supported(spare, pretended))


class Task(NamedTuple):
    """New classes enrolled once. ``margin`` (n + m,): how far the best of them is above the best known class,
    for known items and for new ones. ``known`` (n,): whether that known class is right; ``new`` (m,): whether
    the new one is; ``asked`` (m,): whether the item is of a class that was enrolled, and no example.
    """

    margin: Tensor
    known: Tensor
    new: Tensor
    asked: Tensor

    def of_known(self, bonus: float | Tensor) -> Tensor:
        """Whether known items are named rightly with a bonus: (n,), or (b, n) for bonuses (b, 1)."""
        return ((self.margin[: len(self.known)] + bonus <= 0) & self.known).double()

    def of_new(self, bonus: float | Tensor) -> Tensor:
        """The same for new items; NaN for items that were no queries."""
        right = ((self.margin[len(self.known) :] + bonus > 0) & self.new).double()
        return right.masked_fill(~self.asked, torch.nan)


def enrolments(
    space: MetricSpace,
    known: Labelled | None,
    new: Labelled,
    *,
    kind: Kind,
    way: int | None = None,
    shots: int = SHOTS,
    draws: int = DRAWS,
    seed: int = 0,
) -> list[Task]:
    """New classes enrolled beside those of the space, ``draws`` times, see `naming`: all of them, or at most
    ``way``. Without ``known`` items the classes of the space are no answers. Draws without a question are
    left out.
    """
    drawn = [drawn_examples(new, way, shots, seed + draw) for draw in range(draws)]
    drawn = [examples for examples in drawn if examples.asked.any()]
    if not drawn:
        return []
    device = device_of(space)
    z = new.z if known is None else torch.cat([known.z, new.z.to(known.z.device)])
    prototypes = torch.cat([examples.means for examples in drawn]).to(device)
    counts = torch.cat([examples.counts for examples in drawn]).to(device)
    with asking(space):
        scores = space.score_enrolled(prototypes, z.to(device), counts, kind=kind).float().cpu()
    best_known, right = torch.full((len(z),), -torch.inf), torch.zeros(0, dtype=torch.bool)
    if known is not None:
        best_known, named = _class_scores(space, z, kind).max(1)
        right = named[: len(known.z)] == known.labels.cpu()
    tasks = []
    for examples, part in zip(drawn, torch.split(scores, [len(one.names) for one in drawn]), strict=True):
        best = part.max(0)
        is_right = examples.names[best.indices[len(right) :]] == new.labels.cpu()
        tasks.append(Task((best.values - best_known).double(), right, is_right, examples.asked))
    return tasks


def _pretended(
    space: MetricSpace, known: Labelled, scores: Tensor, *, kind: Kind, shots: int, draws: int, seed: int
) -> list[Task]:
    """Classes of the space, some at a time, as if they were new; ``scores`` (n, classes) are those of the
    space. There are none of one class.
    """
    labels, device, tasks = known.labels.cpu(), device_of(space), []
    for draw in range(draws):
        examples = drawn_examples(known, min(WAY, scores.shape[1] // 2), shots, seed + draw)
        if not examples.asked.any():
            continue
        with asking(space):
            part = examples.means.to(device), known.z.to(device), examples.counts.to(device)
            best = space.score_enrolled(*part, kind=kind).float().cpu().max(0)
        old = scores.index_fill(1, examples.names, -torch.inf).max(1)
        margin, is_new = (best.values - old.values).double(), torch.isin(labels, examples.names)
        right = (old.indices == labels)[~is_new], (examples.names[best.indices] == labels)[is_new]
        tasks.append(Task(torch.cat([margin[~is_new], margin[is_new]]), *right, examples.asked[is_new]))
    return [task for task in tasks if len(task.known)]


def _supported(spare: float, tasks: list[Task]) -> float:
    """The bonus, or the lower one below 0 that names clearly more rightly in the tasks. These cannot ask for
    a higher one: their classes were trained on, and score higher than new ones will.
    """
    best = balanced([[task] for task in tasks]).bonus if tasks else None
    if best is None or best >= 0:
        return spare
    plain, fewer = (
        naming_share(
            torch.stack([task.of_known(bonus).mean() for task in tasks]),
            torch.stack([task.of_new(bonus).nanmean() for task in tasks]),
        )
        for bonus in (spare, best)
    )
    return best if fewer - plain >= CLEARLY else spare


class Examples(NamedTuple):
    """What new classes are enrolled from: the labels (c,) of the classes, the means (c, d) of their examples,
    how many these are (c,), and the places of the queries (m,).
    """

    names: Tensor
    means: Tensor
    counts: Tensor
    asked: Tensor


def drawn_examples(new: Labelled, way: int | None, shots: int, seed: int) -> Examples:
    """One draw of at most ``way`` classes and ``shots`` examples of each. A class of one item cannot be
    enrolled and asked about.
    """
    generator, labels = torch.Generator().manual_seed(seed), new.labels.cpu()
    names, sizes = torch.unique(labels, return_counts=True)
    names = names[sizes > 1]
    if way is not None and way < len(names):
        names = names[torch.randperm(len(names), generator=generator)[:way]]
    asked, means, counts = torch.isin(labels, names), [new.z[:0]], []
    for name in names.tolist():
        places = (labels == name).nonzero().flatten()
        chosen = places[torch.randperm(len(places), generator=generator)[: min(shots, len(places) - 1)]]
        asked[chosen] = False
        means.append(new.z[chosen.to(new.z.device)].mean(0, keepdim=True))
        counts.append(len(chosen))
    if new.groups is not None:
        asked &= ~torch.isin(new.groups, new.groups[~asked & torch.isin(labels, names)])
    return Examples(names, torch.cat(means), torch.tensor(counts, dtype=torch.long), asked)


def balanced(parts: Sequence[Sequence[Task]]) -> Naming:
    """The naming with the best bonus over all tasks: the smallest whose harmonic mean comes close to the
    highest. The tasks of a part are about the same items.
    """
    tasks = [task for part in parts for task in part]
    grid = -torch.cat([task.margin for task in tasks]).quantile(
        torch.linspace(0, 1, BOUNDARIES, dtype=torch.double)
    )
    grid = torch.cat([grid, grid.new_zeros(1)])
    grid = grid[grid.abs().argsort(stable=True)]
    known = torch.stack([task.of_known(grid[:, None]).mean(1) for task in tasks], 1)
    new = torch.stack([task.of_new(grid[:, None]).nanmean(1) for task in tasks], 1)
    shares = naming_share(known, new)
    bonus = float(grid[(shares >= shares.max() - CLOSE).nonzero()[0]])
    return Naming(
        torch.cat([_means([task.of_known(bonus) for task in part]) for part in parts]),
        torch.cat([_means([task.of_new(bonus) for task in part]) for part in parts]),
        bonus,
    )


def _means(parts: list[Tensor]) -> Tensor:
    """The mean of each item over the tasks it was asked in; items that never were are left out."""
    means = torch.stack(parts).nanmean(0)
    return means[~means.isnan()]


def spare_margin(scores: Tensor, right: Tensor) -> float:
    """How far the right class is above the next, for all but a few of the items: (n, classes), (n,)."""
    if scores.shape[1] < 2 or not right.any():
        return 0.0
    first, second = scores[right].topk(2, dim=1).values.T
    return float((first - second).double().quantile(FEW))


def _class_scores(space: MetricSpace, z: Tensor, kind: Kind) -> Tensor:
    """Scores of the known classes (n, classes), on the CPU."""
    return in_batches(space, z, lambda part: space.score_classes(part, kind=kind).float())
