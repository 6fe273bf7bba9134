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

    Every epoch each class is permuted and cut into tuples anew; the rest, fewer than ``size`` items, is left
    out. A class with fewer than ``size`` items is one shorter tuple, and a class of one item, which has no
    positive, is never shown. Like ``Balanced``, but large classes come more often, and two tuples of one
    class can meet in a batch. A last, shorter batch needs two tuples, to have negatives. At least two classes
    must have two items.

    With classes shorter than ``size`` batches differ in length, and ``compile`` compiles for each length.
    """

    def __init__(self, labels: Tensor, *, tuples: int = 24, size: int = 5, seed: int) -> None:
        if tuples < 1 or size < 2:
            raise SettingError(
                f"need at least 1 tuple per batch and 2 items per tuple; got {tuples} and {size}"
            )
        shown = sum(len(indices) > 1 for indices in members_by_class(labels).values())
        if shown < 2:
            raise SettingError(
                "tuples need two classes of two items or more, to have negatives; there "
                f"{'is' if shown == 1 else 'are'} {shown}"
            )
        self.labels = labels
        self.tuples = tuples
        self.size = size
        self.seed = seed

    def __len__(self) -> int:
        counts = [len(indices) for indices in members_by_class(self.labels).values()]
        total = sum(count // self.size or int(count > 1) for count in counts)
        full, rest = divmod(total, self.tuples)
        return full + (rest > 1)

    def batches(self, epoch: int) -> list[Tensor]:
        """The index tensors of an epoch, each (tuples * size,) but for the last, and for short classes."""
        generator = epoch_generator(self.seed, epoch)
        groups: list[Tensor] = []
        for indices in members_by_class(self.labels).values():
            groups += self._cut(indices[torch.randperm(len(indices), generator=generator)])
        order = torch.randperm(len(groups), generator=generator).tolist()
        starts = range(0, len(self) * self.tuples, self.tuples)
        return [
            torch.cat([groups[place] for place in order[start : start + self.tuples]]) for start in starts
        ]

    def _cut(self, indices: Tensor) -> list[Tensor]:
        """The items of one class as tuples, without the rest."""
        size = min(self.size, len(indices))
        return [part for part in torch.split(indices, size) if len(part) == size] if size > 1 else []
