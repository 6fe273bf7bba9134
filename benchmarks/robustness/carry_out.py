"""One run: trained, attacked in the published and in a sound way, written down as one JSON."""

import json
import shutil
import time
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from grid import EPSILONS, PUBLISHED_STEPS, Experiment, run_of
from grids.running import Place, not_now
from torch import Tensor

from samekind import digits, open_data
from samekind.attacks import APGD, FGSM, PGD, Attack, Classes, Linf, Region, Several, Square
from samekind.attacks.objectives import Objective, cross_entropy, logit_ratio
from samekind.data import Items, Sets, SplitSettings, prepare
from samekind.evaluation.attacked_questions import Subject
from samekind.evaluation.robustness import subject_of
from samekind.evaluation.under_attack import Maker, Strength, under_attack
from samekind.inference.temperatures import heads
from samekind.recipes import fit
from samekind.storage import write_text

#: Pictures that are attacked; in a trial.
MOST, QUICK = 1000, 20
#: Pictures of a trial in all.
FEW = 600
STEPS, RESTARTS, QUERIES = 50, 5, 500


def of_probabilities(outcomes: Tensor, truth: Tensor) -> Tensor:
    """The published objective: the cross-entropy takes probabilities for logits."""
    return F.cross_entropy(outcomes.softmax(1), truth, reduction="none")


def slow_pgd(region: Region, steps: int, _restarts: int) -> Attack:
    """Steps of a thirtieth of epsilon from a random start; the last point."""
    return PGD(region, steps=steps, step=region.epsilon / 30, classic=True)


def sound(region: Region, steps: int, restarts: int) -> Attack:
    """What any of the attacks breaks is broken."""
    return Several(
        (
            PGD(region, steps=steps, restarts=restarts),
            APGD(region, steps=steps, objective=cross_entropy),
            APGD(region, steps=steps, objective=logit_ratio),
            Square(region, queries=QUERIES),
        )
    )


def settings_of(data: str) -> Iterator[tuple[str, Maker, int, int, Objective]]:
    """Each attack: its name, the attack, steps, restarts, and what it raises."""
    yield "FGSM as published", lambda region, _, __: FGSM(region), 1, 1, of_probabilities
    for steps in PUBLISHED_STEPS[data]:
        yield f"PGD-{steps} as published", slow_pgd, steps, 1, of_probabilities
    last = PUBLISHED_STEPS[data][-1]
    yield f"PGD-{last}, the same on logits", slow_pgd, last, 1, cross_entropy
    yield "sound", sound, STEPS, RESTARTS, cross_entropy


def carry_out(experiment: Experiment, place: Place) -> str:
    """Train and attack, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    if place.quick and experiment.data != "digits" and not (place.data / experiment.data).exists():
        return "left out: no files"
    began = time.perf_counter()
    sets = sets_of(experiment, place)
    folder = place.work / experiment.name
    run = run_of(experiment, sets.train, place.quick)
    space = fit(run, sets, folder=folder, device=place.device).to(place.device)
    trained = time.perf_counter()
    result = {head: attacked(space, sets.test, experiment, head, place) for head in heads(space)}
    content = {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "epsilon": EPSILONS[experiment.data],
        "heads": result,
        "seconds": {"training": trained - began, "attacks": time.perf_counter() - trained},
        "torch": torch.__version__,
    }
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    return f"{trained - began:.0f} s of training, {time.perf_counter() - trained:.0f} s of attacks"


def sets_of(experiment: Experiment, place: Place) -> Sets:
    """The pictures by their published parts; in a trial few of them, and the digits by chance."""
    if experiment.data == "digits":
        return prepare(digits(), SplitSettings(seed=experiment.seed))
    items = open_data(place.data / experiment.data)
    if place.quick:
        items = items.take(torch.arange(0, len(items), max(1, len(items) // FEW)))
    return prepare(items, SplitSettings(by="part", fractions={"train": 0.9, "validation": 0.1}))


def attacked(space: Any, items: Items, experiment: Experiment, head: Any, place: Place) -> dict[str, Any]:
    """What a head keeps against each attack, and the checks of it."""
    result: dict[str, Any] = {}
    for name, make, steps, restarts, objective in settings_of(experiment.data):
        strength = Strength((EPSILONS[experiment.data],), steps, restarts, experiment.seed, make)
        subject, _, _ = subject_of(space, items, strength, name="test", most=QUICK if place.quick else MOST)
        result[name] = _one(subject, head, objective)
    return result


def _one(subject: Subject, head: Any, objective: Objective) -> dict[str, Any]:
    surrogate = Classes(subject.surrogate, subject.labels)
    field = subject.field(subject.inputs.x, surrogate)
    goal = Classes(subject.space, subject.labels, head=head, objective=objective)
    # Shares right after this attack alone: the worst over weaker runs would mend what is published.
    region = Linf(subject.strength.epsilons[0])
    generator = torch.Generator().manual_seed(subject.strength.seed)
    alone = subject.strength.attack(region)(goal, field.x, limits=field.limits, generator=generator)
    result = under_attack(goal, field)
    return {
        "clean": float(result.clean.double().mean()),
        "right": float((~alone.succeeded).double().mean()),
        "right, worst of all runs": float(result.right[0].double().mean()),
        "soundness": result.soundness.to_json(),
        "note": result.soundness.note,
    }
