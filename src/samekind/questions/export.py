"""A space as files that run without PyTorch."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from samekind.data import Collection
from samekind.errors import DataError, SpaceError
from samekind.exporting import Difference, differences, export_contents, write_export
from samekind.exporting.latency import BATCHES, Latency, latencies
from samekind.exporting.parity import TOLERANCE, random_items
from samekind.exporting.writing import GalleryItems, expect_replaceable
from samekind.index import Index
from samekind.index.mapped import stored_kind
from samekind.portable import PortableSpace
from samekind.questions.opening import OpenSpace
from samekind.questions.tradeoff import held_out_of, tradeoff
from samekind.space import MetricSpace
from samekind.training import RunFolder

#: Items of a gallery that are read from the index at a time.
AT_ONCE = 8_192


@dataclass(frozen=True)
class Exported:
    """What was written: the bytes of each file, how far embeddings and scores differ from those of the space
    on so many items, the time of both, and sentences about what stays behind.
    """

    files: Mapping[str, int]
    parity: tuple[Difference, ...]
    latency: tuple[Latency, ...]
    compared_on: str
    gallery: int | None
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "files": dict(self.files),
            "bytes": sum(self.files.values()),
            "parity": [row._asdict() for row in self.parity],
            "tolerance": TOLERANCE,
            "compared on": self.compared_on,
            "latency": [{**row._asdict(), "ratio": row.ratio} for row in self.latency],
            "gallery": self.gallery,
            "without": self.warnings,
        }


def export(
    space: MetricSpace,
    folder: Path,
    *,
    name: str,
    items: Collection | None = None,
    gallery: Index | None = None,
    tradeoffs: Mapping[str, Any] | None = None,
    measures: Mapping[str, Any] | None = None,
) -> Exported:
    """Write a space to a folder as ONNX graphs, arrays and a description, which `samekind.portable` opens.

    Both are compared on ``items``, or on noise; if they differ, nothing is written, and SpaceError says how.
    ``gallery`` is an index to be searched. ``tradeoffs``, curves of errors by kind of score, and ``measures``
    come along as they are (`kept_with`).
    """
    expect_replaceable(folder)
    stored = None if gallery is None else _stored(gallery)
    contents = export_contents(
        space, name=name, gallery=stored, tradeoffs=tradeoffs or {}, measures=measures or {}
    )
    assert contents.space.reader is not None
    count = max(BATCHES)
    tensors = random_items(contents.space.reader, count) if items is None else items.inputs[:count]

    def check(portable: PortableSpace) -> tuple[list[Difference], list[Latency]]:
        return differences(contents.space, portable, tensors), latencies(contents.space, portable, tensors)

    parity, times = write_export(contents, folder, check)
    return Exported(
        files={file: len(content) for file, content in contents.files.items()},
        parity=tuple(parity),
        latency=tuple(times),
        compared_on=f"{len(tensors)} {'random' if items is None else 'given'} items",
        gallery=None if stored is None else len(stored.ids),
        warnings=contents.without,
    )


def kept_with(opened: OpenSpace, gallery: Index | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Trade-offs (`held_out_of`) by kind of score and measures, for a server that cannot compute them."""
    run = RunFolder.around(opened.folder)
    held_out = held_out_of(opened.space, run, gallery)
    tradeoffs: dict[str, Any] = {}
    for kind in opened.space.kinds:
        if held_out is None:
            break
        with suppress(DataError):  # there may be no pairs of one class
            tradeoffs[kind] = {**tradeoff(opened.space, held_out, kind=kind).to_json(), "decision": None}
    rows = run.measures()
    return tradeoffs, {} if rows is None else {"rows": rows}


def _stored(index: Index) -> GalleryItems:
    """The embeddings of an index. Raises SpaceError for one of mapped vectors."""
    if stored_kind(index) is not None:
        raise SpaceError(
            f'this index holds vectors mapped for the score "{stored_kind(index)}", and an export takes '
            "embeddings; build another one with samekind index build --score similarity --score cosine"
        )
    ids = list(index)
    parts = [ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE)]
    z = torch.cat([index.vectors(part) for part in parts]) if ids else torch.empty(0, index.dimension)
    labels = [entry.get("label") for part in parts for entry in index.metadata(part)]
    return GalleryItems(z.cpu(), ids, labels)
