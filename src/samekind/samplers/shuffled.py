"""Plain shuffled batches: every item once per epoch."""

import torch
from torch import Tensor

from samekind.errors import DataError, SettingError
from samekind.samplers.epochs import epoch_generator


class Shuffled:
    """Batches of ``size`` items in random order; the last may be smaller.

    A last batch of one item is merged into the one before: batch normalisation and pairs need two.
    """

    def __init__(self, labels: Tensor, *, size: int = 64, seed: int) -> None:
        if size < 2:
            raise SettingError(f"a batch needs at least 2 items, or there is no pair in it; got size {size}")
        if len(labels) < 2:
            raise DataError(f"need at least 2 items to make a batch; got {len(labels)}")
        self.labels = labels
        self.size = size
        self.seed = seed

    def __len__(self) -> int:
        full, rest = divmod(len(self.labels), self.size)
        return full + (rest > 1)

    def batches(self, epoch: int) -> list[Tensor]:
        """The index tensors of an epoch."""
        order = torch.randperm(len(self.labels), generator=epoch_generator(self.seed, epoch))
        batches = list(torch.split(order, self.size))
        if len(batches[-1]) == 1:
            batches[-2:] = [torch.cat(batches[-2:])]
        return batches
