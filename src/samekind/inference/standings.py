"""Which kind of score is best? Each compared with the space's own, on items it was not trained on.

The comparison is paired, by pair of items and by query: the difference of two scores is then known much more
precisely than either.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items, draw
from samekind.data.groups import Apart, groups_apart
from samekind.decisions import Balance, Kind, Standing
from samekind.inference.balancing import Labelled, Naming, naming, naming_share
from samekind.inference.embed import embed
from samekind.inference.known_classes import divided
from samekind.inference.search import search
from samekind.inference.trials import Trials, ordered_trials
from samekind.measures import FEWEST_CLASSES, equal_error_rate, paired_bootstrap, paired_bootstrap_mean
from samekind.space import MetricSpace

#: At most so many items are drawn: half a million pairs are enough for the comparison.
STANDING_ITEMS = 1000
#: Draws of an interval.
REPLICATES = 1000

NEW_CLASSES, KNOWN_CLASSES = "classes not trained on", "known classes"


class Measured(NamedTuple):
    """How each kind of score did, and what balances enrolled classes by it."""

    standings: dict[str, Standing]
    balances: dict[str, Balance]


def standings(
    space: MetricSpace, items: Items, *, most_items: int = STANDING_ITEMS, seed: int = 0
) -> dict[str, Standing]:
    """How each kind of score does on the items; see `measure_kinds`."""
    return measure_kinds(space, items, most_items=most_items, seed=seed).standings


def measure_kinds(
    space: MetricSpace,
    items: Items,
    *,
    trained: Items | None = None,
    most_items: int = STANDING_ITEMS,
    seed: int = 0,
) -> Measured:
    """How each kind of score does, and how much better than the space's own similarity, which comes first.

    Pairs and neighbours are those of classes that the space does not know, if three of them have two items;
    else of its known classes. Of more than ``most_items`` some are drawn. Classes are named with both: see
    `naming`. Nothing is measured if no two items are of one class, or all of them are. The interval of the
    errors is over classes, at least three; that of the others over items. Items of one group are not
    compared.

    If no item is of a known class, the bonus of enrolled classes comes from ``trained`` items, if there are
    any: from their margins alone, because they are named rightly more often than others.
    """
    known, new = divided(space, items)
    chosen, which = (new, NEW_CLASSES) if _several(new) >= FEWEST_CLASSES else (known, KNOWN_CLASSES)
    if _several(chosen) < 1 or _classes(chosen) < 2:
        chosen, which = items, ""
    if _several(chosen) < 1 or _classes(chosen) < 2:
        return Measured({}, {})
    name = items.name if len(chosen) <= most_items else f"{most_items:,} items drawn from {items.name}"
    drawn = draw(chosen, most=most_items, seed=seed)
    apart = groups_apart(drawn)
    measured = compared(
        *_found(space, embed(space, drawn.inputs), drawn.labels.cpu(), apart),
        _namings(space, known, new, most_items=most_items, seed=seed),
        measured_on=apart.named(", ".join(filter(None, (name, which)))),
        seed=seed,
    )
    if measured.balances or trained is None or not len(inside := divided(space, trained)[0]):
        return measured
    part = _labelled(space, draw(inside, most=most_items, seed=seed))
    margins = {kind: naming(space, part, None, kind=kind) for kind in space.kinds}
    return measured._replace(balances=balances_of(margins, inside.name))


def measure_embedded(
    space: MetricSpace,
    z: Tensor,
    labels: Tensor,
    *,
    measured_on: str,
    groups: Tensor | None = None,
    seed: int = 0,
) -> Measured:
    """The same for embeddings (n, d) of classes (n,) that the space does not know, all of them."""
    classes, places = torch.unique(labels.cpu(), return_inverse=True)
    items = Items(z, places, tuple(map(str, classes.tolist())), measured_on, groups=groups)
    if _several(items) < 1 or len(classes) < 2:
        return Measured({}, {})
    apart, namings = groups_apart(items), dict[Kind, Naming]()
    if _several(items) > 1:
        new = Labelled(z, places, apart.groups)
        namings = {kind: naming(space, None, new, kind=kind, seed=seed) for kind in space.kinds}
    evidence = _found(space, z, places, apart)
    return compared(*evidence, namings, measured_on=apart.named(measured_on), seed=seed)


def _found(
    space: MetricSpace, z: Tensor, labels: Tensor, apart: Apart
) -> tuple[dict[Kind, Tensor], dict[Kind, Trials]]:
    """The neighbours by each kind of score, of items with another one of their class, and all its trials."""
    queries = apart.queries[torch.bincount(labels)[labels[apart.queries]] > 1]
    return (
        {kind: _hits(space, z, labels, apart.marks, kind)[queries] for kind in space.kinds},
        {kind: ordered_trials(space, z, labels, groups=apart.groups, kind=kind) for kind in space.kinds},
    )


def compared(
    hits: Mapping[Kind, Tensor],
    trials: Mapping[Kind, Trials],
    namings: Mapping[Kind, Naming],
    *,
    measured_on: str,
    seed: int = 0,
) -> Measured:
    """The standings of what was measured by each kind of score, the space's own first.

    ``hits`` (queries,) are 1 where the most similar other item is of the same class, ``trials`` all pairs in
    one order. ``namings`` may be empty.
    """
    result: dict[str, Standing] = {}
    for kind in trials:
        errors = recall = named = None
        if kind != "similarity":
            errors = _fewer_errors(trials[kind], trials["similarity"], seed)
            recall = paired_bootstrap_mean(hits[kind], hits["similarity"], seed=seed).interval[1:]
            named = _more_named(namings[kind], namings["similarity"], seed) if namings else None
        rate = equal_error_rate(trials[kind].scores, trials[kind].same).rate
        share = namings[kind].share if namings else None
        result[kind] = Standing(rate, float(hits[kind].mean()), measured_on, errors, recall, share, named)
    return Measured(result, balances_of(namings, measured_on))


def _hits(space: MetricSpace, z: Tensor, labels: Tensor, marks: Tensor, kind: Kind) -> Tensor:
    """1 if the most similar item of another mark is of the same class, else 0: (n,)."""
    nearest = search(space, z, z, k=1, kind=kind, apart=(marks, marks)).indices[:, 0].cpu()
    return (labels[nearest] == labels).double()


def _fewer_errors(trials: Trials, own: Trials, seed: int) -> tuple[float, float] | None:
    """The interval of how much lower the equal error is than the own similarity's; None for few classes."""
    if len(torch.unique(torch.cat(trials[2:]))) < FEWEST_CLASSES:
        return None
    gains = paired_bootstrap(own.scores, trials.scores, *trials[1:], statistics=("EER",), seed=seed)
    return gains["EER"].interval[1:]


