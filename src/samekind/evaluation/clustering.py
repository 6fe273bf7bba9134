"""What groups are here? k-means with as many groups as classes, against the classes."""

from torch import Tensor

from samekind.data import Items
from samekind.evaluation.rows import Row
from samekind.inference import cluster
from samekind.measures import normalised_mutual_information


def clustering(items: Items, z: Tensor, *, name: str, seed: int = 0) -> list[Row]:
    """NMI of k-means on the embeddings; it asks the encoder alone, so there is one kind: the embedding."""
    groups = cluster(z, groups=len(set(items.labels.tolist())), seed=seed)
    agreement = normalised_mutual_information(groups.assigned, items.labels)
    return [Row("clustering", name, "NMI", "embedding", agreement)]
