"""The description of an exported folder: one JSON file, with the checksums of the others."""

import hashlib
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from samekind import storage
from samekind.decisions import Record
from samekind.errors import SettingError, SpaceError
from samekind.plain_files import Array, read_npy
from samekind.settings import Between, Natural, read, write

FORMAT, VERSION = "samekind export", 1
HEADER = "export.json"
ENCODER = "encoder.onnx"
PROTOTYPES = "prototypes.npy"
DISCRIMINANT = "discriminant.npy"
GALLERY, GALLERY_ITEMS = "gallery.npy", "gallery.json"
JOURNAL, LOCK = "classes.journal", "classes.lock"

Positive = Annotated[int, Between(1)]


@dataclass(frozen=True)
class ScoreFiles:
    """The files of a kind of score: see `samekind.exporting.scores.ScoreGraphs`. ``scale`` is the factor
    between its scores and logits.
    """

    map: str | None
    pairs: str | None
    counted: bool
    pair_bytes: Positive
    scale: float


@dataclass(frozen=True)
class FrontEndSettings:
    """How waveforms become features: see `samekind.encoders.FrontEnd`. The window, the mel filters and the
    cosine transform are arrays beside this file.
    """

    frame: Positive
    shift: Positive
    size: Positive
    cepstra: bool
    preemphasis: float
    normalise: Natural
    voice_activity: bool
    shortest: Annotated[int, Between(1, 100_000)]


@dataclass(frozen=True)
class Description:
    """The content of export.json, but for what the space knows about its scores, which is a `Record`.

    ``reader`` is the name of the reader, and ``reading`` its arguments. ``counts`` are the examples of each
    class, 0 for many. ``tradeoffs`` are curves of errors by kind of score, and ``measures`` what was kept
    with the run, both as the questions answer. ``told_apart`` are the classes of the rows of the
    discriminant, if there is one. ``without`` are sentences about what the space has and the
    folder has not. ``files`` are the checksums (SHA-256) of the other files.
    """

    name: str
    made_by: str
    medium: str
    endings: tuple[str, ...]
    reader: str
    reading: dict[str, Any]
    dimension: Positive
    classes: tuple[str, ...]
    counts: tuple[Natural, ...]
    pooling: Literal["mean", "max", "soft", "sum"]
    pooling_temperature: Annotated[float, Between(1e-6)]
    kinds: dict[str, ScoreFiles]
    files: dict[str, str]
    front_end: FrontEndSettings | None = None
    told_apart: tuple[str, ...] = ()
    tradeoffs: dict[str, Any] = field(default_factory=dict)
    measures: dict[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    def to_json(self, record: Record) -> dict[str, Any]:
        """The content of export.json."""
        own = {"format": FORMAT, "version": VERSION, "description": write(self)}
        return {**own, **record.to_json()}


def read_description(folder: Path) -> tuple[Description, Record]:
    """The description of a folder; raises SpaceError if it is missing, damaged, foreign or newer."""
    content = storage.read_header(
        folder, name=HEADER, what="an exported space", format_name=FORMAT, version=VERSION
    )
    try:
        description = read(Description, content.get("description", {}), where=HEADER)
        record = Record.from_json(content)
    except (SettingError, KeyError) as error:
        raise SpaceError(f"{folder} is damaged: {error}; export the space again") from error
    if len(description.counts) != len(description.classes) or len(set(description.classes)) < len(
        description.classes
    ):
        raise SpaceError(f"{folder} is damaged: its classes do not fit each other; export the space again")
    if set(description.told_apart) - set(description.classes):
        raise SpaceError(f"{folder} is damaged: it tells unknown classes apart; export the space again")
    return description, record


def read_file(folder: Path, name: str, description: Description) -> bytes:
    """The content of a file of the folder; raises SpaceError if it is not the one that was written."""
    try:
        content = (folder / Path(name).name).read_bytes()
    except OSError as error:
        raise SpaceError(f"{folder} is damaged: {name} cannot be read ({error.strerror})") from error
    if hashlib.sha256(content).hexdigest() != description.files.get(name):
        raise SpaceError(
            f"{folder} is damaged: {name} is not the file it was written with; export the space again"
        )
    return content


def read_numbers(folder: Path, name: str, description: Description, *, axes: int) -> Array:
    """A .npy file of the folder, float32 with so many axes."""
    content = read_file(folder, name, description)
    try:
        array = read_npy(BytesIO(content), size=len(content))
    except ValueError as error:
        raise SpaceError(f"{folder} is damaged: {name} cannot be read ({error})") from error
    if array.dtype != np.float32 or array.ndim != axes:
        raise SpaceError(f"{folder} is damaged: {name} holds {array.dtype} of shape {array.shape}")
    return array
