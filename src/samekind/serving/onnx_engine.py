"""The engine of an exported space: NumPy and onnxruntime, without PyTorch."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn, get_args

import numpy as np

from samekind.decisions import Question, stale_threshold
from samekind.plain_files import Array
from samekind.portable import PortableSpace
from samekind.portable.reading import item_shape
from samekind.portable.scores import sigmoid
from samekind.serving.engine import Answer, Decoded, Drawing, Upload, Vectors
from samekind.serving.refusal import Refusal, class_taken
from samekind.serving.vector_rows import checked_rows, row_ids

NO_GALLERY = "this export has no gallery; make one that has: samekind export SPACE --index INDEX --out FOLDER"
NO_TRADEOFF = "no trade-off is kept with this export; export the folder of a run whose data are there"
NO_MEASURES = "no measures are kept with this export; samekind evaluate RUN measures a space, then export it"
NOT_HERE = "a server without PyTorch cannot {do}; serve the space itself: samekind serve SPACE"

#: The most probable classes that are listed with an answer.
BEST = 5


class OnnxEngine:
    """An exported space, its gallery, if it has one, and the classes that were enrolled; see `Engine`."""

    def __init__(self, space: PortableSpace) -> None:
        self._space = space
        self.medium = space.description.medium

    def info(self) -> Answer:
        space, description = self._space, self._space.description
        return {
            "name": description.name,
            "medium": self.medium,
            "endings": list(description.endings) or [".npy"],
            "classes": list(space.classes.names),
            "dimension": description.dimension,
            "kinds": space.kinds,
            "kind_for": {question: space.kind_for(question) for question in get_args(Question)},
            "decisions": {kind: asdict(decision) for kind, decision in space.decisions.items()},
            "open_set": None if space.open_set is None else asdict(space.open_set),
            "gallery": None if space.gallery is None else len(space.gallery),
            "tree": False,
            "attention": False,
            "can_enroll": True,
        }

    def read(self, uploads: Sequence[Upload]) -> Decoded:
        items = tuple(self._space.read(content, name) for name, content in uploads)
        return Decoded(tuple(upload.name for upload in uploads), items)

    def read_vectors(self, rows: Sequence[Sequence[float]]) -> Decoded:
        description = self._space.description
        vectors = self.medium == "vectors"
        shape = item_shape(description.reader, description.reading) if vectors else ()
        return Decoded(row_ids(rows), tuple(checked_rows(rows, shape, self.medium)))

    def embed(self, items: Sequence[Array]) -> Vectors:
        return np.asarray(self._space.embed(list(items)), np.float32)

    def compare(self, z: Vectors, *, kind: str | None, prior: float) -> Answer:
        answer = self._space.compare(z, kind=kind, prior=prior)
        decision = answer.decision
        return {
            "same": answer.same,
            "score": answer.score,
            "threshold": decision.threshold,
            "probability": answer.probability,
            "kind": decision.kind,
            "point": decision.point,
            "false_accepts": decision.false_accepts,
            "false_accept_interval": decision.false_accept_interval,
            "false_rejects": decision.false_rejects,
        }

    def classify(self, ids: Sequence[str], z: Vectors, *, kind: str | None, level: float | None) -> Answer:
        if level is not None:
            _refuse("answer at inner nodes of a tree")
        if not self._space.classes.names:
            raise Refusal(404, "this space knows no class yet; enrol one")
        named_by, decision = self._space.known_kind(kind, "classes"), self._space.open_set
        named, classified = self._space.identify(z, kind=kind)
        items = [
            {
                "id": id,
                "class": answer.name,
                "probability": answer.probability,
                "score": answer.score,
                "best": self._best(probabilities),
            }
            for id, answer, probabilities in zip(ids, named, classified.probabilities, strict=True)
        ]
        return {
            "items": items,
            "threshold": None if decision is None else decision.threshold,
            "kind": named_by if decision is None else decision.kind,
            "named by": named_by,
            "skipped": (),
        }

    def search(self, ids: Sequence[str], z: Vectors, *, k: int, kind: str | None) -> Answer:
        gallery = self._space.gallery
        if gallery is None:
            raise Refusal(404, NO_GALLERY)
        name = self._space.known_kind(kind, "neighbours")
        matches = gallery.search(z, k, kind=name, score=self._space.scores[name])
        queries = [
            {"id": id, "label": None, "found": [self._row(name, *match) for match in found_items]}
            for id, found_items in zip(ids, matches, strict=True)
        ]
        return {"kind": name, "gallery": len(gallery), "shortlist": None, "queries": queries, "skipped": ()}

    def enroll(
        self,
        name: str,
        ids: Sequence[str],  # noqa: ARG002 (only the mean of the examples is kept)
        z: Vectors,
        *,
        replace: bool,
        under: str | None,
    ) -> Answer:
        if under is not None:
            _refuse("enrol a class under a node of a tree")
        name = self._space.classes.spelt(name)
        known = name in self._space.classes.names
        if known and not replace:
            raise class_taken(name)
        classes = self._space.enrolments.enroll(name, z, replace=replace).names
        done, open_set = "replaced" if known else "added", self._space.open_set
        stale = None if open_set is None else stale_threshold(open_set, name, done)
        return {"class": name, "done": done, "examples": len(z), "classes": classes, "warning": stale}

    def classes(self) -> Answer:
        known = self._space.classes
        enrolled = set(known.enrolled)
        rows: list[dict[str, Any]] = [
            {"name": name, "examples": count or None, "enrolled": name in enrolled}
            for name, count in zip(known.names, known.counts, strict=True)
        ]
        return {"classes": rows}

    def rename(self, name: str, to: str) -> Answer:
        old = self._known(name)
        new = self._space.classes.spelt(to)
        if new != old and new in self._space.classes.names:
            raise class_taken(new)
        self._space.enrolments.rename(old, to)
        return self.classes()

    def remove(self, name: str) -> Answer:
        self._space.enrolments.remove(self._known(name))
        return self.classes()

    def tree(self) -> Answer:
        """Refused: trees take PyTorch."""
        _refuse("draw a tree")

    def attention(self, item: Any) -> Drawing:  # noqa: ARG002 (the protocol names it)
        """Refused: gradients take PyTorch."""
        _refuse("show where the network looks")

    def map(self) -> Answer:
        """Refused: the map takes PyTorch."""
        _refuse("draw a map")

    def thumbnail(self, id: str) -> bytes | None:  # noqa: ARG002 (an export keeps embeddings alone)
        """None: an export keeps no pictures."""
        return None

    def tradeoff(self, *, kind: str | None) -> Answer:
        """Both errors over thresholds, as they were measured before the export."""
        name = self._space.known_kind(kind, "pairs")
        stored = self._space.description.tradeoffs.get(name)
        if stored is None:
            raise Refusal(404, NO_TRADEOFF)
        decision = self._space.decisions.get(name)
        return {**stored, "decision": None if decision is None else asdict(decision)}

    def decide(self, *, kind: str | None, threshold: float) -> Answer:  # noqa: ARG002 (the protocol names them)
        """Refused: the rates at a threshold are measured with PyTorch."""
        _refuse("save a threshold")

    def measures(self) -> Answer:
        if not self._space.description.measures:
            raise Refusal(404, NO_MEASURES)
        return self._space.description.measures

    def close(self) -> None:
        self._space.close()

    def _best(self, probabilities: Array) -> list[Answer]:
        order = np.argsort(-probabilities, kind="stable")[:BEST].tolist()
        names = self._space.classes.names
        return [{"class": names[place], "probability": float(probabilities[place])} for place in order]

    def _row(self, kind: str, id: str, label: str | None, score: float) -> Answer:
        """An item of the gallery, with its probability where the score is calibrated."""
        row: Answer = {"id": id, "label": label, "score": score, "thumbnail": False}
        decision = self._space.decisions.get(kind)
        if decision is not None and decision.calibration is not None:
            row["probability"] = sigmoid(decision.log_odds(score))
        return row

    def _known(self, name: str) -> str:
        name = self._space.classes.spelt(name)
        if name not in self._space.classes.names:
            raise Refusal(404, f'there is no class "{name}"')
        return name


def open_onnx_engine(folder: Path, *, state: Path) -> OnnxEngine:
    """The engine of an exported folder; what is enrolled is kept in ``state``."""
    return OnnxEngine(PortableSpace.open(folder, state=state))


def onnx_state_folder(folder: Path) -> Path:
    """Where a server keeps what it must not forget: beside the export."""
    folder = folder.resolve()
    return folder.with_name(f"{folder.name}-serving")


def _refuse(do: str) -> NoReturn:
    raise Refusal(501, NOT_HERE.format(do=do))
