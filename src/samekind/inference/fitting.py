"""Similarities fitted to the embeddings of a space, their settings chosen on classes held out of the fit.

What is fitted has to hold for classes that it never saw. So the classes are cut into folds; each setting is
fitted to all folds but one and measured on that one; and the best on average is fitted to everything.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items, draw
from samekind.decisions import Kind
from samekind.errors import SettingError
from samekind.inference.embed import asking, device_of
from samekind.measures import equal_error_rate, map_at_r
from samekind.measures.ranking import relevant_counts
from samekind.pairs import has_pairs
from samekind.similarities import Neighbourhood, Similarity, TwoCovariance, WithinClass, score_all
from samekind.space import MetricSpace

#: The shrinkages that are tried.
WITHIN_CLASS = (0.3, 1.0, 3.0, 10.0, 30.0)
TWO_COVARIANCE = (0.5, 0.8, 0.95)
#: The ranks that are tried for `TwoCovariance`, each with the first two shrinkages, where classes are enough.
RANKS = (24, 48, 96)
#: Settings are chosen in so many dimensions at most, those in which the embeddings are largest.
CHOSEN_IN = 512
#: In more dimensions `TwoCovariance` without a rank takes minutes to fit, and is not tried.
MOST_FOR_TWO = 2048
#: A setting is measured on so many items of a fold at most.
MEASURED_ITEMS = 1000
#: The most items in the cohort of a normalised similarity, which is stored with the space.
COHORT = 2000
#: With fewer classes the items are cut into folds, and not the classes.
FEWEST_CLASSES = 4


class Setting(NamedTuple):
    """A form of similarity, its shrinkage and its rank."""

    form: type[WithinClass] | type[TwoCovariance]
    centre: bool
    shrinkage: float
    rank: int | None = None

    def similarity(self, dimension: int) -> WithinClass | TwoCovariance:
        """The similarity, not yet fitted."""
        if self.form is TwoCovariance:
            return TwoCovariance(
                dimension=dimension, rank=self.rank, shrinkage=self.shrinkage, normalise=True
            )
        return WithinClass(dimension=dimension, shrinkage=self.shrinkage, normalise=True, centre=self.centre)

    def within(self, dimension: int, of: int) -> "Setting":
        """The setting with the same effect in the largest of a number of dimensions.

        Without the small dimensions, the mean diagonal of a covariance is larger.
        """
        if self.form is WithinClass:
            return self._replace(shrinkage=self.shrinkage * dimension / of)
        odds = self.shrinkage / (1 - self.shrinkage) * dimension / of
        return self._replace(shrinkage=odds / (1 + odds))


class Choice(NamedTuple):
    """The setting of the fitted similarity, and the kind of score that is normalised."""

    setting: Setting
    base: Kind


class Fold(NamedTuple):
    """Rows that are fitted to, and rows that are measured."""

    fitted: Tensor
    measured: Tensor


def fit_similarities(
    space: MetricSpace,
    z: Tensor,
    labels: Tensor,
    *,
    folds: int | Tensor | Fold = 3,
    groups: Tensor | None = None,
    seed: int = 0,
    choice: Choice | None = None,
) -> Choice:
    """Give a space a ``fitted`` and a ``normalised`` similarity, from embeddings (n, d) with labels (n,), and
    return what was chosen for them.

    ``folds`` is their number, of whole classes that ``seed`` draws, or the fold (n,) of each item, such as
    one for each branch of a taxonomy. With fewer than four classes the items are cut. The merit of a setting
    is MAP@R less the equal error rate, on average over the folds. Two items of one of the ``groups`` (n,) are
    not compared. Raises DataError without two classes, one of them with two items.

    A single `Fold` is for an encoder that was trained on its fitted rows: those alone are fitted to, and the
    other classes choose. A ``choice`` made earlier is taken as it is.
    """
    z, labels = z.detach().float().to(device_of(space)), labels.cpu()
    marks = torch.arange(len(z)) if groups is None else groups.cpu()
    rows = folds.fitted if isinstance(folds, Fold) else torch.arange(len(z))
    with asking(space):
        if choice is None:
            cut = [folds] if isinstance(folds, Fold) else cut_folds(labels, folds, seed=seed)
            choice = _chosen(space, z, labels, marks, cut, seed=seed)
        z, labels = z[rows], labels[rows]
        space.fitted = choice.setting.similarity(z.shape[1]).to(z.device).fit(z, labels).eval()
        space.normalised = neighbourhood(space.scorer(choice.base), z[_drawn(labels, COHORT, seed)])
    return choice


def _chosen(
    space: MetricSpace, z: Tensor, labels: Tensor, marks: Tensor, folds: list[Fold], *, seed: int
) -> Choice:
    """The best setting and base on the measured rows of the folds."""
    fewer = _fewer_dimensions(z, seed=seed)
    setting = _best_setting(fewer, z.shape[1], labels, marks, folds, seed=seed)
    return Choice(setting, _best_base(space, setting, (z, fewer), labels, marks, folds, seed=seed))


def neighbourhood(similarity: Similarity, cohort: Tensor, *, neighbours: int = 10) -> Neighbourhood:
    """A similarity normalised by a cohort of embeddings (n, d)."""
    size, dimension = cohort.shape
    normalised = Neighbourhood(similarity, size=size, dimension=dimension, neighbours=neighbours)
    normalised.cohort = cohort.detach().clone()
    return normalised.eval()


def cut_folds(labels: Tensor, folds: int | Tensor, *, seed: int = 0) -> list[Fold]:
    """The folds of items with labels (n,): whole classes, drawn by ``seed``, or as given (n,).

    A fold without two items of one class, or without two classes, on either side is left out: there may be
    none. Raises SettingError for fewer than two folds.
    """
    if isinstance(folds, int) and folds < 2:
        raise SettingError(f"expected two folds or more, got {folds}")
    generator = torch.Generator().manual_seed(seed)
    if isinstance(folds, Tensor):
        numbers = folds.cpu()
    else:
        names, places = torch.unique(labels.cpu(), return_inverse=True)
        if len(names) >= FEWEST_CLASSES:
            folds = min(folds, len(names) // 2)
            numbers = (torch.randperm(len(names), generator=generator) % folds)[places]
        else:
            numbers = torch.randperm(len(labels), generator=generator) % folds
    cut = [
        Fold((numbers != number).nonzero().flatten(), (numbers == number).nonzero().flatten())
        for number in torch.unique(numbers).tolist()
    ]
    return [fold for fold in cut if all(has_pairs(labels[rows]) for rows in fold)]


def _settings(dimension: int, classes: int) -> list[Setting]:
    """The settings to try, for a number of classes. The first is taken if nothing can be measured."""
    within = [
        Setting(WithinClass, centre, shrinkage) for centre in (False, True) for shrinkage in WITHIN_CLASS
    ]
    within.sort(key=lambda setting: setting.shrinkage != 3)
    ranks = [rank for rank in RANKS if rank < classes and 2 * rank <= min(dimension, CHOSEN_IN)]
    two = [Setting(TwoCovariance, True, shrinkage) for shrinkage in TWO_COVARIANCE]
    ranked = [setting._replace(rank=rank) for rank in ranks for setting in two[:2]]
    return within + (two if dimension <= MOST_FOR_TWO else []) + ranked


def _best_setting(
    z: Tensor, dimension: int, labels: Tensor, marks: Tensor, folds: list[Fold], *, seed: int
) -> Setting:
    """The setting for ``dimension`` dimensions, chosen in those of z (n, fewer)."""
    fewest = min((len(torch.unique(labels[fold.fitted])) for fold in folds), default=0)
    settings = _settings(dimension, fewest)
    merits = torch.zeros(len(settings), dtype=torch.float64)
    for fold in folds:
        rows = fold.measured[_drawn(labels[fold.measured], MEASURED_ITEMS, seed)]
        seen = z[fold.fitted], labels[fold.fitted]
        for place, similarity in enumerate(_all_fitted(settings, dimension, *seen)):
            merits[place] += _merit(similarity, z[rows], labels[rows], marks[rows])
    return settings[int(merits.argmax())]


def _all_fitted(
    settings: list[Setting], dimension: int, z: Tensor, labels: Tensor
) -> Iterator[WithinClass | TwoCovariance]:
    """Each setting fitted to embeddings in fewer dimensions; what they share is computed once."""
    last, statistics = None, None
    for setting in settings:
        fewer = setting.within(z.shape[1], dimension)
        similarity = fewer.similarity(z.shape[1]).to(z.device)
        if last is None or statistics is None or setting.rank or type(last) is not type(similarity):
            last, statistics = similarity, similarity.observe(z, labels)
        similarity.mean = last.mean
        yield similarity.estimate(statistics)


def _best_base(
    space: MetricSpace,
    setting: Setting,
    embeddings: tuple[Tensor, Tensor],
    labels: Tensor,
    marks: Tensor,
    folds: list[Fold],
    *,
    seed: int,
) -> Kind:
    """The kind of score that is best normalised. ``embeddings`` are whole (n, d), and in fewer dimensions."""
    z, fewer = embeddings
    kinds: list[Kind] = [kind for kind in space.kinds if kind in ("similarity", "cosine")]
    kinds.append("fitted")
    merits = dict.fromkeys(kinds, 0.0)
    for fold in folds:
        rows = fold.measured[_drawn(labels[fold.measured], MEASURED_ITEMS, seed)]
        cohort = fold.fitted[_drawn(labels[fold.fitted], MEASURED_ITEMS, seed)]
        for kind in kinds:
            vectors = fewer if kind == "fitted" else z
            similarity: Similarity
            if kind == "fitted":
                form = setting.within(fewer.shape[1], z.shape[1]).similarity(fewer.shape[1]).to(z.device)
                similarity = form.fit(fewer[fold.fitted], labels[fold.fitted])
            else:
                similarity = space.scorer(kind)
            normalised = neighbourhood(similarity, vectors[cohort])
            merits[kind] += _merit(normalised, vectors[rows], labels[rows], marks[rows])
    return max(kinds, key=lambda kind: merits[kind])


def _merit(similarity: Similarity, z: Tensor, labels: Tensor, marks: Tensor) -> float:
    """MAP@R less the equal error rate of all pairs of two marks."""
    scores = score_all(similarity, z, z).float().cpu()
    apart = marks[:, None] != marks
    first, second = torch.triu_indices(len(z), len(z), offset=1)
    pairs = apart[first, second]
    same = (labels[first] == labels[second])[pairs]
    if same.all() or not same.any():
        return 0.0
    errors = equal_error_rate(scores[first, second][pairs], same).rate
    relevant = relevant_counts(labels, gallery=labels, apart=(marks, marks))
    nearest = scores.masked_fill(~apart, -torch.inf).topk(int(relevant.max()), dim=1).indices
    queries = relevant > 0
    return map_at_r(labels[nearest][queries], labels[queries], relevant=relevant[queries]) - errors


def _drawn(labels: Tensor, most: int, seed: int) -> Tensor:
    """The rows of at most so many items, as many of one class as of another."""
    names, places = torch.unique(labels, return_inverse=True)
    rows = Items(torch.arange(len(labels))[:, None].float(), places, tuple(map(str, names.tolist())), "items")
    chosen = draw(rows, most=most, seed=seed).inputs
    assert isinstance(chosen, Tensor)
    return chosen[:, 0].long()


def _fewer_dimensions(z: Tensor, *, seed: int) -> Tensor:
    """Embeddings (n, d) along the directions in which they are largest, as many as settings are chosen in."""
    if z.shape[1] <= CHOSEN_IN:
        return z
    with torch.random.fork_rng(devices=[z.device] if z.device.type == "cuda" else []):
        torch.manual_seed(seed)
        _, _, directions = torch.svd_lowrank(z, q=min(CHOSEN_IN, len(z)), niter=1)
    return z @ directions
