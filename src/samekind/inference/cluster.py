"""What groups are here? k-means on the embeddings, groups given by the similarity, and how many there are."""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SettingError, SpaceError
from samekind.inference.embed import asking, device_of
from samekind.inference.kmeans import kmeans
from samekind.prototypes import class_means
from samekind.similarities import Angle, LogAngle
from samekind.similarities.distances import unit_vectors
from samekind.space import MetricSpace

#: From here on careful starts and restarts take minutes and one run from random items is the custom.
MANY_GROUPS = 1000


class Groups(NamedTuple):
    """The group of each item and the centre of each group."""

    assigned: Tensor  # (n,)
    centres: Tensor  # (groups, d)


class GroupChoice(NamedTuple):
    """How many groups there are, and the mean silhouette of each number that was tried (-1 to 1)."""

    groups: int
    silhouettes: dict[int, float]


def as_compared(space: MetricSpace, z: Tensor) -> Tensor:
    """Embeddings (n, d) as k-means should see them: on the sphere where the space's own similarity looks at
    directions alone (the cosine, angles, distances with ``normalise``), else as they are.

    The lengths, which nothing ever taught such a space, would have a say in the groups.
    """
    similarity = space.similarity
    directions = (
        similarity.kind == "cosine"
        or isinstance(similarity, Angle | LogAngle)
        or bool(getattr(similarity, "normalise", False))
    )
    return unit_vectors(z) if directions else z


def cluster(z: Tensor, *, groups: int, restarts: int | None = None, seed: int = 0) -> Groups:
    """k-means on embeddings (n, d), the best of ``restarts``; the same seed gives the same groups.

    Up to 1,000 groups the starts are k-means++ and there are 10 of them unless told otherwise; beyond, items
    drawn at random and one run, as results for thousands of classes are published. `kmeans` has the choice.
    Where there are fewer distinct items than groups, some groups stay empty. It looks at the embeddings as
    they are: those of a space are given as its similarity sees them by `as_compared`.
    """
    few = groups <= MANY_GROUPS
    found = kmeans(
        z,
        groups=groups,
        start="k-means++" if few else "random",
        restarts=restarts if restarts is not None else (10 if few else 1),
        seed=seed,
    )
    return Groups(found.assigned, found.centres)


def assign_by_similarity(
    space: MetricSpace,
    centres: Tensor,
    z: Tensor,
    *,
    kind: Kind = "similarity",
    memory_budget: int | None = None,
) -> Tensor:
    """The most similar of centres (groups, d) for each embedding (n, d) -> (n,), the centre in the first
    place of the similarity; of equally similar ones the first.

    With the centres of `cluster` the groups are found without labels; with `oracle_centres` they are not.
    """
    if not len(centres):
        raise SpaceError("expected at least one centre to give items to, got none")
    device = device_of(space)
    z, centres = z.to(device), centres.to(device)
    best = torch.full((len(z),), -torch.inf, device=device)
    which = torch.zeros(len(z), dtype=torch.int64, device=device)
    with asking(space):
        for rows, columns, scores in space.blocks(centres, z, kind=kind, memory_budget=memory_budget):
            value, index = scores.float().max(0)
            # Blocks of centres come in order, so among equals the first one stays.
            better = value > best[columns]
            best[columns] = torch.where(better, value, best[columns])
            which[columns] = torch.where(better, index + rows.start, which[columns])
    return which.cpu()


def oracle_centres(z: Tensor, labels: Tensor) -> Tensor:
    """The means (classes, d) of the TRUE classes of embeddings (n, d), in the order of their labels.

    It looks at the labels that a clustering is to find: agreement reached from these centres says how well
    the similarity assigns, not how well groups are found. Monteiro et al., "An end-to-end approach for the
    verification problem: learning the right distance", ICML 2020, print such figures in parentheses.
    """
    if not len(z) or len(z) != len(labels):
        raise SettingError(f"expected a label for each of at least one item, got {len(z)} and {len(labels)}")
    present, class_ = torch.unique(labels, return_inverse=True)
    means, _ = class_means(z, class_, len(present))
    return means


def choose_groups(
    z: Tensor,
    *,
    candidates: Iterable[int] = range(2, 21),
    most_items: int = 2000,
    restarts: int = 3,
    seed: int = 0,
) -> GroupChoice:
    """How many groups embeddings (n, d) fall into: the candidate whose k-means has the highest silhouette.

    Of more than ``most_items`` a random part is looked at, so the cost is bounded. Candidates below 2, and
    those with no fewer groups than distinct items, have no silhouette and are left out. Of equally good
    numbers the smallest is taken; items that are all alike are one group. A silhouette cannot tell that the
    items are one group in any other case. Rousseeuw, "Silhouettes", 1987.
    """
    if not len(z):
        raise SettingError("expected at least one item to group, got none")
    generator = torch.Generator().manual_seed(seed)
    looked_at = z[torch.randperm(len(z), generator=generator)[:most_items].to(z.device)].float().cpu()
    distinct = len(torch.unique(looked_at, dim=0))
    if distinct == 1:
        return GroupChoice(1, {})
    possible = sorted({each for each in candidates if 2 <= each < distinct})
    if not possible:
        raise SettingError(
            f"expected a number of groups from 2 to {distinct - 1} among the candidates ({distinct} distinct "
            "items are looked at); give such a number, or more items"
        )
    # Imported here because it is slow, and most users of the room never need it.
    from sklearn.metrics import silhouette_score

    silhouettes = {}
    for groups in possible:
        assigned = cluster(looked_at, groups=groups, restarts=restarts, seed=seed).assigned
        silhouettes[groups] = float(silhouette_score(looked_at.numpy(), assigned.numpy()))
    return GroupChoice(max(possible, key=silhouettes.__getitem__), silhouettes)
