"""Class tuples: a batch is made of small groups of items of one class.

Monteiro et al., "An end-to-end approach for the verification problem: learning the right distance",
ICML 2020.
"""

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.samplers.epochs import epoch_generator
from samekind.samplers.members import members_by_class


class Tuples:
    """Batches of ``tuples`` tuples, each of ``size`` different items of one class, side by side.

    Every epoch each class is permuted and cut into tuples anew; what is left over, fewer than ``size``
    items, waits for another epoch. Like ``Balanced``, but large classes come more often, and two tuples
    of one class can meet in a batch. A last, shorter batch is kept if it holds two tuples, since a
    single one has no negatives.
    """

    def __init__(self, labels: Tensor, *, tuples: int = 24, size: int = 5, seed: int) -> None:
        if tuples < 1 or size < 2:
            raise SettingError(
                f"need at least 1 tuple per batch and 2 items per tuple; got {tuples} and {size}"
            )
        counts = [len(indices) for indices in members_by_class(labels).values()]
        if max(counts, default=0) < size:
            raise SettingError(
                f"tuples of {size} need a class as large; the largest has {max(counts, default=0)} items"
            )
        self.labels = labels
        self.tuples = tuples
        self.size = size
        self.seed = seed

    def __len__(self) -> int:
        every = sum(len(indices) // self.size for indices in members_by_class(self.labels).values())
        full, rest = divmod(every, self.tuples)
        return max(1, full + (rest > 1))

    def batches(self, epoch: int) -> list[Tensor]:
        """The index tensors of an epoch, each (tuples * size,) but for the last."""
        generator = epoch_generator(self.seed, epoch)
        groups = []
        for indices in members_by_class(self.labels).values():
            whole = len(indices) - len(indices) % self.size
            permuted = indices[torch.randperm(len(indices), generator=generator)]
            groups.append(permuted[:whole].reshape(-1, self.size))
        tuples = torch.cat(groups)
        tuples = tuples[torch.randperm(len(tuples), generator=generator)]
        return [batch.flatten() for batch in torch.split(tuples, self.tuples)][: len(self)]
