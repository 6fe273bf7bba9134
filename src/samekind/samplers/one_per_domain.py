"""Batches with equally many items of every domain, for training across domains.

The batches of the domain generalisation experiments of Monteiro et al., "Learning Semantic Similarities for
Prototypical Classifiers", 2021.
"""

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.samplers.epochs import epoch_generator
from samekind.samplers.members import members_by_class


class OnePerDomain:
    """Batches of ``size`` groups, each of one random item of every domain, side by side.

    ``domains`` (n,) is the domain of each item. An epoch is one pass over the largest domain. Each domain is
    permuted anew, and a smaller one is repeated, so its items come several times, even in one batch if it has
    fewer than ``size``. Within a group the domains are in ascending order. The last batch may be smaller.
    """

    def __init__(self, labels: Tensor, *, domains: Tensor, size: int = 64, seed: int) -> None:
        if size < 1:
            raise SettingError(f"a batch needs at least 1 item of each domain; got size {size}")
        if domains.shape != labels.shape:
            raise SettingError(
                f"expected a domain for each of {len(labels)} items, got {tuple(domains.shape)}"
            )
        count = len(members_by_class(domains))
        if count < 2:
            raise SettingError(f"need items of at least 2 domains, got {count}; use Shuffled for one")
        self.labels = labels
        self.domains = domains
        self.size = size
        self.seed = seed

    def __len__(self) -> int:
        return -(-self._largest() // self.size)

    def batches(self, epoch: int) -> list[Tensor]:
        """The index tensors of an epoch, each (size * domains,) but for the last."""
        generator = epoch_generator(self.seed, epoch)
        turns = torch.arange(self._largest())
        columns = []
        for indices in members_by_class(self.domains).values():
            permuted = indices[torch.randperm(len(indices), generator=generator)]
            columns.append(permuted[turns % len(indices)])
        return [batch.flatten() for batch in torch.split(torch.stack(columns, dim=1), self.size)]

    def _largest(self) -> int:
        return max(len(indices) for indices in members_by_class(self.domains).values())
