"""Published networks as they came: what do scores that are fitted to forty speakers give on ten others?

Everything is fitted to clean sounds of training speakers that are as long as the tested ones: the mean,
the cohort, PLDA, and the ladder of the house recipe on the embeddings.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from about import Trials, chosen_plda, of_trials
from grid import FOLDS, Experiment
from grids.running import Place
from sets import clean_items, dealt_speakers, room_speakers, rooms_of
from torch import Tensor

from samekind.data import Items, Sets, Split
from samekind.decisions import Rung
from samekind.inference import all_trials, embed
from samekind.measures import as_norm
from samekind.recipes.house import house
from samekind.recipes.ladder import FITTED, HEAD, climb
from samekind.similarities.adaptation import adapted, averaged
from samekind.similarities.two_covariance import TwoCovariance
from samekind.space import MetricSpace

#: The part of the cohort, of those closest to each side of a trial, that normalises its score.
TOP = 0.1
LENGTHS = ("1 digit", "5 digits")
#: Directions of the discriminant analysis of nine or ten speakers.
FEW_RANKS = (3, 5, 8)

Scores = Callable[[Items], Trials]
#: The embeddings of a condition, of some speakers or of all; None where there are none.
Opened = Callable[[str, Sequence[str] | None], Items | None]


class Parts(NamedTuple):
    """Embeddings of training and validation speakers, and of test speakers by condition."""

    train: Items
    validation: Items
    test: dict[str, Items]


def frozen_measures(experiment: Experiment, place: Place, network: str) -> dict[str, Any]:
    """The measures of every condition and score that has nothing random."""
    return fixed_measures(_by_length(experiment, place, network))


def fixed_measures(by_length: dict[str, Parts]) -> dict[str, Any]:
    """The same, of embeddings by the length of sounds."""
    measures: dict[str, Any] = {}
    for parts in by_length.values():
        measures |= _of_conditions(parts, _fixed(parts))
    return measures


def ladder_measures(
    experiment: Experiment, place: Place, network: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The measures of every condition and rung, and what the ladder kept for each length of sounds."""
    return rung_measures(experiment, place, _by_length(experiment, place, network))


