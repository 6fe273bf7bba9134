"""Items that are there more than once, found by their content."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence

import torch

from samekind.data.items import Items
from samekind.data.media import Problem
from samekind.data.sets import Sets
from samekind.data.splits import Split
from samekind.data.stored import Stored
from samekind.data.words import counted, listed, named


def duplicates(items: Items) -> list[list[int]]:
    """Groups of items with the same content, in order: equal numbers or, of stored pictures, files."""
    places: dict[bytes, list[int]] = defaultdict(list)
    for place, content in enumerate(_contents(items)):
        places[content].append(place)
    return [group for group in places.values() if len(group) > 1]


def duplicate_problems(
    items: Items, groups: Sequence[Sequence[int]], split: Split | None
) -> Iterator[Problem]:
    """What groups of the same content mean: contradictory labels, and tests that were trained on."""
    if not groups:
        return
    spare = sum(len(group) - 1 for group in groups)
    example = " = ".join(named(items, place) for place in groups[0][:2])
    yield Problem(
        "warning", f"{counted(spare, 'item repeats', 'items repeat')} the content of another ({example})"
    )
    torn = [group for group in groups if len(set(items.labels[torch.tensor(group)].tolist())) > 1]
    if torn:
        names = [_contradiction(items, group) for group in torn]
        yield Problem(
            "warning",
            f"{counted(len(torn), 'content has', 'contents have')} more than one label: {listed(names)}",
        )
    parts = _parts(items, split)
    if parts is not None:
        across = [group for group in groups if len({parts[place] for place in group} - {None}) > 1]
        if across:
            pairs = [_apart(group, parts) for group in across]
            names = [" = ".join(f"{named(items, n)} ({parts[n]})" for n in pair) for pair in pairs]
            yield Problem(
                "warning",
                f"{counted(len(across), 'content is', 'contents are')} in more than one part: "
                f"{listed(names)}",
            )


def trained_on_copies(sets: Sets) -> str:
    """What there is to say of test items whose very content was trained on; an empty text where none is."""
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
    total = sum(len(each) for each in sets.tests().values())
    return (
        f"{len(tests):,} of {counted(total, 'test item', 'test items')} "
        f"{'has' if len(tests) == 1 else 'have'} the very content of a training item "
        f"({named(items, place)} = {named(sets.train, other)}), and what is measured on such items "
        "promises too much; samekind check names the copies"
    )


def _contents(items: Items) -> Iterator[bytes]:
    if isinstance(items.inputs, Stored):
        yield from items.inputs.digests()
        return
    flat = items.inputs.detach().cpu().contiguous().flatten(1)
    for row in flat.view(torch.uint8).numpy():
        yield hashlib.sha256(row.data).digest()


def _apart(group: Sequence[int], parts: Sequence[str | None]) -> tuple[int, int]:
    """The first of a group that is in a part, and the first that is in another."""
    first = next(place for place in group if parts[place] is not None)
    return first, next(place for place in group if parts[place] not in (None, parts[first]))


def _contradiction(items: Items, group: Sequence[int]) -> str:
    labelled = {int(items.labels[place]): place for place in reversed(group)}
    return " = ".join(
        f'{named(items, n)} ("{items.classes[label]}")' for label, n in sorted(labelled.items())
    )


def _parts(items: Items, split: Split | None) -> Sequence[str | None] | None:
    """The part each item is in, by the split or else as published."""
    if split is None:
        return items.parts
    parts: list[str | None] = [None] * len(items)
    for name, indices in split.parts.items():
        for place in indices.tolist():
            parts[place] = name
    return parts
