"""samekind embed: items to vectors in a file."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from samekind.cli import options
from samekind.cli.output import print_text, render
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import open_space

if TYPE_CHECKING:
    from samekind.questions.embedded import Embedded

ENDINGS = (".npy", ".csv", ".parquet")


def embed(
    data: options.Sources,
    space: options.SpaceFolder,
    out: Annotated[Path, Option(help="The file to write: .npy (with the ids beside it), .csv or .parquet.")],
    for_atlas: Annotated[
        bool,
        Option(
            "--for-atlas",
            help="Write a .parquet for Apple's embedding-atlas instead: a point in the plane for every item, "
            "and its neighbours.",
        ),
    ] = False,
    label: options.LabelColumn = None,
    named_by: options.IdColumn = None,
    raw_texts: options.RawTexts = False,
    device: options.Device = "auto",
    skip_unreadable: options.SkipUnreadable = False,
    as_json: options.AsJson = False,
) -> None:
    """Write the vector of every item, with its id and, where there is one, its label."""
    from samekind import questions
    from samekind.questions.table_files import check_ending

    check_ending(out, (".parquet",) if for_atlas else ENDINGS)
    opened = open_space(space, device)
    items = opened.read(data, label=label, named_by=named_by, skip_unreadable=skip_unreadable)
    answer = questions.embed(opened.space, items, progress=bar)
    if for_atlas:
        _write_for_atlas(out, answer, as_json=as_json)
        return
    ids = _write(out, answer, raw_texts=raw_texts)
    beside = f", their ids in {ids}" if ids else ""
    words = f"{len(answer.z):,} vectors of {answer.z.shape[1]} numbers are in {out}{beside}."
    content = {"out": out, **answer.to_json(), **({"ids": ids} if ids else {})}
    render(content, lambda: print_text(words), as_json=as_json)


def _write(out: Path, answer: "Embedded", *, raw_texts: bool) -> Path | None:
    """Write the file and, for .npy, the table of ids beside it, whose path is returned."""
    import io

    import numpy

    from samekind.questions.table_files import write_table
    from samekind.storage import write_bytes

    z, names = answer.z, {"id": answer.ids, "label": answer.labels}
    if out.suffix.lower() != ".npy":
        numbers = {f"v{place}": column.tolist() for place, column in enumerate(z.T.numpy())}
        write_table(out, names | numbers, raw_texts=raw_texts)
        return None
    ids = out.with_suffix(".ids.csv")
    content = io.BytesIO()
    numpy.save(content, z.numpy())
    # The vectors last: where they are, their ids are too.
    write_table(ids, names, raw_texts=raw_texts)
    write_bytes(out, content.getvalue())
    return ids


def _write_for_atlas(out: Path, answer: "Embedded", *, as_json: bool) -> None:
    from samekind.questions.atlas import atlas_columns
    from samekind.questions.table_files import write_table

    columns = atlas_columns(answer)
    write_table(out, columns)
    neighbours = " --neighbors neighbours" if "neighbours" in columns else ""
    command = f"embedding-atlas {shlex.quote(str(out))} --x x --y y{neighbours}"
    words = f"{len(answer.z):,} points are in {out}. To open them: {command}"
    content = {"out": out, **answer.to_json(), "columns": list(columns)}
    render(content, lambda: print_text(words), as_json=as_json)
