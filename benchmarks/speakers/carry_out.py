"""One run of the study, written down as one JSON."""

import json
import time
from dataclasses import replace
from typing import Any

import torch
from about import chosen_plda, of_trials, scores_by
from frozen import frozen_measures, ladder_measures, room_measures
from further import further_measures, source_of, weights_of
from grid import FROZEN, FROZEN_ROOMS, FURTHER, LADDERS, UNTRAINED, WHOLE, Experiment
from grids.running import Place, not_now
from sets import CHOOSING, FEW_CHOOSING, JOINED, Parts, files_of, joined, parts_of
from systems import run_of

from samekind.data import draw
from samekind.evaluation import validation
from samekind.inference import embed
from samekind.similarities.adaptation import adapted, averaged
from samekind.similarities.two_covariance import TwoCovariance
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import Run, build_space, train


def carry_out(experiment: Experiment, place: Place) -> str:
    """Carry out the run, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    if experiment.system in (*FROZEN, *LADDERS, *FROZEN_ROOMS, *FURTHER, *WHOLE):
        return _published(experiment, place)
    if missing := [name for name in files_of(experiment) if not (place.data / name).exists()]:
        return f"has no {' and no '.join(missing)}"
    parts = parts_of(experiment, place)
    run = run_of(experiment, parts.train, place)
    began = time.perf_counter()
    space = _space(experiment, run, parts, place)
    training = time.perf_counter() - began
    measures = _measured(space.to(place.device), parts, trained=experiment.base not in UNTRAINED)
    if parts.new is not None:
        for words, start in (("gone on", space.cpu()), ("new room alone", None)):
            there = _in_new_room(experiment, run, parts, place, start=start)
            _add(measures, _measured(there.to(place.device), parts, trained=True), words)
    content = {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "run": None if experiment.base in UNTRAINED else run.to_dict(),
        "speakers": {
            "train": list(parts.train.classes),
            "validation": list(parts.validation.classes),
            "test": list(next(iter(parts.test.values())).classes),
        },
        "items": {"train": len(parts.train), **{name: len(items) for name, items in parts.test.items()}},
        "measures": measures,
        "seconds": {"training": training, "evaluation": time.perf_counter() - began - training},
        "torch": torch.__version__,
    }
    return _written(experiment, place, content)


def _published(experiment: Experiment, place: Place) -> str:
    """A published network, as it came or trained further; there is nothing to do where what it takes is
    missing: embeddings, maps or features.
    """
    network = experiment.system.removeprefix("rooms-").removeprefix("ladder-")
    is_trained = experiment.system in (*FURTHER, *WHOLE)
    needed = [f"{source_of(experiment) if is_trained else network}-1-clean.npz"]
    needed += [weights_of(experiment)] if is_trained else []
    if missing := [name for name in needed if not (place.data / name).exists()]:
        return f"has no {' and no '.join(missing)}"
    began = time.perf_counter()
    ladders: dict[str, Any] | None = None
    run: Run | None = None
    if is_trained:
        measures, ladders, run = further_measures(experiment, place)
    elif experiment.system in LADDERS:
        measures, ladders = ladder_measures(experiment, place, network)
    else:
        about = room_measures if experiment.system in FROZEN_ROOMS else frozen_measures
        measures = about(experiment, place, network)
    content = {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "run": None if run is None else run.to_dict(),
        "measures": measures,
        "ladders": ladders,
        "seconds": {"evaluation": time.perf_counter() - began},
        "torch": torch.__version__,
    }
    return _written(experiment, place, content)


def _written(experiment: Experiment, place: Place, content: dict[str, Any]) -> str:
    """Write the JSON; says the equal error rates."""
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    return ", ".join(
        f"{condition} {kind} {values['EER']:.3f}"
        for condition, kinds in content["measures"].items()
        for kind, values in kinds.items()
    )


def _space(experiment: Experiment, run: Run, parts: Parts, place: Place) -> MetricSpace:
    """The space at its best epoch; of an untrained system with fresh weights."""
    if experiment.base in UNTRAINED:
        torch.manual_seed(run.seed)
        return build_space(run, parts.train).eval()
    folder = place.work / ("trials" if place.quick else "runs") / experiment.name
    few = draw(parts.validation, most=FEW_CHOOSING if experiment.is_small else CHOOSING, seed=0)
    validate = validation(few, run.validate, watch=run.watch)
    return train(run, parts.train, folder=folder, validate=validate, device=place.device)


def _in_new_room(
    experiment: Experiment, run: Run, parts: Parts, place: Place, *, start: MetricSpace | None
) -> MetricSpace:
    """The space after the same run on the items of the new room, to its last epoch: there are no speakers
    to choose by. From ``start`` on, or from fresh weights.
    """
    assert parts.new is not None
    folder = place.work / ("trials" if place.quick else "runs")
    folder = folder / f"{experiment.name}-{'alone' if start is None else 'on'}"
    run = replace(run, keep="last")
    return train(
        run,
        parts.new,
        folder=folder,
        validate=lambda _: {run.watch: 0.0},
        device=place.device,
        start=start,
    )


def _add(measures: dict[str, Any], more: dict[str, Any], words: str) -> None:
    """Add the scores that need no model beside the space, under their names with ``words`` before."""
    for condition, kinds in more.items():
        measures[condition] |= {
            f"{words}, {kind}": values for kind, values in kinds.items() if not kind.startswith("PLDA")
        }


def _measured(space: MetricSpace, parts: Parts, *, trained: bool) -> dict[str, dict[str, dict[str, float]]]:
    """For each condition and score the measures of all pairs of test items, calibrated by those of the
    clean validation items of the same length. PLDA is fitted to the training items.
    """
    train, held_out = (embed(space, items.inputs) for items in (parts.train, parts.validation))
    plda = chosen_plda(train, parts.train, held_out, parts.validation)
    models = {"PLDA": plda, **_brought(space, plda, parts)}
    kinds = space.kinds if trained else ("cosine",)
    single = draw(parts.validation, most=CHOOSING, seed=0)
    several = joined(single)
    calibrations = [(embed(space, items.inputs), items.labels) for items in (single, several)]
    measured: dict[str, dict[str, dict[str, float]]] = {}
    for condition, items in parts.test.items():
        measured[condition] = {}
        asked = embed(space, items.inputs), items.labels
        calibration = calibrations[condition.startswith(str(JOINED))]
        for name in (*kinds, *models):
            by: Any = models.get(name, name)
            fitted, trials = (scores_by(space, *some, by) for some in (calibration, asked))
            measured[condition][name] = of_trials(*trials, fitted=fitted)
    return measured


def _brought(space: MetricSpace, plda: TwoCovariance, parts: Parts) -> dict[str, TwoCovariance]:
    """PLDA in another room: averaged with one of labelled items there, and adapted without their labels."""
    if parts.new is None:
        return {}
    z = embed(space, parts.new.inputs)
    return {"PLDA, averaged": averaged(plda, z, parts.new.labels), "PLDA, adapted": adapted(plda, z)}
