"""The folder of an exported space, written whole or not at all."""

import copy
import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from samekind import __version__, storage
from samekind.auxiliary_head import AuxiliaryHead
from samekind.decisions import Kind, Record
from samekind.errors import SpaceError
from samekind.exporting.encoder import encoder_files
from samekind.exporting.scores import score_graphs
from samekind.parts import describe
from samekind.portable import PortableSpace
from samekind.portable.description import (
    DISCRIMINANT,
    ENCODER,
    GALLERY,
    GALLERY_ITEMS,
    HEADER,
    JOURNAL,
    LOCK,
    PROTOTYPES,
    Description,
    ScoreFiles,
)
from samekind.prototypes.classes import example_counts
from samekind.space import MetricSpace

Checked = TypeVar("Checked")

#: Of the files of an export.
ENDINGS = (".json", ".npy", ".onnx")


class GalleryItems(NamedTuple):
    """Stored embeddings (n, d) with their ids and labels."""

    z: Tensor
    ids: Sequence[str]
    labels: Sequence[str | None]


class Contents(NamedTuple):
    """The files of an export by name, and the space that they are of: on the CPU, in single precision."""

    files: Mapping[str, bytes]
    space: MetricSpace
    without: tuple[str, ...]


def export_contents(
    space: MetricSpace,
    *,
    name: str,
    gallery: GalleryItems | None = None,
    tradeoffs: Mapping[str, Any] = MappingProxyType({}),
    measures: Mapping[str, Any] = MappingProxyType({}),
) -> Contents:
    """All that an export holds, in memory. Raises SpaceError, with the reason, for a part that it cannot."""
    space = copy.deepcopy(space).cpu().float().eval()
    if space.reader is None:
        raise SpaceError("this space does not say how to read a file, so its export could read none")
    files: dict[str, bytes] = {}
    arrays = {PROTOTYPES: space.prototypes.vectors.detach().numpy()}
    if space.discriminant is not None:
        arrays[DISCRIMINANT] = _linear(space.discriminant)
    encoder = encoder_files(space.encoder, space.reader)
    files[ENCODER], arrays = encoder.graph, {**arrays, **encoder.arrays}
    kinds: dict[str, ScoreFiles] = {kind: _add_scores(files, space, kind) for kind in _kinds(space)}
    if gallery is not None:
        arrays[GALLERY] = gallery.z.float().numpy()
        content = {"ids": list(gallery.ids), "labels": list(gallery.labels)}
        files[GALLERY_ITEMS] = json.dumps(content).encode()
    files |= {file: _npy(array) for file, array in arrays.items()}
    part, without = describe(space.reader), _without(space)
    description = Description(
        name=name,
        made_by=f"samekind {__version__}",
        medium=space.reader.medium.name,
        endings=tuple(sorted(space.reader.medium.endings)),
        reader=part["name"],
        reading=part["arguments"],
        dimension=space.prototypes.dimension,
        classes=tuple(space.classes),
        counts=tuple(example_counts(space.prototypes)),
        pooling=space.prototypes.pooling,  # type: ignore[arg-type]
        pooling_temperature=space.prototypes.temperature,
        kinds=kinds,
        files={file: hashlib.sha256(content).hexdigest() for file, content in files.items()},
        front_end=encoder.front_end,
        told_apart=tuple(space.discriminant.prototypes.classes) if space.discriminant is not None else (),
        tradeoffs=dict(tradeoffs),
        measures=dict(measures),
        without=without,
    )
    header = json.dumps(description.to_json(_record(space)), indent=2) + "\n"
    return Contents({**files, HEADER: header.encode()}, space, without)


def _add_scores(files: dict[str, bytes], space: MetricSpace, kind: Kind) -> ScoreFiles:
    """Add the graphs of a kind of score to the files; returns their description."""
    scorer = space.scorer(kind)
    graphs = score_graphs(scorer, space.prototypes.dimension, kind=kind)
    named = {f"{kind}-{part}.onnx": getattr(graphs, part) for part in ("map", "pairs")}
    files |= {file: content for file, content in named.items() if content is not None}
    mapped, pairs = (file if content is not None else None for file, content in named.items())
    return ScoreFiles(mapped, pairs, graphs.counted, graphs.pair_bytes, float(scorer.scale()))


def write_export(contents: Contents, folder: Path, check: Callable[[PortableSpace], Checked]) -> Checked:
    """Write the folder and return what ``check`` says about it. If that raises an error, or if the folder
    holds anything but an export without enrolled classes, nothing is written.
    """
    expect_replaceable(folder)
    results = []

    def fill(draft: Path) -> None:
        for file, content in contents.files.items():
            (draft / file).write_bytes(content)
        results.append(check(PortableSpace.open(draft)))

    storage.write_folder(folder, fill)
    return results[0]


def expect_replaceable(folder: Path) -> None:
    """Raise SpaceError if an export to a folder would lose something."""
    if not folder.exists():
        return
    if folder.is_dir() and (folder / JOURNAL).exists():
        raise SpaceError(
            f"{folder} is an export in which classes were enrolled, and they would be lost; choose another "
            "folder"
        )
    if folder.is_dir() and not (folder / HEADER).exists() and any(folder.iterdir()):
        raise SpaceError(f"{folder} is there already and is no export; choose another folder")
    if not folder.is_dir():
        raise SpaceError(f"{folder} is a file; choose another folder")
    others = storage.others_in(folder, {LOCK, *(p.name for p in folder.iterdir() if p.suffix in ENDINGS)})
    if others:
        raise SpaceError(f"{folder} holds {others[0]} beside an export; choose another folder")


def _kinds(space: MetricSpace) -> list[Kind]:
    """The kinds of score; the cosine too where the space asks for it by name, though it is its own score."""
    choices = space.choices
    named = [] if choices is None else [choices.pairs, choices.neighbours, choices.classes]
    named += [] if space.open_set is None else [space.open_set.kind]
    own: list[Kind] = ["cosine"] if "cosine" in {*named, *space.decisions} - {*space.kinds} else []
    return [*space.kinds, *own]


def _record(space: MetricSpace) -> Record:
    known: Collection[str] = _kinds(space)
    # A threshold may be left from a score that the space no longer has.
    decisions = {kind: decision for kind, decision in space.decisions.items() if kind in known}
    return replace(space.record, decisions=decisions, ladder=None, levels=None)


def _linear(head: AuxiliaryHead) -> "np.ndarray[Any, Any]":
    """The weights and offsets (classes, d + 1) of a linear head, in units of logits."""
    assert head.offsets is not None
    rows = torch.cat([head.prototypes.vectors[:, 0], head.offsets[:, None]], dim=1)
    return (head.similarity.scale() * rows).detach().numpy()


def _without(space: MetricSpace) -> tuple[str, ...]:
    """The parts that are not exported, a sentence for each."""
    parts = []
    if space.auxiliary is not None:
        parts.append("the auxiliary head is not exported; classes are named by their prototypes")
    if space.tree is not None:
        parts.append("the tree of the classes is not exported; answers are classes, never inner nodes")
    return tuple(parts)


def _npy(array: "np.ndarray[Any, Any]") -> bytes:
    stream = BytesIO()
    np.save(stream, np.ascontiguousarray(array, dtype=np.float32), allow_pickle=False)
    return stream.getvalue()
