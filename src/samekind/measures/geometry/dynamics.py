"""Training dynamics: what one step did to the embeddings, beyond making them larger or smaller.

Embeddings of the same items before and after a step of training are ``old`` and ``new``, (n, d). A step that
only rescales the space changes no answer, so the rescaling is measured (alpha) and divided out. The sources
take both in training mode, at the last episode of every checkpoint, over support and query items:
`step_dynamics` has all four numbers of a step, and `training.extras.dynamics` records them in a run.

Kim, "On the Significance of Distance in Machine Learning", 2023, paper II (distance-ratio-based formulation).
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from samekind.measures.geometry.features import check_classes, check_features

#: Under the square root of a distance, as the source trains with it: a query on its prototype stays finite.
EPSILON = 1e-10


#: What `step_dynamics` returns, in its order.
DYNAMICS = ("norm_ratio", "con_alpha", "div_alpha", "con_div")

#: The side of 1 on which a step did what it should: items came nearer to their class, left the others, and
#: the first more than the second. A norm ratio has no such side.
PROPER: dict[str, Literal["below 1", "above 1"] | None] = {
    "norm_ratio": None,
    "con_alpha": "below 1",
    "div_alpha": "above 1",
    "con_div": "below 1",
}


class Rescaling(NamedTuple):
    """The best factor from old to new embeddings, and the share of the change it does not explain."""

    alpha: float
    norm_ratio: float


class CheckpointComparison(NamedTuple):
    """Two systems over their checkpoints; the p-values are two-sided. What is about proper cases is None for
    a factor that has none.
    """

    first_mean: float  # geometric
    second_mean: float
    first_proper: float | None  # share of checkpoints
    second_proper: float | None
    mann_whitney: float
    fisher: float | None


def rescaling(old: Tensor, new: Tensor) -> Rescaling:
    """How much of a change is plain rescaling, once each set is centred on its average point.

    ``alpha`` = <old, new> / ||old||². ``norm_ratio`` = ||new - alpha old|| / ||new - old||, which is the sine
    of the angle between the change and the old embeddings: 0 for a rescaling, 1 for a change at a right
    angle. It is NaN if nothing changed. Both are NaN if the old embeddings are one point.

    >>> rescaling(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]), torch.tensor([[2.0, 0.0], [-2.0, 0.0]]))
    Rescaling(alpha=2.0, norm_ratio=0.0)
    """
    return Rescaling(*(float(value) for value in _rescaling(*_pair(old, new))))


def step_dynamics(
    old: Tensor,
    new: Tensor,
    labels: Tensor,
    support: Tensor,
    *,
    episodes: Tensor | None = None,
    nearest: bool = False,
) -> Tensor:
    """`DYNAMICS` of one training step (4,), in float64 on the device of the embeddings, which need not wait.

    ``support`` (n,) marks the items whose mean is the prototype of their class; all others are queries. With
    ``nearest`` every support item is a prototype, and the one of a class that was nearest before the step
    counts both times. ``episodes`` (n,) says which task an item belongs to: queries meet the classes of their
    own task. ``labels`` are any whole numbers.

    The norm ratio and alpha are of all items (see `rescaling`), the rest of the queries. The distance to a
    prototype after the step over that before is a factor. ``con_alpha`` is its geometric mean over own
    classes and ``div_alpha`` over all others, each over alpha; ``con_div`` is the first over the second. A
    number is NaN where it is undefined, as without a query or with an alpha that is not above 0.

    >>> old, new = torch.tensor([[0.0], [1.0], [5.0], [4.0]]), torch.tensor([[0.0], [0.5], [5.0], [4.5]])
    >>> labels, support = torch.tensor([0, 0, 1, 1]), torch.tensor([True, False, True, False])
    >>> [round(value, 4) for value in step_dynamics(old, new, labels, support).tolist()]
    [0.8575, 0.4595, 1.0338, 0.4444]
    """
    _check_step(old, new, labels, support, episodes)
    before, after = old.detach().double(), new.detach().double()
    alpha, norm_ratio = _rescaling(before, after)
    together = torch.ones_like(labels) if episodes is None else episodes
    task = together[:, None] == together
    same = (labels[:, None] == labels) & task
    of_class = (same & support).double()  # (n, n): the support items of the class of each item
    if nearest:
        starts, ends = before, after
    else:
        shares = of_class / of_class.sum(1, keepdim=True).clamp(min=1)
        starts, ends = shares @ before, shares @ after  # the prototype of the class of each item
    far, now = _distances(before, starts), _distances(after, ends)
    weights = _nearest_support(far, same, support) if nearest else _one_a_class(same, of_class)
    weights = weights * (task & ~support[:, None])
    logarithms = (now / far).log()
    con, div = (
        ((weights * pairs * logarithms).sum() / (weights * pairs).sum()).exp() for pairs in (same, ~same)
    )
    factor = alpha.where(alpha > 0, torch.nan)
    return torch.stack([norm_ratio, con / factor, div / factor, con / div])


def compare_checkpoints(
    one: Tensor | Sequence[float],
    other: Tensor | Sequence[float],
    *,
    proper: Literal["below 1", "above 1"] | None,
) -> CheckpointComparison:
    """Do two systems differ in a factor over their checkpoints? Mann-Whitney on values, Fisher on counts.

    ``one`` and ``other`` are (checkpoints,) values above 0, such as all con_alpha of a run; ``proper`` says
    which side of 1 is the proper one, if one is (see `PROPER`). Checkpoints of one run depend on each other,
    so the p-values, which the source reports, are smaller than they should be.

    >>> round(compare_checkpoints([0.8, 0.9, 0.7], [1.1, 1.2, 0.95], proper="below 1").mann_whitney, 3)
    0.1
    """
    if proper not in ("below 1", "above 1", None):
        raise ValueError(f'expected proper to be "below 1", "above 1" or None, got "{proper}"')
    first, second = _factors(one, "one"), _factors(other, "other")
    from scipy.stats import fisher_exact, mannwhitneyu

    means = [float(factors.log().mean().exp()) for factors in (first, second)]
    mann_whitney = float(mannwhitneyu(first.numpy(), second.numpy(), alternative="two-sided").pvalue)
    if proper is None:
        return CheckpointComparison(means[0], means[1], None, None, mann_whitney, None)
    is_proper = [(factors < 1 if proper == "below 1" else factors > 1) for factors in (first, second)]
    counts = [[int(flags.sum()), int((~flags).sum())] for flags in is_proper]
    shares = [proper_count / (proper_count + improper_count) for proper_count, improper_count in counts]
    fisher = float(fisher_exact(counts, alternative="two-sided").pvalue)
    return CheckpointComparison(means[0], means[1], shares[0], shares[1], mann_whitney, fisher)


def _rescaling(old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
    """Alpha and the norm ratio as tensors (); NaN where they are undefined."""
    before, after = old - old.mean(0), new - new.mean(0)
    alpha = (before * after).sum() / before.square().sum()  # 0 / 0 for a single point
    across = (after - alpha * before).norm() / (after - before).norm()
    return alpha, across.clamp(max=1.0)


def _one_a_class(same: Tensor, of_class: Tensor) -> Tensor:
    """(1, n): 1 for the first item of each class that has support items, which stands for its class."""
    places = torch.arange(len(same), device=same.device)
    is_first = same.int().argmax(1) == places
    return (is_first & (of_class.sum(1) > 0)).double()[None]


def _nearest_support(distances: Tensor, same: Tensor, support: Tensor) -> Tensor:
    """(n, n): 1 for the support item of each class that is nearest to an item; equal ones share it."""
    far = distances.where(support, torch.inf)
    first = same.int().argmax(1).expand_as(far)
    least = torch.full_like(far, torch.inf).scatter_reduce(1, first, far, "amin").gather(1, first)
    is_nearest = ((far == least) & support).double()
    return is_nearest / (is_nearest @ same.double()).clamp(min=1)


def _check_step(old: Tensor, new: Tensor, labels: Tensor, support: Tensor, episodes: Tensor | None) -> None:
    """Raise ValueError for shapes and types that do not fit. The values are not checked."""
    if old.ndim != 2 or old.shape != new.shape or not len(old):
        shapes = f"{tuple(old.shape)} and {tuple(new.shape)}"
        raise ValueError(f"expected one item at least, and old and new of one shape (n, d), got {shapes}")
    check_classes(old, labels)
    if episodes is not None:
        check_classes(old, episodes)
    if support.shape != labels.shape or support.dtype != torch.bool:
        came = f"{tuple(support.shape)} of {support.dtype}"
        raise ValueError(f"expected support of shape ({len(old)},), true or false for each item, got {came}")


def _pair(old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
    if old.shape != new.shape:
        raise ValueError(f"expected old and new of one shape, got {tuple(old.shape)} and {tuple(new.shape)}")
    return check_features(old, name="old embeddings"), check_features(new, name="new embeddings")


def _distances(z: Tensor, vectors: Tensor) -> Tensor:
    """Every item to every other vector: (n, d), (m, d) -> (n, m)."""
    # Not by the expanded square, which loses its digits where they nearly meet.
    apart = torch.cdist(z, vectors, compute_mode="donot_use_mm_for_euclid_dist")
    return (apart.square() + EPSILON).sqrt()


def _factors(values: Tensor | Sequence[float], name: str) -> Tensor:
    checked = torch.as_tensor(values, dtype=torch.float64).detach().cpu()
    if checked.ndim != 1 or len(checked) == 0:
        raise ValueError(f"expected {name} of shape (checkpoints,), at least one, got {tuple(checked.shape)}")
    if not (checked.isfinite() & (checked > 0)).all():
        raise ValueError(f"expected {name} to be finite and above 0, got {float(checked.min())} among them")
    return checked
