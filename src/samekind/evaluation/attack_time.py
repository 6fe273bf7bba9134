"""How long attacks on a space take at most, from a gradient that changes nothing."""

import time
from collections.abc import Collection

import torch

from samekind.attacks.untouched import untouched
from samekind.evaluation.attacked_questions import ENROLLED, Subject
from samekind.evaluation.robustness_curve import Asked

#: Items whose gradient is timed.
TIMED = 16
#: Attacks beside those at each epsilon, for the checks: a shorter one, a random one, a huge epsilon.
CHECKS = 2
#: PGD, and APGD on what it left right.
ATTACKS = 2


def most_seconds(
    subject: Subject, questions: Collection[Asked], *, heads: int = 1, cells: bool = False
) -> float:
    """About how many seconds all curves take if no item is done early; attacks that succeed end sooner."""
    items = len(subject.labels)
    attacked = {
        "class": items * (heads + cells),
        "pair": 2 * items,
        "neighbour": items,
        "enrolment": 2 * min(ENROLLED, items),
    }
    strength = subject.strength
    rounds = ATTACKS * strength.steps * strength.restarts * (len(strength.epsilons) + CHECKS)
    return rounds * sum(attacked[question] for question in set(questions)) * _seconds_of_a_gradient(subject)


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
