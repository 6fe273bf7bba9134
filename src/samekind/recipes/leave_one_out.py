"""How well does it do in a domain it has never seen? Each in turn is left out, and tested on.

Gulrajani and Lopez-Paz, "In Search of Lost Domain Generalization", ICLR 2021: how a model is chosen is part
of the method. Here it is chosen on held-out items of the source domains; to choose on the domain that is left
out must be asked for by name, and every row then says so.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
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

#: The note of rows about items whose groups have others in training or in validation.
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

    The rows of each domain come under its name, then those of all: their mean, with its interval over
    domains, and the worst. ``held_out`` is the share of every class of every source domain that is kept for
    validation: it chooses the epoch and fits the thresholds. ``select_on="test"`` chooses the epoch on the
    domain left out instead; the rows then carry the note "selected on test". The run of each domain is in
    a folder of its number, and the same call goes on where it was stopped, with the split it began with.
    Where items have groups, validation is cut out in whole ones if every source domain has some to spare;
    where a group is in more than one part all the same, the rows say so.

    ``encoder`` is a module of your own, as for `fit`. Every domain is trained with a copy of it, as it is
    now, for what one has learned was learned on the domain the next leaves out; it stays as it is itself.
    """
    if items.domains is None or len(torch.unique(items.domains)) < 2:
        raise DataError(
            f"{items.name}: to leave one out there must be items of two domains or more; the domain of an "
            "item is in the column domain of a table or list (data.domain names another), or in the array "
            "domains of an .npz file"
        )
    if not 0 < held_out < 1:
        raise SettingError(f"held_out: expected a share between 0 and 1, got {held_out}")
    fingerprint = items.fingerprint()
    run = replace(run, select_on=select_on)
    rows: dict[str, list[Row]] = {}
    for domain in torch.unique(items.domains).tolist():
        sets = _without(items, domain, held_out=held_out, seed=run.seed, fingerprint=fingerprint)
        place = Path(folder) / str(domain)
        sets = _as_begun(items, sets, place)
        space = fit(
            run,
            sets,
            folder=place,
            device=device,
            point=point,
            watcher=watcher,
            encoder=deepcopy(encoder),
        )
        name = items.domain_names[domain] if items.domain_names else str(domain)
        found = evaluate(space, {name: sets.test}, tasks=tasks, measures=measures, seed=run.seed)
        rows[name] = [noted(row, TORN if sets.torn() else "") for row in found]
    every = [row for found in rows.values() for row in found] + summary(rows)
    note = SELECTED_ON_TEST if select_on == "test" else ""
    return [noted(row, note) for row in every]


def fewest_trained_on(items: Items, *, held_out: float = 0.2) -> int:
    """How many items the least of the runs trains on; 0 where there are no two domains. Of items that have
    groups, about so many.
    """
    if items.domains is None:
        return 0
    cells = items.domains.cpu() * len(items.classes) + items.labels.cpu()
    found, counts = torch.unique(cells, return_counts=True)
    left = torch.tensor([each - _kept(each, held_out) for each in counts.tolist()])
    domains = found // len(items.classes)
    return min((int(left[domains != domain].sum()) for domain in torch.unique(domains)), default=0)


def summary(rows: dict[str, list[Row]]) -> list[Row]:
    """The mean over domains and the worst of them, for what was measured in every one; rows by domain."""
    found: list[Row] = []
    first = next(iter(rows.values()))
    for asked in ((row.question, row.measure, row.kind) for row in first):
        same = [
            row for each in rows.values() for row in each if (row.question, row.measure, row.kind) == asked
        ]
        if len(same) == len(rows):
            found += [_mean(same), _worst(same)]
    return found


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


def _kept(count: int, held_out: float) -> int:
    """How many of the items of a class in a domain validate."""
    # An item that is alone is trained on: a class nobody has shown cannot be chosen by either.
    return max(1, round(held_out * count)) if count > 1 else 0


def _without(items: Items, domain: int, *, held_out: float, seed: int, fingerprint: str) -> Sets:
    """The sets with one domain as test; of the others a share of every class of every domain validates."""
    assert items.domains is not None
    domains, labels = items.domains.cpu(), items.labels.cpu()
    sources = (domains != domain).nonzero().flatten()
    cells = domains * len(items.classes) + labels
    parts = _dealt(items, sources, cells, held_out, seed) or _cut_cells(
        sources, cells[sources], held_out, seed
    )
    parts["test"] = (domains == domain).nonzero().flatten()
    settings = {"by": "leave-one-out", "domain": domain, "held_out": held_out, "seed": seed}
    return divide(items, Split(parts=parts, fingerprint=fingerprint, settings=settings))


def _dealt(
    items: Items, sources: Tensor, cells: Tensor, held_out: float, seed: int
) -> dict[str, Tensor] | None:
    """The items ``sources`` (k,) to train and to validate on in whole groups; None where there are none, or
    a domain or a class would be validated on alone.
    """
    if items.groups is None or len(torch.unique(items.groups.cpu()[sources])) < 2:
        return None
    shares = {"train": 1 - held_out, "validation": held_out}
    parts = deal_groups(items.groups, cells, shares, sources, seed)
    missing = [
        set(each[parts["validation"]].tolist()) - set(each[parts["train"]].tolist())
        for each in (cells // len(items.classes), items.labels.cpu())
    ]
    return None if any(missing) else parts


def _as_begun(items: Items, sets: Sets, folder: Path) -> Sets:
    """The sets that the run in a folder was begun with, where it was asked for the same ones: groups were not
    always dealt as they are now.
    """
    begun = RunFolder(folder).begun_split(items) if items.groups is not None else None
    if begun is None or items.groups is None:  # of items that have changed: the training refuses them
        return sets
    before, now = begun.parts, sets.split.parts
    if not torch.equal(before.get("test", torch.empty(0)), now["test"]):
        return sets
    if begun.settings is None:  # of before it was written down: as much for validation, but for a group
        largest = int(torch.unique(items.groups, return_counts=True)[1].max())
        same = abs(len(before["validation"]) - len(now["validation"])) <= largest
    else:
        same = begun.settings == sets.split.settings
    return divide(items, begun) if same else sets


def _cut_cells(sources: Tensor, cells: Tensor, held_out: float, seed: int) -> dict[str, Tensor]:
    """The items ``sources`` (k,) to train and to validate on, a share of each cell (k,)."""
    generator = torch.Generator().manual_seed(seed)
    train: list[Tensor] = []
    validation: list[Tensor] = []
    for cell in torch.unique(cells):
        members = sources[cells == cell]
        members = members[torch.randperm(len(members), generator=generator)]
        kept = _kept(len(members), held_out)
        validation.append(members[:kept])
        train.append(members[kept:])
    return {"train": torch.cat(train).sort().values, "validation": torch.cat(validation).sort().values}
