"""Triplets drawn class by class, so that a class of forty items counts as much as one of half a million.

Kim, "On the Significance of Distance in Machine Learning", 2023, the siamese embedding of plankton.
"""

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.samplers.epochs import epoch_generator
from samekind.samplers.members import members_by_class


class UniformTriplets:
    """``steps`` batches an epoch, of ``triplets`` triplets: anchor, positive and negative, side by side.

    The class is drawn uniformly, the negative's class uniformly from the others, and each item uniformly from
    its class, with replacement: an anchor and its positive can be the same item. Unlike in ``Balanced``, a
    class need not have two items, and items do not come equally often.
    """

    def __init__(self, labels: Tensor, *, triplets: int = 20, steps: int = 1000, seed: int) -> None:
        if triplets < 1 or steps < 1:
            raise SettingError(f"need at least 1 triplet and 1 step; got {triplets} and {steps}")
        count = len(members_by_class(labels))
        if count < 2:
            raise SettingError(f"a triplet needs items of 2 classes; the items are of {count}")
        self.labels = labels
        self.triplets = triplets
        self.steps = steps
        self.seed = seed

    def __len__(self) -> int:
        return self.steps

    def batches(self, epoch: int) -> list[Tensor]:
        """The index tensors of an epoch, each (triplets * 3,)."""
        generator = epoch_generator(self.seed, epoch)
        members = list(members_by_class(self.labels).values())
        counts = torch.tensor([len(indices) for indices in members])
        shape = (self.steps, self.triplets)
        first = torch.randint(len(members), shape, generator=generator)
        other = (first + torch.randint(1, len(members), shape, generator=generator)) % len(members)
        classes = torch.stack([first, first, other], dim=-1)
        # In double precision, so that a share of a class never rounds up to all of it.
        shares = torch.rand(classes.shape, dtype=torch.double, generator=generator)
        places = (shares * counts[classes]).long()
        starts = counts.cumsum(0) - counts
        return list(torch.cat(members)[starts[classes] + places].flatten(1))