def _namings(
    space: MetricSpace, known: Items, new: Items, *, most_items: int, seed: int
) -> dict[Kind, Naming]:
    """The items that each kind of score names rightly; empty without known items and without classes to
    enrol.
    """
    parts = [_labelled(space, draw(part, most=most_items, seed=seed)) for part in (known, new)]
    known_part = parts[0] if len(known) else None
    new_part = parts[1] if _several(new) > 1 else None
    if known_part is None and new_part is None:
        return {}
    return {kind: naming(space, known_part, new_part, kind=kind, seed=seed) for kind in space.kinds}


def labelled(space: MetricSpace, items: Items, z: Tensor) -> Labelled:
    """Embeddings z (n, d) of items, the classes of the space by their places there."""
    place = {name: number for number, name in enumerate([*space.classes, *items.classes])}
    place |= {name: number for number, name in enumerate(space.classes)}
    labels = torch.tensor([place[name] for name in items.classes])[items.labels.cpu()]
    return Labelled(z, labels, groups_apart(items).groups)


def _labelled(space: MetricSpace, items: Items) -> Labelled:
    return labelled(space, items, embed(space, items.inputs))


def _more_named(one: Naming, own: Naming, seed: int) -> tuple[float, float]:
    """The interval, over items, of how many more are named rightly; known and new classes count the same."""
    generator, parts = torch.Generator().manual_seed(seed), []
    for mine, others in zip(one[:2], own[:2], strict=True):
        rows = torch.randint(max(1, len(mine)), (REPLICATES, len(mine)), generator=generator)
        parts.append((mine[rows], others[rows]))
    (known, own_known), (new, own_new) = parts
    gains = naming_share(known, new) - naming_share(own_known, own_new)
    low, high = gains.quantile(torch.tensor([0.025, 0.975], dtype=gains.dtype)).tolist()
    return low, high


def balances_of(namings: Mapping[Kind, Naming], measured_on: str) -> dict[str, Balance]:
    """The balance of enrolled classes, by each kind of score with a bonus."""
    return {
        kind: Balance(
            value.bonus,
            measured_on,
            known=float(value.known.mean()) if len(value.new) else None,
            new=float(value.new.mean()) if len(value.new) else None,
        )
        for kind, value in namings.items()
        if value.bonus is not None
    }


def _several(items: Items) -> int:
    """How many classes have two items or more."""
    return int((torch.bincount(items.labels.cpu()) > 1).sum())


def _classes(items: Items) -> int:
    return len(torch.unique(items.labels))
