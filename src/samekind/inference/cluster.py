"""What groups are here? k-means on the embeddings."""

from typing import NamedTuple

import torch
from torch import Tensor

from samekind.errors import SettingError


class Groups(NamedTuple):
    """The group of each item and the centre of each group."""

    assigned: Tensor  # (n,)
    centres: Tensor  # (groups, d)


def cluster(z: Tensor, *, groups: int, restarts: int = 10, seed: int = 0) -> Groups:
    """k-means (k-means++ starts, the best of several restarts) on embeddings (n, d)."""
    from sklearn.cluster import KMeans

    if not 1 <= groups <= len(z):
        raise SettingError(f"asked for {groups} groups of {len(z)} items; ask for 1 to {len(z)}")
    found = KMeans(n_clusters=groups, n_init=restarts, random_state=seed).fit(z.double().numpy())
    return Groups(
        torch.from_numpy(found.labels_).long(), torch.from_numpy(found.cluster_centers_).to(z.dtype)
    )
