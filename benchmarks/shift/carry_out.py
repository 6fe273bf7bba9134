"""One run, or one for every domain left out: trained, and measured at home and away."""

import json
import shutil
import time
from typing import Any

import torch
from grid import APART, CORRUPTED, FILES, Experiment, run_of
from grids.running import Place, not_now
from sets import NEW, STRANGE, by_drawers, corrupted_of, evenly, items_of, together

from samekind.data import Items, divide
from samekind.evaluation import verification
from samekind.evaluation.shift import Shift, corrupted_sets, shifts
from samekind.inference import embed
from samekind.measures.catalogue import EER
from samekind.recipes import fit, leave_one_out
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import RunFolder

#: Items that are compared, and corruptions of a trial.
MOST, QUICK_SEVERITIES = 500, (1, 5)


def carry_out(experiment: Experiment, place: Place) -> str:
    """Train and measure, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    if experiment.data in FILES and not (place.data / FILES[experiment.data]).exists():
        return "left out: no files"
    began = time.perf_counter()
    measured = _corrupted if experiment.data in CORRUPTED else _left_out
    content = {
        "variant": experiment.variant,
        "seed": experiment.seed,
        **measured(experiment, place),
        "seconds": time.perf_counter() - began,
        "torch": torch.__version__,
    }
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    shutil.rmtree(place.work / experiment.name, ignore_errors=True)
    return f"{time.perf_counter() - began:.0f} s"


def _corrupted(experiment: Experiment, place: Place) -> dict[str, Any]:
    """Trained on clean pictures, tested on corrupted ones."""
    sets = corrupted_of(experiment, place.data, place.quick)
    run = run_of(experiment, sets.train, place.quick)
    space = fit(run, sets, folder=place.work / experiment.name, device=place.device).to(place.device)
    severities = QUICK_SEVERITIES if place.quick else (1, 2, 3, 4, 5)
    test = sets.test.take(torch.arange(0, len(sets.test), max(1, len(sets.test) // MOST)))
    away = corrupted_sets(test, ("noise", "blur", "contrast", "jpeg"), severities, seed=experiment.seed)
    answers = shifts(space, test, away, paired=True, most=len(test), seed=experiment.seed)
    if sets.unseen is not None:  # not the same items on both sides
        home, other = (test.take(torch.arange(start, len(test), 2)) for start in (0, 1))
        strange = evenly(sets.unseen, len(other))
        answers += shifts(space, home, {NEW: together(other, strange)}, seed=experiment.seed)
    return {"items": len(sets.train), "sets": [_brief(one) for one in answers]}


def _left_out(experiment: Experiment, place: Place) -> dict[str, Any]:
    """Each domain left out in turn: the accuracy in it, or the errors of its pairs where all of its classes
    are new, and what the space says about it.
    """
    items = items_of(experiment, place.data, place.quick)
    folder = place.work / experiment.name
    run = run_of(experiment, items, place.quick)
    leave_one_out(run, items, folder=folder, tasks=2, device=place.device)
    assert items.domains is not None
    sets = []
    for domain in torch.unique(items.domains).tolist():
        done = RunFolder(folder / str(domain))
        split = done.begun_split(items)
        assert split is not None
        space, parts = done.space().to(place.device), divide(items, split)
        away = {items.domain_names[domain]: parts.test}
        if experiment.data == "characters":
            letters = by_drawers(STRANGE)
            assert letters.domains is not None
            of_sources = letters.take((letters.domains != domain).nonzero().flatten())
            away[NEW] = together(parts.validation, evenly(of_sources, len(parts.validation)))
        answers = shifts(space, parts.validation, away, most=MOST, seed=experiment.seed)
        pairs = (
            {"pairs": _pairs(space, parts.validation, parts.test, experiment.seed)}
            if experiment.data == APART
            else {}
        )
        sets += [{**_brief(one), "left out": items.domain_names[domain], **pairs} for one in answers]
    return {"items": len(items), "sets": sets}


def _pairs(space: MetricSpace, home: Items, away: Items, seed: int) -> dict[str, dict[str, float]]:
    """The EER by each score: of pairs within a domain that was shown, in the mean of these, and of pairs of
    new classes. At home and away the other class is of the same domain.
    """
    assert home.domains is not None
    parts = [home.take((home.domains == domain).nonzero().flatten()) for domain in home.domains.unique()]
    measured = {"home": [_errors(space, part, seed) for part in parts], "away": [_errors(space, away, seed)]}
    return {
        name: {kind: sum(some[kind] for some in errors) / len(errors) for kind in errors[0]}
        for name, errors in measured.items()
    }


def _errors(space: MetricSpace, items: Items, seed: int) -> dict[str, float]:
    rows = verification(space, items, embed(space, items.inputs), name=items.name, seed=seed)
    return {row.kind: row.value for row in rows if row.measure == EER}


def _brief(shift: Shift) -> dict[str, Any]:
    content = shift.to_json()
    content["promises"] = [
        {name: row[name] for name in ("kind", "holds", "broken")} for row in content["promises"]
    ]
    return content
