"""Balanced batches: P classes with K items each, so that every item has positives and negatives.

Hermans et al., "In Defense of the Triplet Loss for Person Re-Identification", 2017.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.samplers.deck import Deck
from samekind.samplers.epochs import epoch_generator
from samekind.samplers.members import members_by_class, too_small


class Balanced:
    """Batches of ``classes`` classes with ``items`` items of each, the items of a class together.

    No class and no item is twice in a batch. An epoch has as many batches as one pass over the items, at
    least one, and uses all classes that occur in ``labels`` evenly: items of a small class come several
    times, and some of a large one not at all. ``names`` are those of the classes, for errors.
    """

    def __init__(
        self, labels: Tensor, *, classes: int = 8, items: int = 4, seed: int, names: Sequence[str] = ()
    ) -> None:
        if classes < 1 or items < 1:
            raise SettingError(f"classes and items must be at least 1; got {classes} and {items}")
        members = members_by_class(labels)
        if classes > len(members):
            raise SettingError(f"batches of {classes} classes need as many; the items are of {len(members)}")
        if short := too_small(members, items, names):
            raise SettingError(
                f"batches need {items} items of a class; these classes have fewer: {short}. "
                "Lower items, or leave these classes out."
            )
        self.labels = labels
        self.classes = classes
        self.items = items
        self.seed = seed
        self.names = names

    def __len__(self) -> int:
        # Never 0: the constructor has checked that there is one batch.
        return len(self.labels) // (self.classes * self.items)

    def batches(self, epoch: int) -> list[Tensor]:
        """The index tensors of an epoch, each (classes * items,)."""
        generator = epoch_generator(self.seed, epoch)
        decks = {
            label: Deck(indices.tolist(), generator=generator)
            for label, indices in members_by_class(self.labels).items()
        }
        labels = Deck(list(decks), generator=generator)
        return [
            torch.tensor(
                [index for label in labels.deal(self.classes) for index in decks[label].deal(self.items)]
            )
            for _ in range(len(self))
        ]
