"""Robustness: what remains right when an attacker may change the items.

An attack can show that an item can be broken, never that it cannot. So an adversarial accuracy is an upper
bound, and only as good as the attack. An item that a weaker attack broke stays broken for a stronger one
(`worst_so_far`, `worst_scores`), because a larger epsilon includes the smaller one. Intervals assume
independent items.

Kim, "On the Significance of Distance in Machine Learning", 2023, paper III.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.measures.intervals import Interval, proportion_interval

#: Levels of a pixel: the unit in which epsilons of pictures are usually given.
LEVELS = 255


def worst_so_far(right: Tensor) -> Tensor:
    """Which items are right against an attack and all weaker ones: (runs, items) -> (runs, items), the
    weakest run first.

    >>> worst_so_far(torch.tensor([[True, False], [False, True]])).tolist()
    [[True, False], [False, False]]
    """
    return _checked(right, dimensions=2).to(torch.uint8).cummin(0).values.bool()


def worst_scores(scores: Tensor, same: Tensor) -> Tensor:
    """The scores that hurt most in a run and all weaker ones: (runs, trials) -> (runs, trials). Those of
    ``same`` (trials,) are the lowest, the others the highest.

    >>> worst_scores(torch.tensor([[1.0, 1.0], [2.0, 2.0]]), torch.tensor([True, False])).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """
    if scores.ndim != 2 or not len(scores) or same.shape != scores.shape[1:]:
        raise ValueError(
            "expected scores (runs, trials), one run at least, and same (trials,); got "
            f"{tuple(scores.shape)} and {tuple(same.shape)}"
        )
    return torch.where(same.bool(), scores.cummin(0).values, scores.cummax(0).values)


def adversarial_accuracy(right: Tensor) -> Interval:
    """The share of items (n,) that are right against an attack. In balls this is the standard measure, in
    balls cut with the Voronoi cells of the items the Voronoi-epsilon one, without a limit to epsilon global
    robustness.

    >>> adversarial_accuracy(torch.tensor([True, True, False, False])).mean
    0.5
    """
    checked = _checked(right, dimensions=1)
    return proportion_interval(int(checked.sum()), len(checked))


def accuracy_within(broken_at: Tensor, *, epsilons: Sequence[float]) -> tuple[Interval, ...]:
    """The adversarial accuracy at every epsilon from the least perturbation that is known to break each item
    (n,): 0 if it is wrong as it is, infinite if none is known.

    >>> [at.mean for at in accuracy_within(torch.tensor([0.0, 0.5, torch.inf]), epsilons=(0.1, 1.0))]
    [0.6666666666666666, 0.3333333333333333]
    """
    if broken_at.isnan().any() or (broken_at < 0).any():
        raise ValueError("expected distances of 0 or more, got negative ones or NaN")
    return tuple(adversarial_accuracy(broken_at > epsilon) for epsilon in epsilons)


def attack_success(right: Tensor, right_after: Tensor) -> Interval:
    """Of what was ``right`` before an attack (n,), the share that is not ``right_after`` it.

    >>> attack_success(torch.tensor([True, True, False]), torch.tensor([True, False, False])).mean
    0.5
    """
    _checked(right, dimensions=1)
    if right_after.shape != right.shape:
        raise ValueError(
            f"expected as many after as before, got {tuple(right_after.shape)} and {tuple(right.shape)}"
        )
    if not right.any():
        raise ValueError("expected at least one that was right before the attack, got none")
    return proportion_interval(int((right & ~right_after).sum()), int(right.sum()))


def written_epsilon(epsilon: float) -> str:
    """An epsilon as it is usually written: in levels of a pixel where it is a whole number of them.

    >>> written_epsilon(8 / 255), written_epsilon(0.3), written_epsilon(1.0)
    ('8/255', '0.3', '1')
    """
    text, levels = f"{epsilon:.4g}", epsilon * LEVELS
    if float(text) == epsilon or abs(levels - round(levels)) > 1e-6 or not 0 < levels < LEVELS:
        return text
    return f"{round(levels)}/{LEVELS}"


def _checked(right: Tensor, *, dimensions: int) -> Tensor:
    if right.dtype != torch.bool or right.ndim != dimensions or not right.numel():
        expected = "(items,)" if dimensions == 1 else "(runs, items)"
        raise ValueError(
            f"expected whether items are right, bool of shape {expected}, one at least; "
            f"got {right.dtype} of {tuple(right.shape)}"
        )
    return right
