"""Is an attack strong enough for its result to be a measure of robustness?

An attack that gives up early makes any space look robust. With a sound attack, more steps or a larger epsilon
never help the defender. Examples made for another model, or drawn at random, do not break more than the
attack. An attack without a limit breaks nearly everything. If one of these fails, by more than its interval,
the result says "not a measure of robustness".

Carlini et al., "On Evaluating Adversarial Robustness", 2019; Athalye, Carlini and Wagner, "Obfuscated
Gradients Give a False Sense of Security", ICML 2018.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.measures import paired_bootstrap_mean
from samekind.measures.robustness import adversarial_accuracy

#: What stands beside a number that failed a check.
NOT_A_MEASURE = "not a measure of robustness"

#: The share of items that an attack without a limit must break at least.
BROKEN_AT_LAST = 0.95


class Check(NamedTuple):
    """One thing that a sound attack does: whether this one does, and the figures."""

    name: str
    passed: bool
    sentence: str


class Soundness(NamedTuple):
    """The checks of a result."""

    checks: tuple[Check, ...]

    @property
    def is_sound(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def note(self) -> str:
        """The note beside the number: empty, or `NOT_A_MEASURE` and the checks that failed."""
        failed = ", ".join(check.name for check in self.checks if not check.passed)
        return f"{NOT_A_MEASURE} ({failed})" if failed else ""

    def to_json(self) -> dict[str, object]:
        return {"is sound": self.is_sound, "checks": [check._asdict() for check in self.checks]}


def steps_check(right: Sequence[tuple[int, Tensor]], *, seed: int = 0) -> Check:
    """More steps never help the defender: which items (n,) are right after each number of steps, fewest
    first, each as the run left them.
    """
    runs = [(f"{steps} steps", values) for steps, values in right]
    return _never_rises("more steps", runs, seed=seed)


def epsilons_check(right: Sequence[tuple[str, Tensor]], *, seed: int = 0) -> Check:
    """A larger epsilon never helps the defender: the same by written epsilon, the smallest first."""
    return _never_rises(
        "larger epsilon",
        [(f"epsilon {name}" if not place else name, values) for place, (name, values) in enumerate(right)],
        seed=seed,
    )


def transfer_check(attack: Tensor, transfer: Tensor, *, source: str, seed: int = 0) -> Check:
    """Examples made for another model, the ``source``, break no more than those made for this one."""
    runs = [(f"examples made for {source}", transfer), ("the attack", attack)]
    return _never_rises("transfer", runs, seed=seed)


def random_check(attack: Tensor, drawn: Tensor, *, seed: int = 0) -> Check:
    """Examples drawn at random break no more than the attack."""
    return _never_rises("random search", [("random search", drawn), ("the attack", attack)], seed=seed)


def unlimited_check(right: Tensor, *, epsilon: str) -> Check:
    """With a huge epsilon the attack breaks nearly all items."""
    accuracy, low, _ = adversarial_accuracy(right)
    return Check("huge epsilon", low <= 1 - BROKEN_AT_LAST, f"right: epsilon {epsilon} {_share(accuracy)}")


def _never_rises(name: str, right: Sequence[tuple[str, Tensor]], *, seed: int) -> Check:
    """No run leaves more items right than a weaker one before it, beyond the paired interval."""
    shares = ", ".join(f"{title} {_share(float(values.double().mean()))}" for title, values in right)
    risen = any(
        _exceeds(stronger, weaker, seed=seed)
        for place, (_, stronger) in enumerate(right)
        for _, weaker in right[:place]
    )
    return Check(name, not risen, f"right: {shares}")


def _exceeds(stronger: Tensor, weaker: Tensor, *, seed: int) -> bool:
    """Whether surely more items are right against the attack that should be the stronger."""
    strong, weak = stronger.double().cpu(), weaker.double().cpu()
    if len(strong) < 2 or torch.equal(strong, weak) or strong.mean() <= weak.mean():
        return False
    return paired_bootstrap_mean(strong, weak, seed=seed).interval.low > 0


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"
