"""What groups are there? k-means on embeddings, assignment by similarity, and the number of groups."""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SettingError, SpaceError
from samekind.inference.embed import asking, device_of, in_batches
from samekind.inference.kmeans import kmeans
from samekind.prototypes import class_means
from samekind.similarities import Angle, LogAngle, Neighbourhood
from samekind.similarities.blocks import mapping_of
from samekind.similarities.distances import unit_vectors
from samekind.space import MetricSpace

#: For more groups, k-means++ and restarts take minutes, and one run from random items is customary.
MANY_GROUPS = 1000


class Groups(NamedTuple):
    """The group of each item and the centre of each group."""

    assigned: Tensor  # (n,)
    centres: Tensor  # (groups, d)


class GroupChoice(NamedTuple):
    """How many groups there are, and the mean silhouette of each number that was tried (-1 to 1)."""

    groups: int
    silhouettes: dict[int, float]


def as_compared(space: MetricSpace, z: Tensor, *, kind: Kind | None = None) -> Tensor:
    """Embeddings (n, d) for k-means, as a kind of score compares them; None is the space's choice for
    neighbours.

    They are normalised if it ignores lengths (the cosine, angles, distances with ``normalise``), because
    training did not give these a meaning. A cosine of mapped vectors gives the mapped vectors. Otherwise they
    are unchanged. What a cohort adds to a score is left out.
    """
    similarity = space.scorer(kind or space.kind_for("neighbours"))
    if isinstance(similarity, Neighbourhood):
        similarity = similarity.similarity
    if similarity.quantity == "cosine" and (mapped := mapping_of(similarity)) is not None:
        return in_batches(space, z, lambda part: mapped(part, "first"))
    directions = (
        similarity.quantity == "cosine"
        or isinstance(similarity, Angle | LogAngle)
        or bool(getattr(similarity, "normalise", False))
    )
    return unit_vectors(z) if directions else z


def cluster(z: Tensor, *, groups: int, restarts: int | None = None, seed: int = 0) -> Groups:
    """k-means on embeddings (n, d), the best of ``restarts``; the same seed gives the same groups.

    Up to 1,000 groups, the default is 10 starts by k-means++; beyond, one run from random items, as published
    for thousands of classes. `kmeans` has the choice. With fewer distinct items than groups, some groups stay
    empty. Pass the embeddings of a space through `as_compared` first.
    """
    few = groups <= MANY_GROUPS
    grouping = kmeans(
        z,
        groups=groups,
        start="k-means++" if few else "random",
        restarts=restarts if restarts is not None else (10 if few else 1),
        seed=seed,
    )
    return Groups(grouping.assigned, grouping.centres)


def assign_by_similarity(
    space: MetricSpace, centres: Tensor, z: Tensor, *, kind: Kind | None = None
) -> Tensor:
    """The most similar of centres (groups, d) for each embedding (n, d) -> (n,), the first of equals. The
    centre is the first argument of the similarity.
    """
    kind = kind or space.kind_for("neighbours")
    if not len(centres):
        raise SpaceError("expected at least one centre to give items to, got none")
    device = device_of(space)
    z, centres = z.to(device), centres.to(device)
    best = torch.full((len(z),), -torch.inf, device=device)
    which = torch.zeros(len(z), dtype=torch.int64, device=device)
    with asking(space):
        for rows, columns, scores in space.blocks(centres, z, kind=kind):
            value, index = scores.float().max(0)
            # Blocks of centres come in order, so the first of equals stays.
            better = value > best[columns]
            best[columns] = torch.where(better, value, best[columns])
            which[columns] = torch.where(better, index + rows.start, which[columns])
    return which.cpu()


def oracle_centres(z: Tensor, labels: Tensor) -> Tensor:
    """The means (classes, d) of the TRUE classes of embeddings (n, d), in the order of their labels.

    It uses the labels that a clustering should find: agreement from these centres measures the assignment
    alone. Monteiro et al., "An end-to-end approach for the verification problem: learning the right
    distance", ICML 2020, print such figures in parentheses.
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

    At most ``most_items`` are drawn, so the cost is bounded. Candidates below 2, and those from the number of
    distinct items on, have no silhouette and are left out. The smallest of equally good numbers is taken.
    Only identical items are ever one group. Rousseeuw, "Silhouettes", 1987.
    """
    if not len(z):
        raise SettingError("expected at least one item to group, got none")
    generator = torch.Generator().manual_seed(seed)
    sample = z[torch.randperm(len(z), generator=generator)[:most_items].to(z.device)].float().cpu()
    distinct = len(torch.unique(sample, dim=0))
    if distinct == 1:
        return GroupChoice(1, {})
    possible = sorted({number for number in candidates if 2 <= number < distinct})
    if not possible:
        raise SettingError(
            f"expected a number of groups from 2 to {distinct - 1} among the candidates ({distinct} distinct "
            "items are looked at); give such a number, or more items"
        )
    from sklearn.metrics import silhouette_score

    silhouettes = {}
    for groups in possible:
        assigned = cluster(sample, groups=groups, restarts=restarts, seed=seed).assigned
        silhouettes[groups] = float(silhouette_score(sample.numpy(), assigned.numpy()))
    return GroupChoice(max(possible, key=silhouettes.__getitem__), silhouettes)
