"""The scores of trials normalised with a cohort: items of other classes, or the items themselves.

Each side of a trial is scored against the cohort in its own place: the enrolment as first argument of the
similarity, the tested item as second. `with_cohort` gives a space whose normalised scores have another
cohort, for pairs and for search.
"""

import copy
from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import DataError, SettingError, nearest
from samekind.inference.embed import asking, device_of
from samekind.inference.enrolment import Combination, enrolment_scores, listed_scores
from samekind.inference.fitting import neighbourhood
from samekind.inference.trials import Trials, all_trials
from samekind.measures import as_norm, mean_norm, s_norm
from samekind.similarities import Neighbourhood
from samekind.space import MetricSpace

CohortNorm = Literal["as", "s", "mean"]
COHORT_NORMS: tuple[str, ...] = get_args(CohortNorm)
#: How many of the closest are used: a few hundred have a deviation, ten are a neighbourhood.
TOP: dict[CohortNorm, int] = {"as": 200, "s": 200, "mean": 10}


def cohort_scores(
    space: MetricSpace,
    z: Tensor,
    cohort: Tensor,
    *,
    kind: Kind | None = None,
    side: Literal["first", "second"] = "first",
) -> Tensor:
    """The scores of every item and every cohort item: (n, d), (c, d) -> (n, c), on the CPU.

    ``side`` is the place of the items in the similarity; the cohort has the other.
    """
    kind = kind or space.kind_for("pairs")
    device = device_of(space)
    pair = (z.to(device), cohort.to(device))
    one, other = pair if side == "first" else pair[::-1]
    with asking(space):
        scores = space.score_all(one, other, kind=kind).float().cpu()
    return scores if side == "first" else scores.T


def with_cohort(
    space: MetricSpace, z: Tensor, *, kind: Kind | None = None, neighbours: int = TOP["mean"]
) -> MetricSpace:
    """The space with normalised scores by another cohort, embeddings (n, d): such as the gallery that is
    searched, which needs no labels. The parts are shared, and the given space stays as it is.

    ``kind`` is the kind of score to normalise; None takes what was normalised before or, if nothing was, the
    space's choice for pairs. The old threshold of normalised scores is left out: it was for the old cohort.
    """
    z = z.to(device_of(space))
    if kind is None and isinstance(space.normalised, Neighbourhood):
        normalised = space.normalised.with_cohort(z)
    else:
        normalised = neighbourhood(space.scorer(kind or space.kind_for("pairs")), z, neighbours=neighbours)
    other = copy.copy(space)
    other._modules = dict(space._modules)
    other.normalised = normalised
    other.decisions = {name: decision for name, decision in space.decisions.items() if name != "normalised"}
    return other


def normalised_trials(
    space: MetricSpace,
    z: Tensor,
    labels: Tensor,
    cohort: Tensor | None,
    *,
    groups: Tensor | None = None,
    kind: Kind | None = None,
    form: CohortNorm = "as",
    top: int | None = None,
) -> Trials:
    """`all_trials` with normalised scores: (n, d), (n,), cohort (c, d) -> n (n - 1) / 2 trials; with
    ``groups`` (n,) only those of two groups.

    ``form`` is ``"s"`` for `s_norm` with the whole cohort, ``"as"`` for `as_norm` with its ``top`` closest
    items (None: 200), or all of a smaller cohort, ``"mean"`` for `mean_norm` with those (None: 10). A cohort
    of None are the items themselves, for each of them without itself.
    """
    kind = kind or space.kind_for("pairs")
    strangers = z if cohort is None else cohort
    top = _checked_top(strangers, form, top)
    # Item numbers in place of classes: the trials then say which items they are of.
    numbers = torch.arange(len(z))
    trials = all_trials(space, z, numbers, groups=groups, kind=kind)
    first = cohort_scores(space, z, strangers, kind=kind)
    second = first
    if not space.scorer(kind).symmetric:
        second = cohort_scores(space, z, strangers, kind=kind, side="second")
    if cohort is None:
        first, second = _without_itself(first), _without_itself(second)
    scores = _normalised(trials.scores, (first, trials.first), (second, trials.second), form, top)
    classes = labels.cpu().int()
    one, other = classes[trials.first], classes[trials.second]
    return Trials(scores, one == other, one, other)


def normalised_listed_scores(
    space: MetricSpace,
    z: Tensor,
    sets: Sequence[Sequence[int]],
    first: Tensor,
    second: Tensor,
    cohort: Tensor,
    *,
    combination: Combination = "embedding",
    kind: Kind | None = None,
    form: CohortNorm = "as",
    top: int | None = None,
) -> Tensor:
    """`listed_scores`, normalised: (trials,), on the CPU.

    A set is scored against the cohort by the same ``combination`` as in its trials; against an item, every
    cohort item is a set of one. ``form`` and ``top`` as in `normalised_trials`.
    """
    kind = kind or space.kind_for("pairs")
    top = _checked_top(cohort, form, top)
    scores = listed_scores(space, z, sets, first, second, combination=combination, kind=kind)
    enrolled = enrolment_scores(
        space, [z[list(members)] for members in sets], cohort, combination=combination, kind=kind
    )
    tested, rows = torch.unique(second, return_inverse=True)
    items = cohort_scores(space, z[tested], cohort, kind=kind, side="second")
    return _normalised(scores, (enrolled, first), (items, rows), form, top)


def _normalised(
    scores: Tensor, first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor], form: CohortNorm, top: int
) -> Tensor:
    """Scores normalised by the cohort scores of each side, and the rows of these that the trials use."""
    (one, first_rows), (other, second_rows) = first, second
    try:
        if form == "s":
            normalised = s_norm(scores, one, other, first_rows=first_rows, second_rows=second_rows)
        else:
            norm = as_norm if form == "as" else mean_norm
            top = min(top, one.shape[1])
            normalised = norm(scores, one, other, top=top, first_rows=first_rows, second_rows=second_rows)
    except ValueError as error:
        raise DataError(f"the scores cannot be normalised with this cohort: {error}") from error
    return normalised.float()


def _without_itself(scores: Tensor) -> Tensor:
    """The scores (n, n) of items and themselves without the diagonal: (n, n - 1)."""
    count = len(scores)
    return scores.flatten()[1:].view(count - 1, count + 1)[:, :-1].reshape(count, count - 1)


def _checked_top(cohort: Tensor, form: CohortNorm, top: int | None) -> int:
    """How many of the closest are used. Raises SettingError or DataError for what cannot be."""
    if form not in COHORT_NORMS:
        raise SettingError(f'there is no normalisation "{form}"; {nearest(form, COHORT_NORMS)}')
    top = TOP[form] if top is None else top
    if top < 2:
        raise SettingError(f"expected a top of at least 2 cohort items, got {top}")
    if len(cohort) < 2:
        raise DataError(f"expected a cohort of at least two items, better hundreds; got {len(cohort)}")
    return top
