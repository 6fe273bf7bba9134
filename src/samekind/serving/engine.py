"""The protocol of every engine, which answers the routes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

#: Plain values, as JSON has them.
Answer = dict[str, Any]
#: Vectors (n, dimension), float32.
Vectors = np.ndarray[Any, np.dtype[np.float32]]


class Upload(NamedTuple):
    """The content of a file that a client sent. Its name is a label, and never a path."""

    name: str
    content: bytes


class Decoded(NamedTuple):
    """The items of a request, as `Engine.embed` takes them, and what each is called."""

    ids: tuple[str, ...]
    items: tuple[Any, ...]


class Drawing(NamedTuple):
    """The class that a picture was taken for, and the function that draws why, as a PNG file."""

    name: str
    draw: Callable[[], bytes]


class Engine(Protocol):
    """A trained space that is asked over HTTP.

    ``read``, ``read_vectors``, ``map``, ``thumbnail`` and ``measures`` may be called by any thread, several
    at once. Everything else is called by one thread alone, that which owns the device. Every answer is plain
    values. What cannot be answered raises `Refusal`, or a `SamekindError` whose sentence is for the client.
    """

    #: What an item is: "pictures", "sounds", "vectors" or "arrays".
    medium: str

    def info(self) -> Answer:
        """The description of the space: name, medium, endings, classes, dimension, kinds, decisions, …"""

    def read(self, uploads: Sequence[Upload]) -> Decoded:
        """Decode files. Their headings were checked against the limits before (`headings.check`)."""

    def read_vectors(self, rows: Sequence[Sequence[float]]) -> Decoded:
        """Items that are given as numbers; only where items are vectors."""

    def embed(self, items: Sequence[Any]) -> Vectors:
        """The vectors (n, dimension) of items, of one request or of several."""

    def compare(self, z: Vectors, *, kind: str | None, prior: float) -> Answer:
        """Whether the two items with these vectors (2, dimension) are the same kind."""

    def classify(self, ids: Sequence[str], z: Vectors, *, kind: str | None, level: float | None) -> Answer:
        """The class of each item, or none of these."""

    def search(self, ids: Sequence[str], z: Vectors, *, k: int, kind: str | None) -> Answer:
        """The items of the gallery that are most like each item."""

    def enroll(
        self, name: str, ids: Sequence[str], z: Vectors, *, replace: bool, under: str | None
    ) -> Answer:
        """A new class from examples. It is on the disk, or on the server of the index, when this returns."""

    def classes(self) -> Answer:
        """The known classes, with how many examples each was made from and whether it was enrolled."""

    def rename(self, name: str, to: str) -> Answer:
        """Call a class by another name, as durably as it is enrolled; returns `classes`."""

    def remove(self, name: str) -> Answer:
        """Forget a class, as durably as it is enrolled; returns `classes`."""

    def tree(self) -> Answer:
        """The tree of the classes: known, or made of their distances."""

    def attention(self, item: Any) -> Drawing:
        """Where the network looks in a picture."""

    def map(self) -> Answer:
        """The gallery as points in the plane, with the doubt about each label; may take minutes."""

    def thumbnail(self, id: str) -> bytes | None:
        """A PNG file of an item of the gallery; None if there is none."""

    def tradeoff(self, *, kind: str | None) -> Answer:
        """False accepts and false rejects over thresholds, on held-out trials."""

    def decide(self, *, kind: str | None, threshold: float) -> Answer:
        """Make a threshold the decision of the space, and save it there."""

    def measures(self) -> Answer:
        """The measures with their intervals that were stored with the run."""

    def close(self) -> None:
        """Give back files and connections; nothing is lost."""
