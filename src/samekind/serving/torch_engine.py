"""The engine of a space: answers come from `samekind.questions`."""

import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import PurePosixPath
from typing import get_args

import numpy as np
import torch
from torch import Tensor

from samekind import questions
from samekind.data import collect_bytes
from samekind.data import files as data_files
from samekind.data.files import TABLES
from samekind.decisions import Kind, Question
from samekind.errors import SamekindError, SettingError, SpaceError
from samekind.index import Index
from samekind.inference import embed
from samekind.questions.attention import drawable_layer
from samekind.questions.changing import changing
from samekind.questions.compare import compare_embedded
from samekind.questions.embedded import Embedded
from samekind.questions.gallery_map import gallery_map
from samekind.questions.opening import OpenSpace
from samekind.questions.reading import known_kind
from samekind.questions.thumbnails import has_thumbnail, thumbnail_of
from samekind.questions.tradeoff import HeldOut, TradeOff, decision_at, held_out_of
from samekind.serving.drawing import drawn, nested
from samekind.serving.engine import Answer, Decoded, Drawing, Upload, Vectors
from samekind.serving.enrolments import Enrolments
from samekind.serving.known_classes import KnownClasses
from samekind.serving.refusal import Refusal
from samekind.serving.vector_rows import checked_rows, row_ids
from samekind.space import MetricSpace
from samekind.taxonomy.newick import newick_text
from samekind.training import RunFolder

NO_GALLERY = "this server has no gallery; start it with samekind serve SPACE --index INDEX"
NO_TRIALS = (
    "there are no held-out items to measure thresholds on: serve the folder of a run whose data are there, "
    "or a gallery with labels"
)
NOT_SAVED = "the space cannot be written now: another program changes it, or nobody may; the threshold stays"
NO_MEASURES = "no measures are kept with this space; samekind evaluate RUN measures it and keeps them"
#: The most classes that a tree is built for.
MOST_IN_TREE = 2_000
#: The most probable classes that are listed with an answer.
BEST = 5

log = logging.getLogger("samekind.serving")


