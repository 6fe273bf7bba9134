"""Items as a space reads them: sources to a collection, a collection to embeddings or labelled items."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from samekind.data import Collection, DataSettings, Items, Reader, Stored, collect, files_of
from samekind.data.files import File
from samekind.data.sources.loading import numbered
from samekind.data.words import spelt_as
from samekind.decisions import Head, Kind, Question
from samekind.errors import DataError, SpaceError, nearest
from samekind.inference import embed
from samekind.inference.temperatures import heads
from samekind.questions.progress import Progress, silent
from samekind.space import MetricSpace

#: Items that are embedded between two reports of progress.
BATCH = 512


def collected(
    space: MetricSpace,
    sources: Sequence[str | Path],
    *,
    skip_unreadable: bool = False,
    trained: DataSettings | None = None,
    label: str | None = None,
    named_by: str | None = None,
) -> Collection:
    """Files, folders, archives or tables, read as the space's training data was; at least one item.

    Tables are read by the columns of label, path and group in ``trained``, the settings of the training; in a
    table without them by "label", "path" and "group". A given ``label`` is the only one. ``named_by`` is the
    column that names rows. Labels are spelt as the space spells them, however their accents are stored.
    """
    settings, otherwise = _columns(trained, label)
    items = collect(
        sources,
        _reader(space),
        skip_unreadable=skip_unreadable,
        settings=settings,
        otherwise=otherwise,
        named_by=named_by,
    )
    names = sorted({label for label in items.labels if label is not None})
    spelling = dict(zip(names, spelt_as(names, space.classes), strict=True))
    return items._replace(labels=tuple(label and spelling[label] for label in items.labels))


def files_in(
    space: MetricSpace, sources: Sequence[str | Path], *, trained: DataSettings | None = None
) -> dict[str, File]:
    """The files that `collected` would read, by their ids; none is decoded."""
    settings, otherwise = _columns(trained, None)
    return files_of(sources, _reader(space), settings=settings, otherwise=otherwise)


def _columns(trained: DataSettings | None, label: str | None) -> tuple[DataSettings, DataSettings]:
    """The columns of tables: those of the training, and the usual ones."""
    first, usual = trained or DataSettings(), DataSettings()
    return (
        DataSettings(label=label or first.label, path=first.path, group=first.group),
        replace(usual, label=label or usual.label),
    )


def read_item(space: MetricSpace, path: Path) -> Tensor:
    """One item of a file, as the space reads it."""
    return _reader(space).read(path)


def _reader(space: MetricSpace) -> Reader:
    if space.reader is None:
        raise SpaceError("this space does not say how to read a file; use it from Python, with tensors")
    return space.reader


def with_labels(collection: Collection, *, name: str) -> Items:
    """A collection as labelled items, with its groups; an item without a label is an error."""
    names = [label for label in collection.labels if label is not None]
    if len(names) < len(collection.ids):
        missing = collection.ids[collection.labels.index(None)]
        raise DataError(
            f"expected items whose class is known; {missing} has none "
            "(put pictures in a folder for each class, or name the column of the labels with --label)"
        )
    classes = tuple(sorted(set(names)))
    number = {label: place for place, label in enumerate(classes)}
    groups = collection.groups
    return Items(
        inputs=collection.inputs,
        labels=torch.tensor([number[label] for label in names]),
        classes=classes,
        name=name,
        groups=None if groups is None else numbered(groups, range(len(groups)))[0],
    )


def known_kind(space: MetricSpace, kind: str | None, question: Question = "pairs") -> Kind:
    """A kind of score that the space has, None for its choice; another is an error that names the nearest."""
    if kind is None:
        return space.kind_for(question)
    for known in space.kinds:
        if known == kind:
            return known
    raise SpaceError(f'this space has no score "{kind}"; {nearest(kind, space.kinds)}')


def known_head(space: MetricSpace, head: str) -> Head:
    """A head that knows all classes of the space; any other is an error that names the nearest."""
    for known in heads(space):
        if known == head:
            return known
    raise SpaceError(f'this space has no head "{head}"; {nearest(head, heads(space))}')


def embedded(
    space: MetricSpace, inputs: Tensor | Stored, *, title: str = "embed", progress: Progress = silent
) -> Tensor:
    """Embeddings (n, d) of items, on the CPU."""
    parts = []
    with progress(title, len(inputs)) as advance:
        for start in range(0, len(inputs), BATCH):
            parts.append(embed(space, inputs[start : start + BATCH]))
            advance(len(parts[-1]))
    return torch.cat(parts)
