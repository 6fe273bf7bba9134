"""One run: trained with or without a defence, attacked in the published and in a sound way, one JSON."""

import json
import shutil
import time
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from grid import DATA, Experiment, chosen, run_of
from grids.running import Place, epochs_in, not_now
from torch import Tensor

from samekind import digits, open_data
from samekind.attacks import APGD, FGSM, PGD, Attack, Classes, Linf, Region, Several, Square
from samekind.attacks.objectives import Objective, cross_entropy, logit_ratio
from samekind.data import Items, Sets, SplitSettings, prepare
from samekind.evaluation.attacked_questions import Subject, neighbour_curve, pair_curve
from samekind.evaluation.representation import of_inputs, of_space, points_of
from samekind.evaluation.robustness import subject_of
from samekind.evaluation.smoothing import Smoothing, certify
from samekind.evaluation.under_attack import Maker, Strength, under_attack
from samekind.inference.temperatures import heads
from samekind.recipes import fit
from samekind.storage import write_text

#: Pictures that are attacked in a trial, and pictures of a trial in all.
QUICK, FEW = 20, 600
#: Training items that are compared with each other, and draws of noise for each item.
POINTS, DRAWS = 2000, 1000


def of_probabilities(outcomes: Tensor, truth: Tensor) -> Tensor:
    """The published objective: the cross-entropy takes probabilities for logits."""
    return F.cross_entropy(outcomes.softmax(1), truth, reduction="none")


def slow_pgd(region: Region, steps: int, _restarts: int) -> Attack:
    """Steps of a thirtieth of epsilon from a random start; the last point."""
    return PGD(region, steps=steps, step=region.epsilon / 30, classic=True)


def usual_pgd(step: float) -> Maker:
    """Steps of a usual size."""
    return lambda region, steps, restarts: PGD(region, steps=steps, step=step, restarts=restarts)


def sound(queries: int) -> Maker:
    """What any of the attacks breaks is broken."""

    def several(region: Region, steps: int, restarts: int) -> Attack:
        return Several(
            (
                PGD(region, steps=steps, restarts=restarts),
                APGD(region, steps=steps, objective=cross_entropy),
                APGD(region, steps=steps, objective=logit_ratio),
                Square(region, queries=queries),
            )
        )

    return several


def settings_of(experiment: Experiment) -> Iterator[tuple[str, Maker, int, int, Objective, bool]]:
    """Each attack: its name, the attack, steps, restarts, what it raises, and whether it is checked. A set
    with a brief attack has all of them on undefended spaces alone, or on none if a CPU carries them out.
    """
    pictures = DATA[experiment.data]
    whole = pictures.brief is None or (experiment.defence == "none" and not pictures.on_cpu)
    if whole:
        yield "FGSM as published", lambda region, _, __: FGSM(region), 1, 1, of_probabilities, True
    published = pictures.published[:1] if pictures.is_small else pictures.published
    for steps in published:
        yield f"PGD-{steps} as published", slow_pgd, steps, 1, of_probabilities, whole
    last = pictures.published[-1]
    if whole:
        yield f"PGD-{last}, the same on logits", slow_pgd, last, 1, cross_entropy, True
    yield "FGSM", lambda region, _, __: FGSM(region), 1, 1, cross_entropy, False
    for steps in published:
        yield f"PGD-{steps}", usual_pgd(pictures.step), steps, 1, cross_entropy, False
    steps, restarts, queries = pictures.sound if whole else (pictures.brief or pictures.sound)
    yield "sound", sound(queries), steps, restarts, cross_entropy, True


