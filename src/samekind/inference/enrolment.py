"""Enrolments of several items: sets against items.

The trials of Monteiro et al., "An end-to-end approach for the verification problem: learning the right
distance", ICML 2020: an enrolment is a small set of items of one class.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import DataError, SettingError, nearest
from samekind.inference.embed import asking, device_of
from samekind.space import MetricSpace

Combination = Literal["embedding", "mean", "median", "max", "min"]
COMBINATIONS: tuple[str, ...] = get_args(Combination)


def enrolment_scores(
    space: MetricSpace,
    enrolled: Sequence[Tensor],
    tests: Tensor,
    *,
    combination: Combination = "embedding",
    kind: Kind | None = None,
) -> Tensor:
    """The scores of every enrolled set and every test item: sets of (k, d), (m, d) -> (sets, m), on the CPU.

    ``embedding`` scores the mean embedding of a set, not normalised, by a similarity that may know how many
    items that is the mean of; ``mean``, ``median``, ``max`` and
    ``min`` combine the scores of its items. The set is the first argument of the similarity. Raises
    DataError for an empty set.
    """
    kind = kind or space.kind_for("pairs")
    if combination not in COMBINATIONS:
        raise SettingError(f'there is no combination "{combination}"; {nearest(combination, COMBINATIONS)}')
    sizes = [len(members) for members in enrolled]
    if not all(sizes):
        raise DataError(
            f"every enrolment needs at least one item; number {sizes.index(0) + 1} of {len(sizes)} has none"
        )
    if not sizes:
        return torch.empty(0, len(tests))
    device = device_of(space)
    tests = tests.to(device)
    if combination == "embedding":
        first = torch.stack([members.to(device).mean(0) for members in enrolled])
    else:
        first = torch.cat([members.to(device) for members in enrolled])
    with asking(space):
        if combination == "embedding":
            counts = torch.tensor(sizes, device=device)
            return space.score_enrolled(first, tests, counts, kind=kind).float().cpu()
        scores = space.score_all(first, tests, kind=kind).float().cpu()
    return torch.stack([_combined(rows, combination) for rows in torch.split(scores, sizes)])


def listed_scores(
    space: MetricSpace,
    z: Tensor,
    sets: Sequence[Sequence[int]],
    first: Tensor,
    second: Tensor,
    *,
    combination: Combination = "embedding",
    kind: Kind | None = None,
) -> Tensor:
    """The scores of listed trials: set ``first[i]`` of the embeddings ``z`` (n, d) against item
    ``second[i]``; (trials,), (trials,) -> (trials,), on the CPU.

    A set is a list of item indices. Only the listed trials are scored, set by set.
    """
    scores = torch.empty(len(first))
    order = first.argsort(stable=True)
    counts = torch.bincount(first, minlength=len(sets)).tolist()
    for members, trials in zip(sets, torch.split(order, counts), strict=True):
        if len(trials):
            scores[trials] = enrolment_scores(
                space, [z[list(members)]], z[second[trials]], combination=combination, kind=kind
            )[0]
    return scores


def _combined(scores: Tensor, combination: Combination) -> Tensor:
    """One score of a set from those of its items: (k, m) -> (m,)."""
    match combination:
        case "mean":
            return scores.mean(0)
        case "max":
            return scores.amax(0)
        case "min":
            return scores.amin(0)
    return scores.quantile(0.5, dim=0)
