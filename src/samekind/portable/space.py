"""An exported space, opened from its folder."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from samekind.decisions import Choices, Decision, Question, Record
from samekind.errors import DataError, SpaceError, nearest
from samekind.plain_files import Array
from samekind.portable.classes import KnownClasses
from samekind.portable.description import (
    DISCRIMINANT,
    ENCODER,
    HEADER,
    PROTOTYPES,
    Description,
    ScoreFiles,
    read_description,
    read_file,
    read_numbers,
)
from samekind.portable.discriminant import Discriminant
from samekind.portable.enrolments import Enrolments
from samekind.portable.front_end import FrontEnd
from samekind.portable.gallery import Gallery, read_gallery
from samekind.portable.reading import Reader, item_shape, padded, reader_of
from samekind.portable.scores import Score, pooled, sigmoid, softmax
from samekind.portable.sessions import Session

#: An encoder takes items of at most so many numbers at a time, one item at least: its layers then stay near
#: the cache, as in `samekind.inference.embed`.
NUMBERS = 400_000


class Classification(NamedTuple):
    """The answer to "which class is it?" for n items: (n, classes) each, and the names of the best."""

    scores: Array
    probabilities: Array
    classes: list[str]


class Named(NamedTuple):
    """The answer for one item: its class, or None for none of these, the probability of that answer, and the
    score that was compared with the threshold.
    """

    name: str | None
    probability: float
    score: float


class Comparison(NamedTuple):
    """Whether two items are the same kind, by the decision of a kind of score."""

    same: bool
    score: float
    probability: float
    decision: Decision


@dataclass
class PortableSpace:
    """Encoder, scores, prototypes and decisions of an exported space; what is enrolled is kept in a folder.

    Asking is for any thread; enrolling, renaming and removing for one.
    """

    description: Description
    encoder: Session
    scores: dict[str, Score]
    read: Reader
    front_end: FrontEnd | None
    gallery: Gallery | None
    enrolments: Enrolments
    decisions: dict[str, Decision]
    open_set: Decision | None
    temperature: float | None
    bonuses: dict[str, float]
    choices: Choices | None

    @classmethod
    def open(cls, folder: Path, *, state: Path | None = None) -> "PortableSpace":
        """The exported space in a folder. What is enrolled is kept in ``state``, by default in that folder.

        Raises SpaceError if the export is damaged, foreign or newer.
        """
        description, record = read_description(folder)
        vectors = read_numbers(folder, PROTOTYPES, description, axes=3)
        if vectors.shape[0] != len(description.classes) or vectors.shape[2] != description.dimension:
            raise SpaceError(f"{folder} is damaged: {PROTOTYPES} holds {vectors.shape}")
        classes = KnownClasses(
            description.classes,
            vectors,
            description.counts,
            record.enrolled,
            _discriminant(folder, description),
        )
        digest = hashlib.sha256((folder / HEADER).read_bytes()).hexdigest()
        _expect_scores(folder, description, record)
        encoder = Session(read_file(folder, ENCODER, description), ENCODER)
        front_end = _front_end(folder, description)
        if front_end is None and encoder.shape != item_shape(description.reader, description.reading):
            raise SpaceError(f"{folder} is damaged: its encoder takes items of shape {encoder.shape}")
        fitted = record.temperatures.get("similarity")
        return cls(
            description=description,
            encoder=encoder,
            scores={kind: _score(folder, description, files) for kind, files in description.kinds.items()},
            read=reader_of(description.reader, description.reading),
            front_end=front_end,
            gallery=read_gallery(folder, description),
            enrolments=Enrolments(state or folder, digest, classes),
            decisions=record.decisions,
            open_set=record.open_set,
            temperature=None if fitted is None else fitted.value,
            bonuses={kind: balance.bonus for kind, balance in record.balances.items()},
            choices=record.choices,
        )

    @property
    def classes(self) -> KnownClasses:
        return self.enrolments.classes

    @property
    def kinds(self) -> list[str]:
        return list(self.scores)

    def kind_for(self, question: Question) -> str:
        """The kind of score that answers a question if the user names none."""
        return "similarity" if self.choices is None else self.choices.of(question)

    def known_kind(self, kind: str | None, question: Question) -> str:
        """The kind of score, checked; None stands for the space's choice for the question."""
        kind = self.kind_for(question) if kind is None else kind
        if kind not in self.scores:
            raise SpaceError(f'this space has no score "{kind}"; {nearest(kind, self.scores)}')
        return kind

    def embed(self, items: Sequence[Array]) -> Array:
        """The embeddings (n, d) of items as `read` gives them."""
        if not items:
            return np.empty((0, self.description.dimension), dtype=np.float32)
        most = max(1, NUMBERS // max(item.size for item in items))
        parts = [self._embed(items[start : start + most]) for start in range(0, len(items), most)]
        return np.concatenate(parts)

    def score(self, a: Array, b: Array, *, kind: str) -> Array:
        """How alike every a and every b are: (n, d), (m, d) -> (n, m)."""
        score = self.scores[kind]
        return score.between(score.first(a), score.second(b))

    def score_classes(self, z: Array, *, kind: str) -> Array:
        """How alike each item and each class are: (n, d) -> (n, classes)."""
        classes, score = self.classes, self.scores[kind]
        count, several, dimension = classes.vectors.shape
        counts = np.repeat(np.array(classes.counts, dtype=np.int64), several)
        first = score.first(classes.vectors.reshape(count * several, dimension), counts)
        scores = score.between(first, score.second(z)).T
        if several == 1:
            return scores
        how, temperature = self.description.pooling, self.description.pooling_temperature
        return pooled(scores.reshape(len(z), count, several), how, temperature)

    def classify(self, z: Array, *, kind: str | None = None) -> Classification:
        """Which class is each of (n, d) embeddings? See `samekind.space.MetricSpace.classify`."""
        classes, chosen = self.classes, self.known_kind(kind, "classes")
        if not classes.names:
            raise SpaceError("this space knows no class yet; enrol one from a few examples first")
        scores = self.score_classes(z, kind=chosen)
        enrolled = np.isin(classes.names, classes.enrolled) * self.bonuses.get(chosen, 0.0)
        logits = self.scores[chosen].scale * (scores.astype(np.float64) + enrolled)
        if classes.discriminant is not None and chosen == self.kind_for("classes"):
            logits = classes.discriminant.ordered(logits, z, classes.names)
        names = [classes.names[place] for place in logits.argmax(1).tolist()]
        if self.temperature is not None and chosen == self.kind_for("classes"):
            logits = (logits - logits.max(1, keepdims=True)) / self.temperature
        return Classification(scores, softmax(logits), names)

    def identify(self, z: Array, *, kind: str | None = None) -> tuple[list[Named], Classification]:
        """The class of each of (n, d) embeddings, or None where the best class scores below the threshold for
        none of these; see `samekind.inference.identify`.
        """
        answer = self.classify(z, kind=kind)
        decision, scores = self.open_set, answer.scores
        if decision is not None and decision.kind != self.known_kind(kind, "classes"):
            scores = self.score_classes(z, kind=decision.kind)
        rows = zip(answer.classes, scores.max(1).tolist(), answer.probabilities.max(1).tolist(), strict=True)
        return [_named(decision, *row) for row in rows], answer

    def compare(self, z: Array, *, kind: str | None = None, prior: float = 0.5) -> Comparison:
        """Whether two items with these embeddings (2, d) are the same kind."""
        name = kind or self.kind_for("pairs")
        if name not in self.decisions:
            raise SpaceError(
                f'this space has no threshold for the score "{name}"; {nearest(name, self.decisions)}'
            )
        decision = self.decisions[name]
        score = float(self.score(z[:1], z[1:], kind=name)[0, 0])
        probability = sigmoid(decision.log_odds(score, prior=prior))
        return Comparison(score >= decision.threshold, score, probability, decision)

    def close(self) -> None:
        """Let others change the folder."""
        self.enrolments.close()

    def _embed(self, items: Sequence[Array]) -> Array:
        if self.front_end is not None:
            return self.encoder.run(padded([self.front_end.features(item) for item in items]))
        if self.description.medium == "sounds":
            raise SpaceError("this export takes features of sounds, and has no front end for files")
        shapes = {item.shape for item in items}
        if len(shapes) > 1:
            raise DataError(f"items have {len(shapes)} different shapes; expected one")
        return self.encoder.run(np.stack(list(items)))


def _named(decision: Decision | None, name: str, score: float, probability: float) -> Named:
    """The answer for an item whose best class has this score, and this probability among the classes."""
    if decision is None:
        return Named(name, probability, score)
    known = sigmoid(decision.log_odds(score))
    accepted = score >= decision.threshold
    return Named(name if accepted else None, known * probability if accepted else 1 - known, score)


def _discriminant(folder: Path, description: Description) -> Discriminant | None:
    names = description.told_apart
    if not names:
        return None
    weights = read_numbers(folder, DISCRIMINANT, description, axes=2)
    if weights.shape != (len(names), description.dimension + 1) or len(set(names)) < len(names):
        raise SpaceError(f"{folder} is damaged: {DISCRIMINANT} holds {weights.shape}")
    return Discriminant(names, weights)


def _expect_scores(folder: Path, description: Description, record: Record) -> None:
    """Raise SpaceError if something is decided by a kind of score that is not there."""
    choices = record.choices
    named = [*record.decisions, *(() if record.open_set is None else (record.open_set.kind,))]
    named += [] if choices is None else [choices.pairs, choices.neighbours, choices.classes]
    for kind in named:
        if kind not in description.kinds:
            raise SpaceError(f'{folder} is damaged: it decides by the score "{kind}", which it does not have')


def _score(folder: Path, description: Description, files: ScoreFiles) -> Score:
    sessions = [
        None if name is None else Session(read_file(folder, name, description), name)
        for name in (files.map, files.pairs)
    ]
    return Score(sessions[0], sessions[1], files.counted, files.pair_bytes, files.scale)


def _front_end(folder: Path, description: Description) -> FrontEnd | None:
    settings = description.front_end
    if settings is None:
        return None
    window = read_numbers(folder, "window.npy", description, axes=1)
    filters = read_numbers(folder, "filters.npy", description, axes=2)
    cosines = read_numbers(folder, "cosines.npy", description, axes=2)
    if (
        window.shape != (settings.frame,)
        or len(filters) != settings.size // 2 + 1
        or len(cosines) != filters.shape[1]
    ):
        raise SpaceError(f"{folder} is damaged: its window or its filters are of another size")
    return FrontEnd(settings, window, filters, cosines)