def carry_out(experiment: Experiment, place: Place) -> str:
    """Train and attack, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    source = DATA[experiment.data].folder
    if source and place.quick and not (place.data / source).exists():
        return "left out: no files"
    began = time.perf_counter()
    sets = sets_of(experiment, place)
    folder = place.work / experiment.name
    run = run_of(experiment, sets.train, place.quick)
    space = fit(run, sets, folder=folder, device=place.device).to(place.device)
    trained = time.perf_counter()
    content = {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "epsilon": DATA[experiment.data].epsilon,
        "items": {"training": len(sets.train), "attacked": _most(experiment, place)},
        "defence": None if run.defence is None else run.to_dict()["defence"],
        "times as long": epochs_in(folder)[-1].get("defence", {}).get("times as long"),
        "heads": {head: attacked(space, sets.test, experiment, head, place) for head in heads_of(space)},
        "questions": asked(space, sets.test, experiment, place),
        "representation": represented(space, sets, place),
        "certified": certified(space, sets.test, experiment, place),
        "seconds": {"training": trained - began, "attacks": time.perf_counter() - trained},
        "torch": torch.__version__,
    }
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    return f"{trained - began:.0f} s of training, {time.perf_counter() - trained:.0f} s of attacks"


def heads_of(space: Any) -> list[Any]:
    """The similarity (SIM) and the dense layer (DOL)."""
    return [head for head in heads(space) if head != "fused"]


def sets_of(experiment: Experiment, place: Place) -> Sets:
    """The pictures by their published parts; in a trial few of them, and the digits by chance."""
    if experiment.data == "digits":
        return prepare(digits(), SplitSettings(seed=experiment.seed))
    items = chosen(experiment, open_data(place.data / DATA[experiment.data].folder))
    if place.quick:
        items = items.take(torch.arange(0, len(items), max(1, len(items) // FEW)))
    return prepare(items, SplitSettings(by="part", fractions={"train": 0.9, "validation": 0.1}))


def attacked(space: Any, items: Items, experiment: Experiment, head: Any, place: Place) -> dict[str, Any]:
    """What a head keeps against each attack, and the checks of it."""
    result: dict[str, Any] = {}
    for name, make, steps, restarts, objective, checked in settings_of(experiment):
        strength = Strength((DATA[experiment.data].epsilon,), steps, restarts, experiment.seed, make)
        subject, _, _ = subject_of(space, items, strength, name="test", most=_most(experiment, place))
        result[name] = _one(subject, head, objective, checked=checked)
    return result


def asked(space: Any, items: Items, experiment: Experiment, place: Place) -> dict[str, Any]:
    """The EER of a verifier and Recall@1, before and after an attack."""
    pictures = DATA[experiment.data]
    steps = (pictures.brief or pictures.sound)[0] // 2 if pictures.on_cpu else pictures.sound[0]
    strength = Strength((pictures.epsilon,), steps, 1, experiment.seed)
    subject, _, _ = subject_of(space, items, strength, name="test", most=_most(experiment, place))
    pairs = pair_curve(subject, space.kind_for("pairs"))
    neighbours = neighbour_curve(subject, space.kind_for("neighbours"))
    return {
        curve.question: {
            "measure": curve.measure,
            "kind": curve.kind,
            "clean": curve.rows[0].value,
            "attacked": curve.rows[-1].value,
            "sound": curve.soundness.is_sound,
        }
        for curve in (pairs, neighbours)
    }


def represented(space: Any, sets: Sets, place: Place) -> dict[str, Any]:
    """The measures of chapter 5, of the embeddings and of the inputs."""
    points = points_of(sets.train, sets.test, most=200 if place.quick else POINTS)
    inputs = {metric: of_inputs(points, metric) for metric in ("l2", "linf")}  # type: ignore[arg-type]
    return {"space": of_space(space, points), "inputs": inputs, "points": len(points.train)}


def certified(space: Any, items: Items, experiment: Experiment, place: Place) -> dict[str, Any]:
    """The certified accuracy of the dense layer, smoothed."""
    pictures = DATA[experiment.data]
    small = place.quick or pictures.on_cpu
    smoothing = Smoothing(pictures.sigma, DRAWS // 5 if small else DRAWS, seed=experiment.seed)
    most = min(_most(experiment, place), 60 if small else 200)
    return certify(space, items, smoothing, head="auxiliary", most=most).to_json()


def _most(experiment: Experiment, place: Place) -> int:
    return QUICK if place.quick else DATA[experiment.data].most


def _one(subject: Subject, head: Any, objective: Objective, *, checked: bool) -> dict[str, Any]:
    surrogate = Classes(subject.surrogate, subject.labels)
    field = subject.field(subject.inputs.x, surrogate)
    goal = Classes(subject.space, subject.labels, head=head, objective=objective)
    # Shares right after this attack alone: the worst over weaker runs would mend what is published.
    region = Linf(subject.strength.epsilons[0])
    generator = torch.Generator().manual_seed(subject.strength.seed)
    alone = subject.strength.attack(region)(goal, field.x, limits=field.limits, generator=generator)
    shares = {"right": float((~alone.succeeded).double().mean())}
    if not checked:
        return shares
    result = under_attack(goal, field)
    return {
        **shares,
        "clean": float(result.clean.double().mean()),
        "right, worst of all runs": float(result.right[0].double().mean()),
        "soundness": result.soundness.to_json(),
        "note": result.soundness.note,
    }
