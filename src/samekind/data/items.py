"""Labelled items: what is to be told apart, and the names of the classes it falls into."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from samekind.errors import DataError, nearest


@dataclass(frozen=True, eq=False)
class Items:
    """Inputs with one class each; a value that is not changed after it is made.

    ``inputs`` is (n, …), ``labels`` (n,) int64 indices into ``classes``. A class may be without items,
    and n may be 0: that is what is left when a selection selects nothing. ``name`` says what the items
    are, in reports. ``domains`` (n,), where given, are whole numbers for where each item comes from.
    """

    inputs: Tensor
    labels: Tensor
    classes: tuple[str, ...]
    name: str
    domains: Tensor | None = None

    def __post_init__(self) -> None:
        if self.inputs.dim() < 2:
            raise DataError(
                f"inputs must be (items, …), at least one vector per item; got {shape_of(self.inputs)}"
            )
        if self.labels.dim() != 1 or self.labels.dtype != torch.int64:
            raise DataError(
                "labels must be one int64 number per item (n,); "
                f"got {shape_of(self.labels)} of {self.labels.dtype}"
            )
        if len(self.inputs) != len(self.labels):
            raise DataError(
                f"every item needs a label; got {len(self.inputs)} inputs and {len(self.labels)} labels"
            )
        if self.domains is not None and self.domains.shape != self.labels.shape:
            raise DataError(
                f"every item needs a domain where one has; got {len(self.labels)} items "
                f"and domains of shape {shape_of(self.domains)}"
            )
        repeated = [name for name, count in Counter(self.classes).items() if count > 1]
        if repeated:
            raise DataError(f"class names must differ from each other; repeated: {', '.join(repeated)}")
        if ((self.labels < 0) | (self.labels >= len(self.classes))).any():
            raise DataError(
                f"labels must be indices into the {len(self.classes)} class names; "
                f"got {int(self.labels.min())} to {int(self.labels.max())}"
            )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one input, without the first dimension."""
        return tuple(self.inputs.shape[1:])

    def batch(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and labels at ``indices`` (k,), in that order."""
        return self.inputs[indices], self.labels[indices]

    def take(self, indices: Tensor) -> "Items":
        """The items at ``indices`` (k,), in that order, with all the class names kept."""
        inputs, labels = self.batch(indices)
        return replace(self, inputs=inputs, labels=labels, domains=_at(self.domains, indices))

    def class_indices(self, classes: Sequence[str]) -> Tensor:
        """Labels of the named classes, in the order given; an unknown name is refused."""
        known = {name: index for index, name in enumerate(self.classes)}
        for name in classes:
            if name not in known:
                raise DataError(f'{self.name} has no class "{name}"; {nearest(name, known)}')
        return torch.tensor([known[name] for name in classes], dtype=torch.int64, device=self.labels.device)

    def only(self, classes: Sequence[str]) -> "Items":
        """The items of the named classes, in their old order, relabelled in the order of ``classes``."""
        if not classes:
            raise DataError("name at least one class to keep; got none")
        wanted = self.class_indices(classes)
        place = torch.full((len(self.classes),), -1, dtype=torch.int64, device=self.labels.device)
        place[wanted] = torch.arange(len(wanted), device=self.labels.device)
        kept = place[self.labels] >= 0
        return replace(
            self,
            inputs=self.inputs[kept],
            labels=place[self.labels[kept]],
            classes=tuple(classes),
            domains=_at(self.domains, kept),
        )

    def fingerprint(self) -> str:
        """SHA-256, in hex, of inputs (shape, dtype, bytes), labels, classes and domains, but not of
        ``name``.
        """
        digest = hashlib.sha256()
        heading = [list(self.inputs.shape), str(self.inputs.dtype), list(self.classes)]
        digest.update(json.dumps(heading).encode())
        for tensor in (self.inputs, self.labels, *([] if self.domains is None else [self.domains])):
            # As raw bytes, because numpy does not know every dtype of torch.
            digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
        return digest.hexdigest()

    def to(self, device: torch.device | str) -> "Items":
        """The same items on ``device``."""
        domains = None if self.domains is None else self.domains.to(device)
        return replace(self, inputs=self.inputs.to(device), labels=self.labels.to(device), domains=domains)


def _at(values: Tensor | None, chosen: Tensor) -> Tensor | None:
    return None if values is None else values[chosen]


def shape_of(tensor: Tensor) -> str:
    """A shape as people write it: (3, 8, 8)."""
    return str(tuple(tensor.shape))
