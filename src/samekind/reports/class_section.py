"""The section of a report about single classes: in which place of the tree they sit, and which are missed."""

from collections.abc import Mapping, Sequence

from samekind.evaluation import ClassRecall, Misplaced, class_recalls, misplaced
from samekind.reports.measured import Measured, System
from samekind.reports.page import Section, table

#: The classes that a table names, at most.
SHOWN = 12
#: From so many classes on, or if one has so many times the items of another, the missed ones are listed.
MANY, UNEQUAL = 25, 10


def class_section(systems: Mapping[str, System], sets: Mapping[str, Measured]) -> Section | None:
    """The classes that the first system places far from their relatives in its tree, and those it misses most
    often, with what it takes them for. None if there is nothing to say, or for few classes of like size.
    """
    name, system = next(iter(systems.items()))
    measured = sets["seen"]
    recalls = class_recalls(system.space, measured.items, measured.embeddings[name])
    wrong = misplaced(system.space)
    sizes = [row.items for row in recalls]
    is_unequal = bool(sizes) and max(sizes) >= UNEQUAL * min(sizes)
    if system.space.tree is None and len(sizes) < MANY and not is_unequal:
        recalls = []
    missed = [row for row in recalls if row.recall < 1]
    if not wrong and not missed:
        return None
    parts = [_places(wrong), _missed(missed, len(recalls))]
    caption = " ".join(words for words, _ in filter(None, parts))
    return Section(
        "Class by class", f"{caption}{measured.note}", html="".join(t for _, t in filter(None, parts))
    )


def _places(rows: Sequence[Misplaced]) -> tuple[str, str] | None:
    if not rows:
        return None
    words = (
        f"{len(rows):,} of the classes have a stranger as the most similar class, not one of their nearest "
        f"relatives in the tree; the first table has {'the farthest' if len(rows) > SHOWN else 'them'}."
    )
    lines = [(row.name, row.neighbour, f"{row.steps:g}", f"{row.nearest:g}") for row in rows[:SHOWN]]
    return words, table(("class", "most similar class", "steps in the tree", "to its nearest"), lines)


def _missed(rows: Sequence[ClassRecall], classes: int) -> tuple[str, str] | None:
    if not rows:
        return None
    words = (
        f"Of {classes:,} classes {len(rows):,} have items that were given another class; here are those that "
        "are named least often, and what they were taken for."
    )
    lines = [
        (row.name, f"{row.items:,}", f"{row.recall:.0%}", f"{row.f1:.0%}", _confounders(row))
        for row in rows[:SHOWN]
    ]
    return words, table(("class", "items", "named rightly", "F1", "taken for"), lines)


def _confounders(row: ClassRecall) -> str:
    return ", ".join(
        f"{name} {count:,}" + ("" if steps is None else f" ({steps:g} steps)")
        for name, count, steps in row.confounders
    )
