"""An upper estimate of the time of attacks, from the time of one gradient, and how many attacks fit into a
time.
"""

import time
from collections.abc import Collection
from typing import NamedTuple

import torch

from samekind.attacks.untouched import untouched
from samekind.evaluation.attacked_questions import ENROLLED, Subject
from samekind.evaluation.robustness_curve import Asked

#: Items whose gradient is timed.
TIMED = 16
#: Attacks beside those at each epsilon, for the checks: a shorter one, a random one, a huge epsilon.
CHECKS = 2
#: PGD, and APGD on the items that PGD did not break.
ATTACKS = 2
#: The fewest items and steps, even if the time is too short: fewer would show nothing.
FEWEST_ITEMS, FEWEST_STEPS = 20, 10


class Size(NamedTuple):
    """How many items are attacked, with how many steps, and the seconds that takes at most."""

    items: int
    steps: int
    seconds: float


def most_seconds(
    subject: Subject, questions: Collection[Asked], *, heads: int = 1, cells: bool = False
) -> float:
    """About how many seconds all curves take if no item is done early; attacks that succeed end sooner."""
    items = len(subject.labels)
    attacked = {
        "class": items * heads * (1 + cells),
        "pair": 2 * items,
        "neighbour": items,
        "enrolment": 2 * min(ENROLLED, items),
    }
    strength = subject.strength
    rounds = ATTACKS * strength.steps * strength.restarts * (len(strength.epsilons) + CHECKS)
    return rounds * sum(attacked[question] for question in set(questions)) * _seconds_of_a_gradient(subject)


def within(size: Size, seconds: float, *, fewer_items: bool, fewer_steps: bool) -> Size:
    """The size that fits into a time: fewer items first, then fewer steps, if these may be changed.

    >>> within(Size(100, 50, 600.0), 180.0, fewer_items=True, fewer_steps=True)
    Size(items=30, steps=50, seconds=180.0)
    >>> within(Size(100, 50, 6000.0), 180.0, fewer_items=True, fewer_steps=True)
    Size(items=20, steps=10, seconds=240.0)
    """
    items, steps, _ = size
    if fewer_items and size.seconds > seconds:
        items = min(items, max(FEWEST_ITEMS, int(items * seconds / size.seconds)))
    seconds_needed = size.seconds * items / size.items
    if fewer_steps and seconds_needed > seconds:
        steps = min(steps, max(FEWEST_STEPS, int(steps * seconds / seconds_needed)))
    return Size(items, steps, seconds_needed * steps / size.steps)


def _seconds_of_a_gradient(subject: Subject) -> float:
    """The seconds of one step for one item; the second of two is timed, because the first is slower."""
    seconds = 0.0
    with untouched(subject.space):
        for _ in range(2):
            x = subject.inputs.x[:TIMED].clone().requires_grad_()
            began = time.perf_counter()
            (slope,) = torch.autograd.grad(subject.space.embed(x).sum(), x)
            float(slope.sum())  # a GPU has finished when its numbers are read
            seconds = (time.perf_counter() - began) / len(x)
    return seconds