def rung_measures(
    experiment: Experiment, place: Place, by_length: dict[str, Parts]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same, of embeddings by the length of sounds."""
    measures: dict[str, Any] = {}
    ladders: dict[str, Any] = {}
    for length, parts in by_length.items():
        scores, ladders[length] = _ladder(experiment, parts, place)
        measures |= _of_conditions(parts, scores)
    return measures, ladders


def _of_conditions(parts: Parts, scores: dict[str, Scores]) -> dict[str, Any]:
    return {
        condition: {
            name: of_trials(*score(items), fitted=score(parts.validation)) for name, score in scores.items()
        }
        for condition, items in parts.test.items()
    }


def room_measures(experiment: Experiment, place: Place, network: str) -> dict[str, Any]:
    """Scores fitted to the speakers of one room, on those of another; PLDA also brought there, by labelled
    items of other speakers of that room and without their labels, and fitted to these alone.
    """
    measures: dict[str, Any] = {}
    speakers = room_speakers(rooms_of(clean_items(place)), experiment.fold)
    for length in LENGTHS:
        clean = _opened(place.data / f"{network}-{length[0]}-clean.npz", place.quick)
        train, validation, new, test = map(clean.only, speakers)
        z, there = _vectors(train), _vectors(new)
        plda = chosen_plda(z, train, _vectors(validation), validation)
        models = {
            "PLDA": plda,
            "PLDA, averaged": averaged(plda, there, new.labels),
            "PLDA, adapted": adapted(plda, there),
            "PLDA, of the new room": chosen_plda(
                there, new, _vectors(validation), validation, ranks=FEW_RANKS
            ),
        }
        scores = {"cosine": _cosine(0.0), "cosine, centred": _cosine(there.mean(0))}
        scores |= {name: _by_model(model) for name, model in models.items()}
        measures[f"{length}, clean"] = {
            name: of_trials(*score(test), fitted=score(validation)) for name, score in scores.items()
        }
    return measures


def _by_length(experiment: Experiment, place: Place, network: str) -> dict[str, Parts]:
    def opened(condition: str, names: Sequence[str] | None) -> Items | None:
        path = place.data / f"{network}-{condition}.npz"
        return _opened(path, place.quick, names) if path.exists() else None

    return {length: parts_of_fold(experiment.fold, length, opened) for length in LENGTHS}


def parts_of_fold(fold: int, length: str, opened: Opened) -> Parts:
    """No speaker is in two parts; folds are those of the networks that are trained here."""
    number = length.split()[0]
    clean = opened(f"{number}-clean", None)
    assert clean is not None
    dealt = dealt_speakers(list(clean.classes))
    test, validation = (dealt[place % FOLDS :: FOLDS] for place in (fold, fold + 1))
    train = clean.only([name for name in dealt if name not in {*test, *validation}])
    tested = {f"{length}, clean": clean.only(test)}
    noisy = opened(f"{number}-noise", test)
    if noisy is not None:
        tested[f"{length}, noise"] = noisy
    return Parts(train, clean.only(validation), tested)


def _opened(path: Path, quick: bool, names: Sequence[str] | None = None) -> Items:
    stored = np.load(path)
    items = Items(
        torch.from_numpy(stored["embeddings"]),
        torch.from_numpy(stored["labels"]),
        tuple(stored["classes"].tolist()),
        path.stem,
    )
    items = items if not quick else items.take(torch.arange(0, len(items), 3))
    return items if names is None else items.only(names)


def _fixed(parts: Parts) -> dict[str, Scores]:
    """Scores without anything random: the cosine, of centred embeddings too, AS-norm and PLDA."""
    z = _vectors(parts.train)
    mean = z.mean(0)
    plda = chosen_plda(z, parts.train, _vectors(parts.validation), parts.validation)

    def normalised(items: Items) -> Trials:
        x = F.normalize(_vectors(items) - mean)
        cohort = x @ F.normalize(z - mean).T
        rows, columns = torch.triu_indices(len(x), len(x), 1)
        scores = (x @ x.T)[rows, columns]
        top = max(2, round(TOP * len(z)))
        scores = as_norm(scores, cohort, cohort, top=top, first_rows=rows, second_rows=columns)
        return scores, items.labels[rows] == items.labels[columns]

    return {
        "cosine": _cosine(0.0),
        "cosine, centred": _cosine(mean),
        "AS-norm": normalised,
        "PLDA": _by_model(plda),
    }


def _cosine(centre: Tensor | float) -> Scores:
    def scores(items: Items) -> Trials:
        x = F.normalize(_vectors(items) - centre)
        return _pairs(x @ x.T, items)

    return scores


def _by_model(model: TwoCovariance) -> Scores:
    return lambda items: _pairs(model.score_all(_vectors(items), _vectors(items)), items)


def _ladder(experiment: Experiment, parts: Parts, place: Place) -> tuple[dict[str, Scores], dict[str, Any]]:
    """The rungs of the house recipe on embeddings, and what it kept. Nothing before them is trained."""
    folder = place.work / "ladders" / experiment.name
    shutil.rmtree(folder, ignore_errors=True)
    spaces: dict[str, MetricSpace] = {}
    rungs: list[dict[str, Any]] = []

    def note(rung: Rung, space: MetricSpace) -> None:
        spaces[rung.name] = space
        rungs.append({"name": rung.name, "EER of held-out speakers": rung.equal_error, "kind": rung.pairs})

    sets = _sets(parts)
    run = house(sets.train).override(["space.standardise=none", f"seed={experiment.seed}"])
    last = climb(sets, folder=folder, run=run, minutes=0, device="cpu", after_rung=note)
    shutil.rmtree(folder, ignore_errors=True)
    names = {"house, fitted": (FITTED, "fitted"), "house, head": (HEAD, "cosine")}
    scores = {name: _by(spaces[rung], kind) for name, (rung, kind) in names.items() if rung in spaces}
    scores["house, kept"] = _by(last, last.kind_for("pairs"))
    assert last.ladder is not None
    return scores, {"rungs": rungs, "kept": last.ladder.kept, "kind": last.kind_for("pairs")}


def _sets(parts: Parts) -> Sets:
    """Every fifth item of the training speakers tells how the rungs name known speakers."""
    every = torch.arange(len(parts.train))
    rows = {"train": every[every % 5 > 0], "validation": every[every % 5 == 0]}
    split = Split({**rows, "test": every[:0]}, parts.train.fingerprint())
    train, validation, test = (parts.train.take(split.parts[name]) for name in split.parts)
    return Sets(train, validation, test, None, split)


def _by(space: MetricSpace, kind: str) -> Scores:
    def scores(items: Items) -> Trials:
        trials = all_trials(space, embed(space, items.inputs), items.labels, kind=kind)  # type: ignore[arg-type]
        return trials.scores, trials.same

    return scores


def _pairs(scores: Tensor, items: Items) -> Trials:
    rows, columns = torch.triu_indices(len(items), len(items), 1)
    return scores[rows, columns], items.labels[rows] == items.labels[columns]


def _vectors(items: Items) -> Tensor:
    assert isinstance(items.inputs, Tensor)
    return items.inputs
