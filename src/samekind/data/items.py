"""Labelled items: inputs, and the class of each."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data.branches import branches_of
from samekind.data.class_tree import expect_classes
from samekind.data.media import ARRAYS, PICTURES, Medium, Reader, medium_of
from samekind.data.media.arrays import looks_like_pictures
from samekind.data.settings import DataSettings
from samekind.data.stored import Stored
from samekind.data.words import spelt_as
from samekind.decoding.pixels import WHITE
from samekind.errors import DataError, expect, nearest
from samekind.taxonomy import Tree


class Source(NamedTuple):
    """A source that gives the same items again: a name or an absolute path, and the settings."""

    name: str
    settings: DataSettings


@dataclass(frozen=True, eq=False)
class Items:
    """Inputs with one class each; an immutable value.

    ``inputs`` is (n, …), a tensor or `Stored` pictures; ``labels`` (n,) int64 are indices into ``classes``. A
    class may have no items, and n may be 0. ``name`` is what reports call the items.

    Optional: ``domains`` (n,), whole numbers for where each item comes from, and ``domain_names``; ``groups``
    (n,), whole numbers for items that belong together (one person, one day), which a split keeps together;
    ``parts``, the published part of each item; ``ids``, the path or row of each; ``reader``, how another item
    is read; ``notes``, sentences on what was left out or looked wrong when they were opened; ``source``,
    where they were opened; ``tree``, the tree of the classes, each of which is a node of it. A selection of
    items has no source, because opening it gives other items.
    """

    inputs: Tensor | Stored
    labels: Tensor
    classes: tuple[str, ...]
    name: str
    domains: Tensor | None = None
    domain_names: tuple[str, ...] = ()
    groups: Tensor | None = None
    parts: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    reader: Reader | None = None
    notes: tuple[str, ...] = ()
    source: Source | None = None
    tree: Tree | None = None

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.shape))
        facts = f"{self.name!r}, {len(self):,} items of {shape}, {len(self.classes):,} classes"
        if self.domains is not None:
            facts += f", {len(self.domain_names):,} domains"
        if self.groups is not None:
            facts += f", {len(torch.unique(self.groups)):,} groups"
        return f"Items({facts})"

    def __post_init__(self) -> None:
        expect(self.inputs, (Tensor, Stored), "inputs as a tensor, such as torch.as_tensor(inputs)")
        for name in ("labels", "domains", "groups"):
            if name == "labels" or getattr(self, name) is not None:
                expect(getattr(self, name), Tensor, f"{name} as a tensor, such as torch.as_tensor({name})")
        if self.inputs.dim() < 2:
            raise DataError(
                f"inputs must be (items, …), at least one vector per item; got {tuple(self.inputs.shape)}"
            )
        if self.labels.dim() != 1 or self.labels.dtype != torch.int64:
            raise DataError(
                "labels must be one int64 number per item (n,); "
                f"got {tuple(self.labels.shape)} of {self.labels.dtype}"
            )
        if len(self.inputs) != len(self.labels):
            raise DataError(
                f"every item needs a label; got {len(self.inputs)} inputs and {len(self.labels)} labels"
            )
        self._check_lengths()
        repeated = [name for name, count in Counter(self.classes).items() if count > 1]
        if repeated:
            raise DataError(f"class names must differ from each other; repeated: {', '.join(repeated)}")
        if ((self.labels < 0) | (self.labels >= len(self.classes))).any():
            raise DataError(
                f"labels must be indices into the {len(self.classes)} class names; "
                f"got {int(self.labels.min())} to {int(self.labels.max())}"
            )
        if self.tree is not None:
            expect_classes(self.tree, self.classes)

    def _check_lengths(self) -> None:
        for word, numbers in (("domain", self.domains), ("group", self.groups)):
            if numbers is not None and numbers.shape != self.labels.shape:
                raise DataError(
                    f"give a {word} for all items or for none; got {len(self.labels)} items "
                    f"and {word}s of shape {tuple(numbers.shape)}"
                )
        for word, texts in (("part", self.parts), ("id", self.ids)):
            if texts is not None and len(texts) != len(self.labels):
                raise DataError(
                    f"give a {word} for all items or for none; "
                    f"got {len(self.labels)} items and {len(texts)} {word}s"
                )
        if self.domain_names and self.domains is not None and len(self.domains):
            first, last = int(self.domains.min()), int(self.domains.max())
            if first < 0 or last >= len(self.domain_names):
                raise DataError(
                    f"domains must be indices into the {len(self.domain_names)} domain names; "
                    f"got {first} to {last}"
                )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one input, without the first dimension."""
        return tuple(self.inputs.shape[1:])

    @property
    def medium(self) -> Medium:
        """The medium of the items, by their reader or else by shape and values: pictures, vectors, arrays."""
        if self.reader is not None:
            return self.reader.medium
        medium = medium_of(self.shape)
        return ARRAYS if medium is PICTURES and not self._looks_like_pictures else medium

    @cached_property
    def _looks_like_pictures(self) -> bool:
        return isinstance(self.inputs, Stored) or looks_like_pictures(self.inputs)

    def batch(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and labels at ``indices`` (k,), in that order, on the device of the labels."""
        inputs = self.inputs[indices]
        return inputs.to(self.labels.device), self.labels[indices]

    def take(self, indices: Tensor) -> "Items":
        """The items at ``indices`` (k,), in that order, with all class names; nothing is decoded."""
        return replace(
            self,
            inputs=self.inputs.take(indices) if isinstance(self.inputs, Stored) else self.inputs[indices],
            labels=self.labels[indices],
            domains=_at(self.domains, indices),
            groups=_at(self.groups, indices),
            parts=_texts_at(self.parts, indices),
            ids=_texts_at(self.ids, indices),
            source=None,
        )

    def class_indices(self, classes: Sequence[str]) -> Tensor:
        """Labels of the named classes, in that order, however accents are stored; else a DataError."""
        known = {name: index for index, name in enumerate(self.classes)}
        names = spelt_as(classes, self.classes)
        for name in names:
            if name not in known:
                alike = known if "/" in name else branches_of(known)  # hundreds of classes, a few branches
                raise DataError(f'{self.name} has no class "{name}"; {nearest(name, alike)}')
        return torch.tensor([known[name] for name in names], dtype=torch.int64, device=self.labels.device)

    def only(self, classes: Sequence[str]) -> "Items":
        """The items of the named classes, in their old order, relabelled in the order of ``classes``."""
        if not classes:
            raise DataError("name at least one class to keep; got none")
        labels = self.class_indices(classes)
        new = torch.full((len(self.classes),), -1, dtype=torch.int64, device=labels.device)
        new[labels] = torch.arange(len(labels), device=labels.device)
        items = self.take(new[self.labels] >= 0)
        return replace(items, labels=new[items.labels], classes=tuple(spelt_as(classes, self.classes)))

    def fingerprint(self) -> str:
        """SHA-256, in hex, of inputs (shape, dtype, bytes), labels, classes, domains, groups and parts, but
        not of ``name``, ``ids`` or ``tree``. For stored pictures the bytes of the files count, and their
        reader.
        """
        digest = hashlib.sha256()
        heading: list[object] = [list(self.inputs.shape), str(self.inputs.dtype), list(self.classes)]
        if isinstance(self.inputs, Stored):
            later = (("white", WHITE), ("original_size", False))  # left out while they have their defaults
            reader = vars(self.inputs.reader).items()
            heading.append({name: value for name, value in reader if (name, value) not in later})
        # What came later is added only if it is given, so that older fingerprints hold.
        heading += [list(texts) for texts in (self.domain_names, self.parts) if texts]
        digest.update(json.dumps(heading).encode())
        if isinstance(self.inputs, Stored):
            for file_digest in self.inputs.digests():
                digest.update(file_digest)
        for tensor in (self.inputs, self.labels, self.domains, self.groups):
            if not isinstance(tensor, Tensor):
                continue
            # As raw bytes, because NumPy does not know every dtype of torch.
            digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
        return digest.hexdigest()

    def to(self, device: torch.device | str) -> "Items":
        """The same items on ``device``; stored pictures go there batch by batch."""
        return replace(
            self,
            inputs=self.inputs if isinstance(self.inputs, Stored) else self.inputs.to(device),
            labels=self.labels.to(device),
            domains=None if self.domains is None else self.domains.to(device),
            groups=None if self.groups is None else self.groups.to(device),
        )


def _at(values: Tensor | None, indices: Tensor) -> Tensor | None:
    return None if values is None else values[indices]


def _texts_at(texts: tuple[str, ...] | None, indices: Tensor) -> tuple[str, ...] | None:
    if texts is None:
        return None
    if indices.dtype == torch.bool:
        return tuple(compress(texts, indices.tolist()))
    return tuple(texts[index] for index in indices.tolist())
