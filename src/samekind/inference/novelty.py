"""How new is an item? A number for each, higher means newer, from the classes or from known items."""

from typing import Literal

import torch
from torch import Tensor

from samekind.data.drawing import at_most
from samekind.decisions import Kind
from samekind.errors import DataError, SettingError, SpaceError
from samekind.inference.axioms import score_distances
from samekind.inference.embed import asking, device_of, expect_finite
from samekind.inference.kernels import Spectrum, Symmetrise, kernel_matrix, semidefinite
from samekind.inference.search import search
from samekind.prototypes import pool
from samekind.similarities import score_all
from samekind.space import MetricSpace

#: The neighbour whose distance is the width of the Gaussian kernel: enough for a stable width within a class.
NEAREST = 10


def prototype_novelty(space: MetricSpace, z: Tensor, *, kind: Kind | None = None) -> Tensor:
    """Minus the score of the best class: embeddings (n, d) -> (n,). Needs no known items."""
    kind = kind or space.kind_for("classes")
    if not space.classes:
        raise SpaceError("this space knows no class yet; enrol one, or give items that are known")
    vectors = space.prototypes.vectors
    with asking(space):
        scores = score_all(space.scorer(kind), vectors.flatten(0, 1), z.to(device_of(space)))
        by_class = scores.T.reshape(len(z), *vectors.shape[:2])
        pooled = pool(by_class, space.prototypes.pooling, temperature=space.prototypes.temperature)
        return -pooled.amax(1).float().cpu()


def neighbour_novelty(
    space: MetricSpace, z: Tensor, known: Tensor, *, kind: Kind | None = None, neighbours: int = 1
) -> Tensor:
    """Minus the mean score of the most similar known items (m, d): embeddings (n, d) -> (n,).

    The item is the query, the first argument of the similarity.
    """
    return -search(space, z, known, k=neighbours, kind=kind).scores.mean(1)


def one_class_novelty(
    space: MetricSpace,
    z: Tensor,
    known: Tensor,
    *,
    kind: Kind | None = None,
    form: Literal["gaussian", "score"] = "gaussian",
    symmetrise: Symmetrise = "max",
    spectrum: Spectrum = "clip",
    outliers: float = 0.1,
    most_items: int = 2000,
    seed: int = 0,
) -> Tensor:
    """How far outside the region of the known items (m, d) each item (n, d) lies: above 0 is outside.

    A one-class support vector machine on the similarity as a kernel. With ``"gaussian"`` it is exp(-D² /
    2w²) of the distances of `score_distances`, w the median distance of the tenth nearest known item. With
    ``"score"`` it is the score itself, which suits known items of one kind: the region is a half-space, and
    an item between several known classes lies deeper inside than their own. ``outliers`` (ν) is at least
    the share of known items outside, and at most the share of support vectors. The kernel of all known
    items is held, so at most ``most_items`` are drawn by the ``seed``. Schölkopf et al., "Estimating the
    Support of a High-Dimensional Distribution", 2001.
    """
    kind = kind or space.kind_for("neighbours")
    if form not in ("gaussian", "score"):
        raise SettingError(f'the kernel is of the form "gaussian" or "score"; got "{form}"')
    if not 0 < outliers <= 1:
        raise SettingError(f"the share of outliers is above 0 and at most 1; got {outliers}")
    if len(known) < 2:
        raise DataError(f"a one-class machine needs two known items or more; got {len(known)}")
    from sklearn.svm import OneClassSVM

    if len(known) > most_items:
        known = known[at_most(len(known), most_items, seed=seed)]
    if not len(z):
        return torch.empty(0)
    own = kernel_matrix(space, known, kind=kind, symmetrise=symmetrise)
    across = kernel_matrix(space, z, known, kind=kind, symmetrise=symmetrise)
    if form == "gaussian":
        own, across = (score_distances(scores, space.scorer(kind).quantity) for scores in (own, across))
        width = _width(own)
        own, across = ((-(distances / width).square() / 2).exp() for distances in (own, across))
    kernel = semidefinite(own, spectrum)
    machine = OneClassSVM(kernel="precomputed", nu=outliers).fit(kernel.values.numpy())
    expect_finite(across)
    return -torch.from_numpy(machine.decision_function(kernel.carry_over(across).numpy())).float()


def _width(distances: Tensor) -> float:
    """The median over items of the distance to the tenth nearest other item, from (n, n); never 0."""
    others = distances.clone().fill_diagonal_(torch.inf).sort(1).values[:, : len(distances) - 1]
    width = float(others[:, : min(NEAREST, others.shape[1])][:, -1].median())
    if width > 0:
        return width
    apart = others[others > 0]  # most items are copies of each other
    return float(apart.min()) if len(apart) else 1.0
