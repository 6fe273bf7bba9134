"""The sections of a report about items: the map, the nearest neighbours, the confusions."""

from collections.abc import Mapping

import torch

from samekind.data.groups import groups_apart
from samekind.evaluation import predicted_labels
from samekind.inference import search
from samekind.measures import confusion
from samekind.reports.confusion_matrix import MOST_NUMBERS, confusion_matrix, names_step
from samekind.reports.embedding_map import embedding_map, not_named
from samekind.reports.measured import Measured, System, notes
from samekind.reports.neighbour_grid import neighbour_grid
from samekind.reports.page import Section
from samekind.reports.plane import plane
from samekind.reports.queries import choose_queries

NEIGHBOURS = 8


def map_section(systems: Mapping[str, System], sets: Mapping[str, Measured]) -> Section | None:
    """All sets on one map, by the first system."""
    name = next(iter(systems))
    known = sets["seen"].items.classes
    classes = list(dict.fromkeys(class_name for one in sets.values() for class_name in one.items.classes))
    # The labels of each set as indices into all classes.
    places = [
        torch.tensor([classes.index(class_name) for class_name in one.items.classes]) for one in sets.values()
    ]
    labels = torch.cat([place[one.items.labels] for place, one in zip(places, sets.values(), strict=True)])
    z = torch.cat([one.embeddings[name] for one in sets.values()])
    if not len(z):
        return None
    unseen = [class_name for class_name in classes if class_name not in known]
    figure = embedding_map(plane(z, 0), labels, classes, unseen)
    caption = (
        f'Every item as the space "{name}" places it, brought to two dimensions by t-SNE: what lies together '
        f"is alike, but distances between groups mean little.{not_named(figure, labels)}{notes(sets)}"
    )
    return Section("Map of the items", caption, figure)


def neighbours_section(systems: Mapping[str, System], sets: Mapping[str, Measured]) -> Section | None:
    """Queries and what the first system finds most alike, if items are pictures."""
    name, system = next(iter(systems.items()))
    words, measured = list(sets.items())[-1]
    items, z = measured.items, measured.embeddings[name]
    if len(items) < 2:
        return None
    _, marks, queries, _ = groups_apart(items)
    available = len(items) - int(torch.unique(marks, return_counts=True)[1].max())
    neighbours = search(system.space, z, z, k=min(NEIGHBOURS, available), apart=(marks, marks)).indices
    chosen = choose_queries(items.labels[queries], items.labels[neighbours[queries, 0]])
    shown = queries[chosen.indices]
    figure = neighbour_grid(items.inputs, items.labels, items.classes, neighbours[shown], queries=shown)
    caption = (
        f'Random {words} items and the others the space "{name}" finds most alike. The nearest is of another '
        f"class for {chosen.all_mistakes:,} of {len(queries):,}{_last_rows(chosen.mistakes)}."
        f"{measured.pairs_note}"
    )
    return Section("Most alike", caption, figure) if figure is not None else None


def confusion_section(systems: Mapping[str, System], sets: Mapping[str, Measured]) -> Section | None:
    """The classes that the first system gives the seen items; None if it does not know their classes."""
    name, system = next(iter(systems.items()))
    measured = sets["seen"]
    items, classes = measured.items, list(measured.items.classes)
    if not len(items) or not set(classes) <= set(system.space.classes):
        return None
    predicted = predicted_labels(system.space, items, measured.embeddings[name])
    if (predicted < 0).any():
        classes.append("another")
        predicted = predicted.where(predicted >= 0, len(classes) - 1)
    counts = confusion(predicted, items.labels, classes=len(classes))
    mistakes = int(counts.sum() - counts.diagonal().sum())
    caption = (
        f'What the space "{name}" calls each seen item: {mistakes:,} of {len(items):,} are wrong, shown in '
        f"colour; {_written_beside(len(classes))}.{measured.note}"
    )
    return Section("Confusions", caption, confusion_matrix(counts, classes))


def _written_beside(classes: int) -> str:
    """The part of a caption about the numbers and names around a matrix of so many classes."""
    if classes <= MOST_NUMBERS:
        return "on the right the share of each class that is named rightly"
    step = names_step(classes)
    names = "" if step == 1 else f", and one name in {step} is written"
    return f"with so many classes counts and shares are left out{names}"


def _last_rows(mistakes: int) -> str:
    """The part of a caption about the rows that were chosen as mistakes."""
    if not mistakes:
        return ""
    return (
        "; the last row shows such a case" if mistakes == 1 else f"; the last {mistakes} rows show such cases"
    )
