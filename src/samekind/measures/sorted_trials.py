"""Trials checked and sorted: what every measure of verification starts from.

The two kinds are sorted apart, scores alone: that takes a fraction of the time and memory of sorting all
trials together with their kinds, and every count is then a search.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from samekind.measures.checks import check_boolean, check_finite, check_trials

#: Scores searched for at a time, so that the places found take little memory.
CHUNK = 2**19


class Levels(NamedTuple):
    """The distinct scores, rising, and how many trials of each kind have them: all (levels,)."""

    scores: Tensor
    targets: Tensor
    impostors: Tensor


class SortedTrials(NamedTuple):
    """The scores of the trials of one class and of those of two, each rising."""

    targets: Tensor  # (targets,)
    impostors: Tensor  # (impostors,)

    def accepted(self, thresholds: Tensor) -> tuple[Tensor, Tensor]:
        """How many trials of each kind score at least as much: (n,) -> two of (n,), int64."""
        return (
            len(self.targets) - torch.searchsorted(self.targets, thresholds),
            len(self.impostors) - torch.searchsorted(self.impostors, thresholds),
        )

    def levels(self) -> Levels:
        """The distinct scores and the trials at each of them."""
        scores = torch.unique_consecutive(sort_values(torch.cat([self.targets, self.impostors])))
        targets, impostors = (torch.searchsorted(rising, scores, right=True) for rising in self)
        nothing = torch.zeros_like(targets[:1])
        return Levels(scores, targets.diff(prepend=nothing), impostors.diff(prepend=nothing))


def checked(scores: Tensor, same: Tensor) -> tuple[Tensor, Tensor]:
    """The trials without gradient, their scores as floats; ValueError if they are not valid trials."""
    check_trials(scores, same)
    check_both_answers(same)
    check_finite(scores, "scores")
    scores = scores.detach()
    return (scores if scores.is_floating_point() else scores.double()), same


def check_both_answers(same: Tensor) -> None:
    """Raise ValueError unless there are trials of both kinds."""
    check_boolean(same)
    targets = int(same.sum())
    if targets == 0 or targets == len(same):
        counts = f"{targets} same and {len(same) - targets} different"
        raise ValueError(f"expected trials of both kinds, got {counts}")


def sort_trials(scores: Tensor, same: Tensor) -> SortedTrials:
    """Checked trials, each kind sorted."""
    scores, same = checked(scores, same)
    if scores.dtype in (torch.float16, torch.bfloat16):
        scores = scores.float()  # exact, and both libraries can sort it
    if scores.device.type != "cpu":
        return SortedTrials(sort_values(scores[same]), sort_values(scores[~same]))
    # torch selects by way of an index of eight bytes a trial; numpy needs none.
    values, truth = scores.numpy(), same.numpy()
    return SortedTrials(
        sort_values(torch.from_numpy(values[truth])), sort_values(torch.from_numpy(values[~truth]))
    )


def doubled_wins(trials: SortedTrials) -> int:
    """Twice the pairs in which a target outscores an impostor, plus the tied pairs: a whole number."""
    targets, impostors = len(trials.targets), len(trials.impostors)
    fewer, more = trials if targets <= impostors else reversed(trials)
    # For each of the fewer, twice those below it and once those tied.
    below = 0
    for chunk in torch.split(fewer, CHUNK):
        below += int(torch.searchsorted(more, chunk).sum())
        below += int(torch.searchsorted(more, chunk, right=True).sum())
    return below if targets <= impostors else 2 * targets * impostors - below


def sort_values(values: Tensor) -> Tensor:
    """The values, rising; on a CPU in place."""
    if values.device.type != "cpu":
        return values.sort().values
    # numpy sorts plain numbers several times as fast as torch, which always sorts their places as well.
    numbers: np.ndarray = values.numpy()
    numbers.sort()
    return values
