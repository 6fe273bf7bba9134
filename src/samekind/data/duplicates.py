"""Items with the same content."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence

import torch

from samekind.data.items import Items
from samekind.data.media import Problem
from samekind.data.media.medium import named_problem
from samekind.data.sets import Sets
from samekind.data.splits import Split
from samekind.data.stored import Stored
from samekind.data.words import counted, named


def duplicates(items: Items) -> list[list[int]]:
    """Groups of items with the same content, in order: equal tensors or, of stored pictures, equal files."""
    places: dict[bytes, list[int]] = defaultdict(list)
    for place, content in enumerate(_contents(items)):
        places[content].append(place)
    return [group for group in places.values() if len(group) > 1]


def duplicate_problems(
    items: Items, groups: Sequence[Sequence[int]], split: Split | None
) -> Iterator[Problem]:
    """The warnings about equal content: contradictory labels, and content in two parts."""
    if not groups:
        return
    spare = sum(len(group) - 1 for group in groups)
    example = " = ".join(named(items, place) for place in groups[0][:2])
    yield Problem(
        "warning", f"{counted(spare, 'item repeats', 'items repeat')} the content of another ({example})"
    )
    contradictory = [group for group in groups if len(set(items.labels[torch.tensor(group)].tolist())) > 1]
    names = [_contradiction(items, group) for group in contradictory]
    yield from named_problem(names, "content has", "contents have", "more than one label")
    parts = _parts(items, split)
    if parts is not None:
        across = [group for group in groups if len({parts[place] for place in group} - {None}) > 1]
        pairs = [_apart(group, parts) for group in across]
        names = [" = ".join(f"{named(items, n)} ({parts[n]})" for n in pair) for pair in pairs]
        yield from named_problem(names, "content is", "contents are", "in more than one part")


def trained_on_copies(sets: Sets) -> str:
    """The warning about test items with the content of a training item; an empty text if there are none."""
    trained = {content: place for place, content in enumerate(_contents(sets.train))}
    tests = [
        (items, place, trained[content])
        for items in sets.tests().values()
        for place, content in enumerate(_contents(items))
        if content in trained
    ]
    if not tests:
        return ""
    items, place, other = tests[0]
    total = sum(map(len, sets.tests().values()))
    return (
        f"{len(tests):,} of {counted(total, 'test item', 'test items')} "
        f"{'has' if len(tests) == 1 else 'have'} the content of a training item "
        f"({named(items, place)} = {named(sets.train, other)}), so that measures are too good; "
        "samekind check names the copies"
    )


def _contents(items: Items) -> Iterator[bytes]:
    if isinstance(items.inputs, Stored):
        yield from items.inputs.digests()
        return
    flat = items.inputs.detach().cpu().contiguous().flatten(1)
    for row in flat.view(torch.uint8).numpy():
        yield hashlib.sha256(row.data).digest()


def _apart(group: Sequence[int], parts: Sequence[str | None]) -> tuple[int, int]:
    """The first item of a group that is in a part, and the first that is in another part."""
    first = next(place for place in group if parts[place] is not None)
    return first, next(place for place in group if parts[place] not in (None, parts[first]))


def _contradiction(items: Items, group: Sequence[int]) -> str:
    labelled = {int(items.labels[place]): place for place in reversed(group)}
    return " = ".join(
        f'{named(items, n)} ("{items.classes[label]}")' for label, n in sorted(labelled.items())
    )


def _parts(items: Items, split: Split | None) -> Sequence[str | None] | None:
    """The part of each item, by the split or else as published."""
    if split is None:
        return items.parts
    parts: list[str | None] = [None] * len(items)
    for name, indices in split.parts.items():
        for place in indices.tolist():
            parts[place] = name
    return parts
