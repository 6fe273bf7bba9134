"""What the commands that ask a space share: the space on its device, items read its way, embeddings."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from samekind.cli.output import messages
from samekind.errors import DataError, SpaceError, nearest

if TYPE_CHECKING:
    from torch import Tensor

    from samekind.cli.columns import Columns
    from samekind.data import Collection, Items, Stored
    from samekind.decisions import Kind
    from samekind.space import MetricSpace

#: Items that are embedded between two steps of the bar.
BATCH = 512


def open_space(folder: Path, device: str) -> "MetricSpace":
    """The space in a folder, or in that of its run, on the device a user asks for."""
    from samekind.training import RunFolder, launch

    return RunFolder(folder).space().to(launch(device, "32-true").device)


def known_kind(space: "MetricSpace", kind: str) -> "Kind":
    """A kind of score the space can give; any other is answered with the nearest."""
    for each in space.kinds:
        if each == kind:
            return each
    raise SpaceError(f'this space has no score "{kind}"; {nearest(kind, space.kinds)}')


def collected(
    space: "MetricSpace",
    sources: Sequence[str],
    *,
    skip_unreadable: bool,
    columns: "Columns | None" = None,
    named_by: str | None = None,
) -> "Collection":
    """Files, folders, archives or tables, read as the space's training data was; at least one item.

    ``columns`` are those of tables; without, the usual ones. ``named_by`` is the one that names their rows.
    Labels are spelt as the space has them, however their accents are stored. What had to be skipped is named
    on the standard error.
    """
    from samekind.data import collect
    from samekind.data.words import spelt_as

    if space.reader is None:
        raise SpaceError("this space does not say how to read a file; use it from Python, with tensors")
    found = collect(
        sources,
        space.reader,
        skip_unreadable=skip_unreadable,
        settings=columns and columns.wanted,
        otherwise=columns and columns.otherwise,
        named_by=named_by,
    )
    if found.skipped:
        messages().print(_skipped(found.skipped), soft_wrap=True)
    names = sorted({each for each in found.labels if each is not None})
    spelling = dict(zip(names, spelt_as(names, space.classes), strict=True))
    return found._replace(labels=tuple(each and spelling[each] for each in found.labels))


def labelled(
    space: "MetricSpace", data: str, *, skip_unreadable: bool, columns: "Columns | None" = None
) -> "Items":
    """Items whose class is known, read the way the space reads: named data, the validation items of a run,
    or files, folders, archives and tables, with the groups that these say.
    """
    import torch

    from samekind.data import Items, open_data
    from samekind.data.sources import NAMED
    from samekind.data.sources.loading import numbered
    from samekind.data.words import spelt_as
    from samekind.training import RunFolder

    if RunFolder(data).finished:
        items = RunFolder(data).sets().validation
        spelling = tuple(spelt_as(items.classes, space.classes))
        return replace(items, classes=spelling) if len(set(spelling)) == len(spelling) else items
    if data in NAMED:
        return open_data(data)
    found = collected(space, [data], skip_unreadable=skip_unreadable, columns=columns)
    names = [each for each in found.labels if each is not None]
    if len(names) < len(found.ids):
        missing = next(id for id, each in zip(found.ids, found.labels, strict=True) if each is None)
        raise DataError(
            f"expected items whose class is known; {missing} has none "
            "(put pictures in a folder for each class, or name the column with --label)"
        )
    classes = tuple(sorted(set(names)))
    place = {name: index for index, name in enumerate(classes)}
    return Items(
        inputs=found.inputs,
        labels=torch.tensor([place[name] for name in names]),
        classes=classes,
        name=Path(data).name or data,
        groups=None if found.groups is None else numbered(found.groups, range(len(found.ids)))[0],
    )


def embedded(space: "MetricSpace", inputs: "Tensor | Stored", *, title: str) -> "Tensor":
    """Embeddings (n, d) of items, on the CPU, with a bar while it lasts."""
    import torch

    from samekind.inference import embed

    parts = []
    with bar(title, len(inputs)) as advance:
        for start in range(0, len(inputs), BATCH):
            parts.append(embed(space, inputs[start : start + BATCH]))
            advance(len(parts[-1]))
    return torch.cat(parts)


class Advance(Protocol):
    """Told how many more are done."""

    def __call__(self, count: int, /) -> None: ...


@contextmanager
def bar(title: str, total: int) -> Iterator[Advance]:
    """A progress bar on the standard error, gone when it is over; nothing where there is no terminal."""
    output = messages()
    shown = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=output,
        transient=True,
        disable=not output.is_terminal,
    )
    with shown:
        task = shown.add_task(title, total=total)
        yield lambda count: shown.advance(task, count)


def _skipped(skipped: Sequence[tuple[str, str]]) -> str:
    """One line about what could not be read, all of it."""
    return f"skipped {len(skipped)}: {'; '.join(' '.join(why.split()) for _, why in skipped)}"