class TorchEngine:
    """A space, the gallery that is searched, if any, and the classes that were enrolled; see `Engine`."""

    def __init__(self, opened: OpenSpace, *, gallery: Index | None, enrolments: Enrolments) -> None:
        reader = opened.space.reader
        if reader is None:
            raise SpaceError("this space does not say how to read a file, so it cannot be served")
        self.medium = reader.medium.name
        self._opened, self._space, self._reader = opened, opened.space, reader
        self._gallery, self._enrolments = gallery, enrolments
        self._classes = KnownClasses(self._space, enrolments)
        self._tree: tuple[tuple[str, ...], Answer] | None = None
        self._trials: HeldOut | None = None
        self._curves: dict[Kind, TradeOff] = {}

    def info(self) -> Answer:
        self._classes.refresh()
        space = self._space
        return {
            "name": self._opened.name,
            "medium": self.medium,
            "endings": sorted(self._reader.medium.endings or {".npy", ".csv", ".tsv"}),
            "classes": space.classes,
            "dimension": space.prototypes.dimension,
            "kinds": space.kinds,
            "kind_for": {question: space.kind_for(question) for question in get_args(Question)},
            "decisions": {kind: asdict(decision) for kind, decision in space.decisions.items()},
            "open_set": None if space.open_set is None else asdict(space.open_set),
            "gallery": None if self._gallery is None else len(self._gallery),
            "tree": space.tree is not None,
            "attention": self._layer() is not None,
            "can_enroll": True,
        }

    def read(self, uploads: Sequence[Upload]) -> Decoded:
        ids: list[str] = []
        items: list[Tensor] = []
        for name, content in uploads:
            file = data_files.Upload(name, content)
            if PurePosixPath(name).suffix.lower() in TABLES or data_files.is_array(file):
                rows = collect_bytes([(name, content)], self._reader)
                ids += rows.ids
                items += list(rows.inputs[: len(rows.ids)])
            else:
                ids.append(name)
                items.append(self._reader.read(file))
        return Decoded(tuple(ids), tuple(items))

    def read_vectors(self, rows: Sequence[Sequence[float]]) -> Decoded:
        values = checked_rows(rows, self._reader.shape, self.medium)
        return Decoded(row_ids(rows), tuple(torch.from_numpy(values)))

    def embed(self, items: Sequence[Tensor]) -> Vectors:
        return np.asarray(embed(self._space, self._reader.medium.batch(list(items))).numpy(), np.float32)

    def compare(self, z: Vectors, *, kind: str | None, prior: float) -> Answer:
        return compare_embedded(self._space, torch.from_numpy(z), kind=kind, prior=prior).to_json()

    def classify(self, ids: Sequence[str], z: Vectors, *, kind: str | None, level: float | None) -> Answer:
        self._classes.refresh()
        if not self._space.classes:
            raise Refusal(404, "this space knows no class yet; enrol one")
        items = _embedded(ids, z)
        return questions.identify(self._space, items, kind=kind, level=level, best=BEST).to_json()

    def search(self, ids: Sequence[str], z: Vectors, *, k: int, kind: str | None) -> Answer:
        gallery = self._expect_gallery()
        score = None if kind is None else known_kind(self._space, kind, "neighbours")
        answer = questions.search(self._space, _embedded(ids, z), gallery, k=k, kind=score).to_json()
        rows = [row for query in answer["queries"] for row in query["found"]]
        for row, metadata in zip(rows, gallery.metadata([row["id"] for row in rows]), strict=True):
            row["thumbnail"] = has_thumbnail(row["id"], metadata, self._reader)
        return answer

    def enroll(
        self, name: str, ids: Sequence[str], z: Vectors, *, replace: bool, under: str | None
    ) -> Answer:
        return self._classes.enroll(name, _embedded(ids, z), replace=replace, under=under).to_json()

    def classes(self) -> Answer:
        return self._classes.to_json()

    def rename(self, name: str, to: str) -> Answer:
        self._classes.rename(name, to)
        return self._classes.to_json()

    def remove(self, name: str) -> Answer:
        self._classes.remove(name)
        return self._classes.to_json()

    def tree(self) -> Answer:
        """The tree of the space or, without one, that of the distances between its classes."""
        self._classes.refresh()
        space = self._space
        if len(space.classes) < 2 or len(space.classes) > MOST_IN_TREE:
            raise Refusal(
                404, f"a tree is made of 2 to {MOST_IN_TREE:,} classes; there are {len(space.classes)}"
            )
        known = tuple(space.classes)
        if self._tree is None or self._tree[0] != known:
            tree = space.tree or questions.tree(space).tree
            self._tree = known, {"newick": newick_text(tree).strip(), "nodes": nested(tree)}
        return {**self._tree[1], "known": space.tree is not None}

    def attention(self, item: Tensor) -> Drawing:
        self._classes.refresh()
        layer = drawable_layer(self._space)
        looked = questions.attention(self._space, item, layer)
        return Drawing(looked.name or "", lambda: drawn(item, looked, layer))

    def map(self) -> Answer:
        return gallery_map(self._expect_gallery()).to_json()

    def thumbnail(self, id: str) -> bytes | None:
        gallery = self._expect_gallery()
        try:
            [metadata] = gallery.metadata([id])
        except SettingError:
            return None
        return thumbnail_of(id, metadata, self._reader)

    def tradeoff(self, *, kind: str | None) -> Answer:
        """Both errors over thresholds, on validation items of the run or on the gallery."""
        score = known_kind(self._space, kind, "pairs")
        if score not in self._curves:  # it takes seconds, and enrolled classes do not change it
            self._curves[score] = questions.tradeoff(self._space, self._held_out(), kind=score)
        return replace(self._curves[score], decision=self._space.decisions.get(score)).to_json()

    def decide(self, *, kind: str | None, threshold: float) -> Answer:
        """Save a threshold with the space: in its folder, and here."""
        decision = decision_at(self._space, self._held_out(), threshold, kind=kind)
        folder = RunFolder(self._opened.folder).space_folder()
        try:
            with changing(folder) as save:
                # The saved space, without classes that were enrolled later.
                saved = MetricSpace.load(folder)
                saved.decisions[decision.kind] = decision
                save(saved)
        except (SpaceError, OSError) as error:  # which name the folder
            log.warning("%s", error)
            raise Refusal(409, NOT_SAVED) from error
        self._space.decisions[decision.kind] = decision
        return asdict(decision)

    def measures(self) -> Answer:
        rows = RunFolder.around(self._opened.folder).measures()
        if rows is None:
            raise Refusal(404, NO_MEASURES)
        return {"rows": rows}

    def close(self) -> None:
        if self._gallery is not None:
            self._gallery.close()
        self._enrolments.close()

    def _expect_gallery(self) -> Index:
        if self._gallery is None:
            raise Refusal(404, NO_GALLERY)
        return self._gallery

    def _layer(self) -> str | None:
        try:
            return drawable_layer(self._space, like=True)
        except SamekindError:
            return None

    def _held_out(self) -> HeldOut:
        """The items that thresholds are measured on, embedded when they are first needed."""
        if self._trials is None:
            self._trials = held_out_of(self._space, RunFolder.around(self._opened.folder), self._gallery)
        if self._trials is None:
            raise Refusal(404, NO_TRIALS)
        return self._trials


def _embedded(ids: Sequence[str], z: Vectors) -> Embedded:
    return Embedded(torch.from_numpy(z), tuple(ids), (None,) * len(ids))
