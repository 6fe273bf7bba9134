"""How well does it do in a domain it has never seen? Each domain in turn is left out, and tested on.

Gulrajani and Lopez-Paz, "In Search of Lost Domain Generalization", ICLR 2021: how a model is chosen is part
of the method. Here held-out items of the source domains choose. Choosing on the domain that is left out must
be asked for by name, and every row then says so.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn

from samekind.data import Items, Sets, Split, divide
from samekind.data.groups import deal_groups
from samekind.errors import DataError, SettingError
from samekind.evaluation import Row, evaluate
from samekind.evaluation.rows import SELECTED_ON_TEST, Measures, noted
from samekind.measures import student_interval
from samekind.recipes.fitting import fit
from samekind.training import Run, RunFolder, Watcher

#: The note of rows about items whose groups are in more than one part.
TORN = "groups in more than one part"


def leave_one_out(
    run: Run,
    items: Items,
    *,
    folder: str | Path,
    select_on: Literal["validation", "test"] = "validation",
    held_out: float = 0.2,
    tasks: int = 600,
    measures: Measures = "main",
    device: str = "auto",
    point: str = "eer",
    watcher: Watcher | None = None,
    encoder: nn.Module | None = None,
) -> list[Row]:
    """For each domain of the items: train on the others, choose the epoch, test on it.

    Returns the rows of each domain under its name, then the mean over domains with its interval, and the
    worst. ``held_out`` is the share of each class of each source domain that is kept for validation, or of
    each class where no domain has two items of one: it chooses the epoch and fits the thresholds.
    ``select_on="test"`` chooses the epoch on the domain left out; the rows then have the note "selected on
    test". The run of each domain has a folder of its number, and the same call goes on where it was stopped,
    with the split it began with. If items have groups, whole groups are held out where every source domain
    has enough; rows about items whose groups are in more than one part say so.

    ``encoder`` is a module of your own, as for `fit`. Every domain is trained with a fresh copy of it: a
    trained one has seen the domain that the next run leaves out.
    """
    if not 0 < held_out < 1:
        raise SettingError(f"held_out: expected a share between 0 and 1, got {held_out}")
    domains, fingerprint = _domains(items), items.fingerprint()
    run = replace(run, select_on=select_on)
    rows: dict[str, list[Row]] = {}
    for domain in domains:
        sets = _without(items, domain, held_out=held_out, seed=run.seed, fingerprint=fingerprint)
        place = Path(folder) / str(domain)
        sets = _as_begun(items, sets, place)
        own = deepcopy(encoder)
        space = fit(run, sets, folder=place, device=device, point=point, watcher=watcher, encoder=own)
        name = items.domain_names[domain] if items.domain_names else str(domain)
        measured = evaluate(space, {name: sets.test}, tasks=tasks, measures=measures, seed=run.seed)
        rows[name] = [noted(row, TORN if sets.torn() else "") for row in measured]
    note = SELECTED_ON_TEST if select_on == "test" else ""
    return [noted(row, note) for row in [*chain.from_iterable(rows.values()), *summary(rows)]]


def _domains(items: Items) -> list[int]:
    """The domains that the items are of. Raises DataError for fewer than two."""
    domains: list[int] = [] if items.domains is None else torch.unique(items.domains).tolist()
    if len(domains) < 2:
        raise DataError(
            f"{items.name}: expected items of two domains or more, to leave one out; the domain of an item "
            "is in the column domain of a table or list (data.domain names another), in the array domains of "
            'an .npz file, or, with data.domain="folder", the first of the folders domain/class/file'
        )
    return domains


def fewest_trained_on(items: Items, *, held_out: float = 0.2) -> int:
    """How many items the smallest of the runs trains on; 0 without two domains, an estimate for groups."""
    return min(map(int, _trained_on(items, held_out).sum(1)), default=0)


def fewest_of_each_class(items: Items, *, held_out: float = 0.2) -> Items:
    """Of each class as many items as every run that has the class trains on, an estimate for groups; all
    items without two domains. A recipe whose tasks are as large as its items allow suits all runs by these.
    """
    counts = _trained_on(items, held_out)
    if len(counts) < 2:
        return items
    fewest = counts.masked_fill(counts == 0, len(items)).amin(0).tolist()
    places = [(items.labels == label).nonzero().flatten()[:count] for label, count in enumerate(fewest)]
    return items.take(torch.cat(places).sort().values)


def _trained_on(items: Items, held_out: float) -> Tensor:
    """How many items of each class the run without each domain trains on: (domains, classes)."""
    if items.domains is None or not len(items):
        return torch.zeros(0, len(items.classes), dtype=torch.int64)
    domains, index = torch.unique(items.domains.cpu(), return_inverse=True)
    size = len(items.classes)
    cells = torch.bincount(index * size + items.labels.cpu(), minlength=len(domains) * size)
    counts = cells.reshape(len(domains), size)
    left = counts - _held_out(counts, held_out)
    trained_on = left.sum(0) - left
    for domain in range(len(domains)):
        sources = torch.cat([counts[:domain], counts[domain + 1 :]])
        if _of_one(sources):
            trained_on[domain] = sources.sum(0) - _held_out(sources.sum(0), held_out)
    return trained_on


def _of_one(cells: Tensor) -> bool:
    """Whether no class has two items in any domain: then validation items are held out by class."""
    return not len(cells) or int(cells.max()) < 2


def _held_out(counts: Tensor, share: float) -> Tensor:
    """How many of so many items are held out for validation (…)."""
    held = [_validating(count, share) for count in counts.flatten().tolist()]
    return torch.tensor(held, dtype=counts.dtype).reshape(counts.shape)


def summary(rows: dict[str, list[Row]]) -> list[Row]:
    """The mean over domains and the worst domain, of each measure that every domain has."""
    by_measure: dict[tuple[str, ...], list[Row]] = {}
    for row in chain.from_iterable(rows.values()):
        by_measure.setdefault((row.question, row.measure, row.kind), []).append(row)
    everywhere = [same for same in by_measure.values() if len(same) == len(rows)]
    return [row for same in everywhere for row in (_mean(same), _worst(same))]


def _mean(rows: Sequence[Row]) -> Row:
    value, low, high = student_interval([row.value for row in rows])
    note = "; ".join(dict.fromkeys(row.note for row in rows if row.note))
    mean = rows[0]._replace(items="mean", value=value, note=note)
    if low == high:
        return mean._replace(low=None, high=None, unit="")
    return mean._replace(low=low, high=high, unit="domains")


def _worst(rows: Sequence[Row]) -> Row:
    worst = max if rows[0].entry.better == "lower" else min
    row = worst(rows, key=lambda row: row.value)
    return row._replace(items=f"worst ({row.items})")


def _validating(count: int, held_out: float) -> int:
    """How many of the items of a class in a domain are held out for validation."""
    # A single item is trained on: a class that was never shown cannot help to choose.
    return max(1, round(held_out * count)) if count > 1 else 0


def _without(items: Items, domain: int, *, held_out: float, seed: int, fingerprint: str) -> Sets:
    """The sets with one domain as test, and a share of every class of the other domains as validation."""
    assert items.domains is not None
    domains, labels = items.domains.cpu(), items.labels.cpu()
    sources = (domains != domain).nonzero().flatten()
    cells = domains * len(items.classes) + labels
    parts = _dealt(items, sources, cells, held_out, seed)
    if parts is None:
        alone = _of_one(torch.unique(cells[sources], return_counts=True)[1])
        parts = _cut_cells(sources, (labels if alone else cells)[sources], held_out, seed)
    parts["test"] = (domains == domain).nonzero().flatten()
    settings = {"by": "leave-one-out", "domain": domain, "held_out": held_out, "seed": seed}
    return divide(items, Split(parts=parts, fingerprint=fingerprint, settings=settings))


def _dealt(
    items: Items, sources: Tensor, cells: Tensor, held_out: float, seed: int
) -> dict[str, Tensor] | None:
    """The items ``sources`` (k,) divided in whole groups; None without groups, or if a domain or a class
    would have validation items alone.
    """
    if items.groups is None or len(torch.unique(items.groups.cpu()[sources])) < 2:
        return None
    shares = {"train": 1 - held_out, "validation": held_out}
    parts = deal_groups(items.groups, cells, shares, sources, seed)
    missing = [
        set(numbers[parts["validation"]].tolist()) - set(numbers[parts["train"]].tolist())
        for numbers in (cells // len(items.classes), items.labels.cpu())
    ]
    return None if any(missing) else parts


def _as_begun(items: Items, sets: Sets, folder: Path) -> Sets:
    """The sets that the run in a folder began with, if it was split by the same settings: older versions
    dealt groups to the parts in another way.
    """
    begun = RunFolder(folder).begun_split(items) if items.groups is not None else None
    if begun is None or items.groups is None:  # the training refuses items that have changed
        return sets
    before, now = begun.parts, sets.split.parts
    if not torch.equal(before.get("test", torch.empty(0)), now["test"]):
        return sets
    if begun.settings is None:  # an old split: as many validation items, up to a group
        largest = int(torch.unique(items.groups, return_counts=True)[1].max())
        same = abs(len(before["validation"]) - len(now["validation"])) <= largest
    else:
        same = begun.settings == sets.split.settings
    return divide(items, begun) if same else sets


def _cut_cells(sources: Tensor, cells: Tensor, held_out: float, seed: int) -> dict[str, Tensor]:
    """The items ``sources`` (k,) divided at random, a share of each cell (k,) for validation."""
    generator = torch.Generator().manual_seed(seed)
    train: list[Tensor] = []
    validation: list[Tensor] = []
    for cell in torch.unique(cells):
        members = sources[cells == cell]
        members = members[torch.randperm(len(members), generator=generator)]
        count = _validating(len(members), held_out)
        validation.append(members[:count])
        train.append(members[count:])
    return {"train": torch.cat(train).sort().values, "validation": torch.cat(validation).sort().values}
