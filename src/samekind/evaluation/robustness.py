"""How many answers stay right when an attacker who knows the space changes the items?

Every question is attacked at rising epsilons: the class by each head, pairs, neighbours, and the examples
that classes are enrolled from. Each curve comes with checks of its attack. A curve that fails a check is
marked as no measure of robustness. An attack can show that an item can be broken, never that it cannot. The
reference without training is the nearest raw input, each item judged by the others. Its accuracy is
guaranteed; in Voronoi cells it is 100 %.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.attacks import Relative
from samekind.attacks.regions import Norm
from samekind.data import Items, draw
from samekind.data.drawing import at_most
from samekind.data.words import counted
from samekind.decisions import Head, Kind
from samekind.errors import DataError
from samekind.evaluation.attack_time import CHECKS, Size, most_seconds, within
from samekind.evaluation.attacked_questions import (
    Subject,
    class_curve,
    enrolment_curve,
    neighbour_curve,
    pair_curve,
)
from samekind.evaluation.raw_inputs import guaranteed_radii, plain_encoder, raw_space
from samekind.evaluation.robustness_curve import ASKED, Asked, Curve, Robustness, Samples
from samekind.evaluation.under_attack import Strength, UnderAttack
from samekind.inference import asking, device_of
from samekind.inference.known_classes import labels_in
from samekind.inference.temperatures import heads
from samekind.measures.robustness import written_epsilon
from samekind.space import MetricSpace
from samekind.training.estimate import in_words
from samekind.training.valid_inputs import SHARE_UNIT, valid_inputs

#: Items that are attacked, and items that Voronoi cells are among, unless more are asked for; and attacked
#: items that are shown.
MOST, MOST_CELLS, SHOWN = 100, 2000, 8
#: The order of each norm.
ORDERS: dict[Norm, float] = {"linf": torch.inf, "l2": 2.0, "l1": 1.0, "snr": 2.0}
TIME = (
    "attacks on {items:,} items take about {time} at most; fewer items (--limit), steps (--steps) or "
    "questions (--ask) take less"
)
NONE_KNOWN = (
    "{name}: expected items of classes that the space knows; it knows none of {classes}: give data of its "
    "own classes, or enrol these first (samekind enroll)"
)
FEWER = (
    "{items:,} items, {steps} steps and {epsilons}, to end within about {time}: intervals are wide, and a "
    "longer attack may break more (--minutes, or --limit and --steps)"
)
LEFT_OUT = "for want of time there is no curve of: {titles} (--minutes)"
APART = (
    "heads are shown at the epsilon where their attack was checked, which is not the same for all "
    "({epsilons}); compare them by their curves"
)
NO_CELLS = "no attacks within Voronoi cells, which are for items of one size and the norms linf, l2 and l1"
TOO_FEW = (
    "no curves of pairs, neighbours and enrolments: they take two classes with two attacked items each; "
    "attack more items (--limit)"
)
NO_THRESHOLD = "no curve of {question}s: the space has no threshold for the score {kind} (samekind calibrate)"


#: Makes a curve, and for classes also an example of the attack.
CurveOf = Callable[[], tuple[Curve, UnderAttack | None]]


class Budget(NamedTuple):
    """The time for all curves, and what may be reduced to keep within it."""

    seconds: float
    fewer_items: bool = True
    fewer_steps: bool = True
    one_epsilon: bool = False


def robustness(
    space: MetricSpace,
    items: Items,
    strength: Strength,
    *,
    name: str,
    norm: Norm = "linf",
    questions: Sequence[Asked] = ASKED,
    cells: bool = True,
    surrogate: MetricSpace | None = None,
    fixed: Sequence[str] = (),
    most: int = MOST,
    budget: Budget | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Robustness:
    """The curves of a space about ``most`` items of known classes, drawn by the seed. ``cells`` adds attacks
    within Voronoi cells. Examples for the check of transfer come from the ``surrogate``, which knows the same
    classes, or else from raw inputs. With a ``budget`` there are fewer items, steps and curves where all
    would take longer; notes say so. ``tell`` is called with how long it will take, and with the name of each
    curve before it is made.
    """
    began = time.monotonic()
    subject, _, notes = subject_of(
        space, items, strength, name=name, norm=norm, surrogate=surrogate, fixed=fixed, most=most
    )
    if cells and (items.medium.padded or norm == "snr"):
        notes.append(NO_CELLS)
        cells = False
    seconds = most_seconds(subject, questions, heads=len(heads(space)), cells=cells)
    if budget is not None:
        subject, seconds, note = _within(subject, seconds, budget)
        notes += note
    tell(TIME.format(items=len(subject.labels), time=in_words(seconds)))
    end = math.inf if budget is None else began + budget.seconds
    curves, first, left_out = _measured(_curves(subject, questions, cells, notes), end, tell)
    if left_out:
        notes.append(LEFT_OUT.format(titles="; ".join(left_out)))
    curves.sort(key=lambda curve: ASKED.index(curve.question))
    notes += _shown_apart(curves)
    return Robustness(
        items=len(subject.labels),
        norm=norm,
        unit=subject.inputs.unit,
        strength=subject.strength,
        curves=tuple(curves),
        guaranteed=_guaranteed(subject),
        samples=None if first is None else _samples(subject, first),
        notes=tuple(notes),
    )


def _measured(
    parts: Iterable[tuple[str, CurveOf]], end: float, tell: Callable[[str], None]
) -> tuple[list[Curve], UnderAttack | None, list[str]]:
    """The curves that can be made until the ``end``, the first attack that was made, and the titles of the
    curves that are left out. One curve is always made.
    """
    curves, left_out, longest = list[Curve](), list[str](), 0.0
    first: UnderAttack | None = None
    for title, curve_of in parts:
        begun = time.monotonic()
        # The next curve is expected to take as long as the longest one so far.
        if curves and begun + longest > end:
            left_out.append(title)
            continue
        tell(f"attacking: {title}")
        curve, result = curve_of()
        curves.append(curve)
        longest = max(longest, time.monotonic() - begun)
        first = first or result
    return curves, first, left_out


def _shown_apart(curves: Sequence[Curve]) -> list[str]:
    """A note where the short table has the heads at more than one epsilon."""
    shown = {curve.epsilons[curve.checked] for curve in curves if curve.question == "class"}
    return [APART.format(epsilons=", ".join(map(written_epsilon, sorted(shown))))] if len(shown) > 1 else []


def _guaranteed(subject: Subject) -> tuple[float, ...]:
    """The share of items whose nearest raw input is certain to be of their class, at each epsilon, first 0;
    sounds are padded with silence.
    """
    x = subject.inputs.measured(subject.inputs.x).nan_to_num(0.0)
    radii = guaranteed_radii(x, subject.labels, order=ORDERS[subject.norm])
    radii = radii / Relative(1.0).sizes(x).cpu() if subject.norm == "snr" else radii
    epsilons = (0.0, *subject.strength.epsilons)
    return tuple(float((radii > epsilon).double().mean()) for epsilon in epsilons)


def _within(subject: Subject, seconds: float, budget: Budget) -> tuple[Subject, float, list[str]]:
    """The subject with as many items and steps as fit into the budget, the seconds they take, and a note. If
    even the fewest take longer, only the middle epsilon may be left.
    """
    strength = subject.strength
    full_size = Size(len(subject.labels), strength.steps, seconds)
    size = within(full_size, budget.seconds, fewer_items=budget.fewer_items, fewer_steps=budget.fewer_steps)
    if size == full_size:
        return subject, seconds, []
    epsilons, places = strength.epsilons, at_most(full_size.items, size.items, seed=strength.seed)
    if budget.one_epsilon and size.seconds > budget.seconds:
        size = size._replace(seconds=size.seconds * (1 + CHECKS) / (len(epsilons) + CHECKS))
        epsilons = (epsilons[len(epsilons) // 2],)
    places = places.to(subject.labels.device)
    fewer = replace(
        subject,
        inputs=subject.inputs._replace(x=subject.inputs.x[places]),
        labels=subject.labels[places],
        strength=replace(strength, steps=size.steps, epsilons=epsilons),
    )
    note = FEWER.format(
        items=size.items,
        steps=size.steps,
        epsilons=counted(len(epsilons), "epsilon", "epsilons"),
        time=in_words(budget.seconds),
    )
    return fewer, size.seconds, [note]


def _curves(
    subject: Subject, questions: Sequence[Asked], cells: bool, notes: list[str]
) -> Iterator[tuple[str, CurveOf]]:
    """The name of each curve and the function that makes it: one for each question first, cells last, since
    they take longest. A note names each question that cannot be asked.
    """
    space = subject.space
    by = heads(space) if "class" in questions else []
    for head in by[:1]:
        yield f"class, {head}", partial(class_curve, subject, head)
    curves: dict[Asked, tuple[Kind, Callable[[Subject, Kind], Curve]]] = {
        "pair": (space.kind_for("pairs"), pair_curve),
        "neighbour": (space.kind_for("neighbours"), neighbour_curve),
        "enrolment": (space.kind_for("pairs"), enrolment_curve),
    }
    if set(curves) & set(questions) and int((subject.labels.bincount() > 1).sum()) < 2:
        notes.append(TOO_FEW)
        curves = {}
    for question, (kind, about) in curves.items():
        if question not in questions:
            continue
        if question != "neighbour" and kind not in space.decisions:
            notes.append(NO_THRESHOLD.format(question=question, kind=kind))
            continue
        yield f"{question}, {kind}", partial(_alone, about, subject, kind)
    for head in by[1:]:
        yield f"class, {head}", partial(class_curve, subject, head)
    for head in by if cells else []:
        yield f"class, {head} in Voronoi cells", partial(class_curve, subject, head, cells=True)


def _alone(about: Callable[[Subject, Kind], Curve], subject: Subject, kind: Kind) -> tuple[Curve, None]:
    return about(subject, kind), None


def known_items(space: MetricSpace, items: Items) -> tuple[Items, list[str]]:
    """The items whose class the space knows, and a note about the others. Raises DataError without any."""
    is_known = labels_in(space, items) >= 0
    if not is_known.any():
        raise DataError(NONE_KNOWN.format(name=items.name, classes=", ".join(items.classes[:5])))
    left_out = int((~is_known).sum())
    if not left_out:
        return items, []
    return items.take(is_known.nonzero().flatten()), [f"{left_out:,} items of unknown classes were left out"]


def subject_of(
    space: MetricSpace,
    items: Items,
    strength: Strength,
    *,
    name: str,
    norm: Norm = "linf",
    surrogate: MetricSpace | None = None,
    fixed: Sequence[str] = (),
    most: int = MOST,
) -> tuple[Subject, Items, list[str]]:
    """The subject of the attacks: ``most`` items of known classes, drawn by the seed; also these items, and
    notes.
    """
    items, notes = known_items(space, items)
    device = device_of(space)
    data = draw(items, most=max(MOST_CELLS, most), seed=strength.seed)
    everything = valid_inputs(space, data, fixed=fixed).to(device)
    places = at_most(len(data), most, seed=strength.seed)
    sample = data.take(places)
    labels = labels_in(space, sample).to(device)
    inputs = everything._replace(x=everything.x[places.to(device)])
    if norm == "snr":
        inputs = inputs._replace(unit=SHARE_UNIT)
    surrogate_name = "another space"
    if surrogate is None:
        plain = plain_encoder(items) if items.medium.padded else None
        surrogate = raw_space(inputs.x, labels, space.classes, scale=inputs.scale, encoder=plain)
        surrogate_name = items.medium.raw_input
    elif lacking := [name for name in space.classes if name not in set(surrogate.classes)]:
        raise DataError(
            "expected a surrogate that knows all classes of the space; it does not know "
            f"{', '.join(lacking[:5])}: train it on the same classes, or leave it out"
        )
    else:
        surrogate = surrogate.to(device)
    subject = Subject(space, inputs, labels, everything.x, surrogate, surrogate_name, name, norm, strength)
    return subject, sample, [*inputs.notes, *notes]


def _samples(subject: Subject, result: UnderAttack) -> Samples:
    """A few items that the attack broke, at the epsilon of the checks; others where there are too few."""
    broken = result.clean & ~result.right[result.checked]
    places = torch.cat([broken.nonzero().flatten(), (~broken).nonzero().flatten()])[:SHOWN]
    sample_places = places.to(subject.inputs.x.device)
    clean, attacked = subject.inputs.x[sample_places], result.x[result.checked][sample_places]
    return Samples(
        clean.cpu(),
        attacked.cpu(),
        subject.strength.epsilons[result.checked],
        [subject.space.classes[label] for label in subject.labels[sample_places].tolist()],
        names_given(subject.space, clean),
        names_given(subject.space, attacked),
    )


def names_given(space: MetricSpace, x: Tensor, head: Head = "similarity") -> list[str]:
    """The class that a head of a space names for each item (n, …)."""
    with asking(space):
        return space.classify(space.embed(x), head=head).classes
