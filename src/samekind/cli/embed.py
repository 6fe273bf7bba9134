"""samekind embed: items to vectors in a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli.options import AsJson, Device, IdColumn, LabelColumn, SkipUnreadable, Sources, SpaceFolder

if TYPE_CHECKING:
    from torch import Tensor

    from samekind.data import Collection

ENDINGS = (".npy", ".csv", ".parquet")


def embed(
    data: Sources,
    space: SpaceFolder,
    out: Annotated[
        Path, typer.Option(help="The file to write: .npy (with the ids beside it), .csv or .parquet.")
    ],
    label: LabelColumn = None,
    named_by: IdColumn = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Write the vector of every item, with its id and, where there is one, its label."""
    from samekind.cli.asking import collected, embedded, open_space
    from samekind.cli.columns import columns_of
    from samekind.cli.output import print_json, print_text
    from samekind.cli.tables import check_ending

    check_ending(out, ENDINGS)
    loaded = open_space(space, device)
    columns = columns_of(space, label)
    items = collected(loaded, data, skip_unreadable=skip_unreadable, columns=columns, named_by=named_by)
    z = embedded(loaded, items.inputs, title="embed")
    ids = _write(out, items, z)
    if as_json:
        answer = {"out": str(out), "items": len(z), "dimension": z.shape[1], "skipped": items.skipped}
        print_json(answer | ({"ids": str(ids)} if ids else {}))
        return
    beside = f", their ids in {ids}" if ids else ""
    print_text(f"{len(z):,} vectors of {z.shape[1]} numbers are in {out}{beside}.")


def _write(out: Path, items: "Collection", z: "Tensor") -> Path | None:
    """The file, and for .npy the table of ids beside it, whose path is given back."""
    import io

    import numpy

    from samekind.cli.tables import write_table
    from samekind.storage import write_bytes

    names = {"id": items.ids, "label": items.labels}
    if out.suffix.lower() != ".npy":
        write_table(out, names | {f"v{place}": column.tolist() for place, column in enumerate(z.T.numpy())})
        return None
    ids = out.with_suffix(".ids.csv")
    content = io.BytesIO()
    numpy.save(content, z.numpy())
    # The vectors last: where they are, their ids are too.
    write_table(ids, names)
    write_bytes(out, content.getvalue())
    return ids
