"""A space brought to another domain: other rooms, microphones, cameras. Its encoder stays as it is."""

import copy
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data.drawing import at_most
from samekind.decisions import Kind
from samekind.errors import SpaceError
from samekind.inference.embed import asking, device_of
from samekind.inference.fitting import COHORT, cut_folds
from samekind.inference.trials import all_trials
from samekind.measures import equal_error_rate
from samekind.similarities import Neighbourhood, TwoCovariance
from samekind.similarities.adaptation import adapted, averaged
from samekind.space import MetricSpace

NOT_PLDA = (
    "only a fitted similarity of the form TwoCovariance (PLDA) can be adapted, and this space has {has}; fit "
    "one first, in Python: space.fitted = TwoCovariance(dimension=…, normalise=True).fit(z, labels), and "
    "save the space; or train on the new domain: samekind train --data DATA --from SPACE"
)


class Measured(NamedTuple):
    """The equal error rate of each adapted kind of score, ``before`` and ``after``, over the pairs of so many
    ``items`` of so many ``classes`` that were not adapted to.
    """

    before: dict[Kind, float]
    after: dict[Kind, float]
    items: int
    classes: int


def adapt(space: MetricSpace, z: Tensor, labels: Tensor | None = None, *, seed: int = 0) -> MetricSpace:
    """The space with scores adapted to embeddings (n, d) of another domain, with their labels (n,) or without
    any. The other parts are shared, and the given space stays as it is.

    The ``fitted`` similarity is adapted by `averaged` or `adapted`; the cohort of ``normalised`` scores
    becomes items of the new domain, which ``seed`` draws from many. What was fitted or measured on the old
    scores of these kinds is left out: thresholds, temperatures, standings. Raises SpaceError if the fitted
    similarity is not `TwoCovariance`, and DataError if there is too little to adapt to.
    """
    old = expect_two_covariance(space)
    z = z.detach().to(device_of(space))
    with asking(space):
        new = adapted(old, z) if labels is None else averaged(old, z, labels.to(z.device))
        other = copy.copy(space)
        other._modules = dict(space._modules)
        other.fitted = new
        if isinstance(space.normalised, Neighbourhood):
            cohort = z[at_most(len(z), COHORT, seed=seed).to(z.device)]
            other.normalised = space.normalised.with_cohort(cohort)
            if _same(space.normalised.similarity, old):
                other.normalised.similarity = new
    _forget(other, adapted_kinds(space))
    return other


def adapted_kinds(space: MetricSpace) -> list[Kind]:
    """The kinds of score that `adapt` changes."""
    return [kind for kind in space.kinds if kind in ("fitted", "normalised")]


def measure_adapting(
    space: MetricSpace, z: Tensor, labels: Tensor, *, groups: Tensor | None = None, seed: int = 0
) -> Measured | None:
    """The gain of `adapt` on one half of the classes of embeddings (n, d) when it gets the other half, which
    ``seed`` draws. Two items of one of the ``groups`` (n,) are not compared.

    None with fewer than four classes, or if a half has no two items of one class.
    """
    expect_two_covariance(space)
    names, places = torch.unique(labels.cpu(), return_inverse=True)
    folds = cut_folds(places, 2, seed=seed) if len(names) >= 4 else []
    if not folds:
        return None
    seen, held = folds[0]
    marks = None if groups is None else groups.cpu()[held]
    new = adapt(space, z[seen], labels[seen], seed=seed)
    before = _errors(space, z[held], labels[held], marks)
    after = _errors(new, z[held], labels[held], marks)
    if before is None or after is None:
        return None
    return Measured(before, after, len(held), len(torch.unique(labels[held])))


def _errors(space: MetricSpace, z: Tensor, labels: Tensor, groups: Tensor | None) -> dict[Kind, float] | None:
    """The equal error rate of each adapted kind over all pairs; None if they are all of one kind."""
    rates: dict[Kind, float] = {}
    for kind in adapted_kinds(space):
        trials = all_trials(space, z, labels, groups=groups, kind=kind)
        if trials.same.all() or not trials.same.any():
            return None
        rates[kind] = equal_error_rate(trials.scores, trials.same).rate
    return rates


def expect_two_covariance(space: MetricSpace) -> TwoCovariance:
    """The fitted similarity of a space. Raises SpaceError if it is not `TwoCovariance`."""
    if isinstance(space.fitted, TwoCovariance):
        return space.fitted
    has = "none" if space.fitted is None else type(space.fitted).__name__
    raise SpaceError(NOT_PLDA.format(has=has))


def _same(one: object, other: TwoCovariance) -> bool:
    """Whether a similarity is the other one, or a copy: a loaded space has two."""
    if not isinstance(one, TwoCovariance):
        return False
    state, wanted = one.state_dict(), other.state_dict()
    return state.keys() == wanted.keys() and all(torch.equal(state[name], wanted[name]) for name in state)


def _forget(space: MetricSpace, kinds: list[Kind]) -> None:
    """Leave out what was fitted or measured on the old scores of these kinds."""
    space.decisions = {kind: value for kind, value in space.decisions.items() if kind not in kinds}
    space.standings = {kind: value for kind, value in space.standings.items() if kind not in kinds}
    space.balances = {kind: value for kind, value in space.balances.items() if kind not in kinds}
    if space.open_set is not None and space.open_set.kind in kinds:
        space.open_set = None
    if space.levels is not None and space.levels.kind in kinds:
        space.levels = None
    if space.kind_for("classes") in kinds:
        space.discriminant = None
        space.temperatures = {
            head: value for head, value in space.temperatures.items() if head == "auxiliary"
        }
