"""What groups are here?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from samekind import measures
from samekind.data import Collection
from samekind.decisions import Kind
from samekind.errors import SettingError
from samekind.inference import cluster as kmeans_groups
from samekind.inference.cluster import Groups, as_compared, choose_groups
from samekind.inference.representatives import largest_first, representatives
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import embedded, known_kind
from samekind.reports import Grouped
from samekind.space import MetricSpace


@dataclass(frozen=True)
class Clustered:
    """Items in groups, the largest first, with the silhouette of each number of groups that was tried and,
    if there are labels, how far the groups agree with them.
    """

    grouped: Grouped
    kind: Kind
    skipped: tuple[tuple[str, str], ...]

    @property
    def sizes(self) -> list[int]:
        return [len(self.grouped.members(group)) for group in range(len(self.grouped.groups.centres))]

    @property
    def middles(self) -> list[str]:
        """The id of the item nearest to each centre; empty for an empty group."""
        nearest = representatives(self.grouped.z, self.grouped.groups, count=1)
        return [self.grouped.ids[int(chosen[0])] if len(chosen) else "" for chosen in nearest]

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values, without the single items."""
        return {
            "kind": self.kind,
            "items": len(self.grouped.ids),
            "groups": len(self.sizes),
            "sizes": self.sizes,
            "silhouettes": {str(number): value for number, value in self.grouped.quality.items()},
            "agreement": self.grouped.agreement,
            "skipped": self.skipped,
        }


def cluster(
    space: MetricSpace,
    items: Collection,
    *,
    groups: int | None = None,
    kind: str | None = None,
    limit: int = 20,
    seed: int = 0,
    progress: Progress = silent,
) -> Clustered:
    """Sort items into groups of what is alike; without ``groups``, the silhouette chooses 2 to ``limit``.

    Items are compared as a ``kind`` of score does; None is the space's choice for neighbours.
    """
    if groups is not None and groups > len(items.ids):
        raise SettingError(f"asked for {groups} groups of {len(items.ids)} items; ask for fewer")
    score = known_kind(space, kind, "neighbours")
    z = as_compared(space, embedded(space, items.inputs, title="cluster", progress=progress), kind=score)
    quality: Mapping[int, float] = {}
    if groups is None:
        choice = choose_groups(z, candidates=range(2, limit + 1), seed=seed)
        groups, quality = choice.groups, choice.silhouettes
    divided = largest_first(kmeans_groups(z, groups=groups, seed=seed))
    agreement = _agreement(divided, items.labels)
    grouped = Grouped(items.inputs, z, items.ids, items.labels, divided, quality, agreement)
    return Clustered(grouped, score, items.skipped)


def _agreement(groups: Groups, labels: Sequence[str | None]) -> dict[str, float]:
    """How far the groups agree with the labels of the items that have one; empty without labels."""
    known = [place for place, label in enumerate(labels) if label is not None]
    if not known:
        return {}
    numbers = {name: number for number, name in enumerate(sorted({str(labels[place]) for place in known}))}
    truth = torch.tensor([numbers[str(labels[place])] for place in known])
    assigned = groups.assigned[torch.tensor(known)]
    return {
        "NMI": measures.normalised_mutual_information(assigned, truth),
        "AMI": measures.adjusted_mutual_information(assigned, truth),
        "purity": measures.purity(assigned, truth),
    }
