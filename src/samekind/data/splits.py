"""Splits: which items are for training, which are held back, and which classes are never shown."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from samekind.data.items import Items
from samekind.data.words import counted
from samekind.errors import DataError, SettingError
from samekind.plain_files import read_json
from samekind.storage import write_text


@dataclass(frozen=True, eq=False)
class Split:
    """Named, disjoint parts of one data set, each an ascending int64 tensor of item indices (k,).

    ``fingerprint`` is that of the items that were split: a split means nothing for others. ``settings`` are
    the values of its `SplitSettings`, if they are known.
    """

    parts: dict[str, Tensor]
    fingerprint: str
    settings: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        owner: dict[int, str] = {}
        for name, indices in self.parts.items():
            for index in indices.tolist():
                if index in owner:
                    raise DataError(
                        f"parts of a split share no item; item {index} is in {owner[index]} and {name}"
                    )
                owner[index] = name

    def save(self, path: Path) -> None:
        """Write the split as JSON."""
        parts = {name: indices.tolist() for name, indices in self.parts.items()}
        content = {"fingerprint": self.fingerprint, "settings": self.settings, "parts": parts}
        write_text(path, json.dumps(content) + "\n")

    @staticmethod
    def load(path: Path, items: Items) -> "Split":
        """Read what `save` wrote. Raises DataError if it was made for other items."""
        try:
            stored = read_json(path.read_bytes())
            fingerprint, settings = str(stored["fingerprint"]), stored.get("settings")
            parts = {
                str(name): torch.tensor(part, dtype=torch.int64) for name, part in stored["parts"].items()
            }
        except FileNotFoundError:
            raise DataError(f"there is no split at {path}") from None
        # A RuntimeError is a number too large for an index.
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
            raise DataError(f"{path} is not a split as samekind writes it: {error}") from error
        if fingerprint != items.fingerprint():
            raise DataError(
                f"{path} splits another data set than {items.name}: the fingerprints differ. "
                "Split these items anew, or give the ones the split was made for."
            )
        for name, indices in parts.items():
            if indices.dim() != 1 or ((indices < 0) | (indices >= len(items))).any():
                raise DataError(
                    f"part {name} of {path} must list items 0 to {len(items) - 1}, one number each"
                )
        return Split(parts=parts, fingerprint=fingerprint, settings=settings)


def stratified(items: Items, fractions: Mapping[str, float], *, seed: int) -> Split:
    """Cut each class in the given fractions, at random.

    The share of a part in a class is exact up to rounding; ties are rounded by lot, so that no part is
    short in every class. A class with as many items as there are parts is in every part; the items of a
    smaller one go where the fractions are largest.
    """
    check_fractions(fractions)
    return Split(
        parts=cut(items.labels, fractions, torch.arange(len(items)), seed), fingerprint=items.fingerprint()
    )


def of_classes(items: Items, unseen: Sequence[str]) -> Tensor:
    """Which items (n,) are of the unseen classes. Raises SettingError if that is all of them, or none."""
    held_back = torch.isin(items.labels, items.class_indices(unseen)).cpu()
    if held_back.all() or not held_back.any():
        raise SettingError(
            f"a split by class needs items of seen and of unseen classes; "
            f"{int(held_back.sum())} of {len(items)} items are unseen "
            f"({counted(len(set(unseen)), 'class', 'classes')})"
        )
    return held_back


def check_fractions(fractions: Mapping[str, float]) -> None:
    """Raise SettingError for fractions that are not above 0 or do not sum to 1."""
    written = ", ".join(f"{name} {fraction:g}" for name, fraction in fractions.items()) or "none"
    if not all(fraction > 0 for fraction in fractions.values()):
        raise SettingError(f"every fraction of a split must be above 0; got {written}")
    if not math.isclose(sum(fractions.values()), 1, abs_tol=1e-6):
        raise SettingError(f"the fractions of a split must sum to 1; got {written}")


def cut(labels: Tensor, fractions: Mapping[str, float], among: Tensor, seed: int) -> dict[str, Tensor]:
    """The items ``among`` (k,) dealt to the fractions, class by class."""
    generator = torch.Generator().manual_seed(seed)
    dealt: dict[str, list[Tensor]] = {name: [] for name in fractions}
    labels = labels.cpu()[among]
    for label in torch.unique(labels):
        members = among[labels == label]
        members = members[torch.randperm(len(members), generator=generator)]
        counts = apportion(len(members), list(fractions.values()), generator=generator)
        for name, part in zip(fractions, torch.split(members, counts), strict=True):
            dealt[name].append(part)
    empty = torch.empty(0, dtype=torch.int64)
    return {name: torch.cat([empty, *parts]).sort().values for name, parts in dealt.items()}


def apportion(total: int, fractions: list[float], *, generator: torch.Generator) -> list[int]:
    """``total`` in whole numbers by largest remainder, ties at random; no part is 0 if that is possible."""
    # Rounded, because 0.07 * 50 is 3.5000000000000004: the last bit would decide ties, not chance.
    quotas = [round(fraction * total, 9) for fraction in fractions]
    counts = [math.floor(quota) for quota in quotas]
    lots = torch.randperm(len(fractions), generator=generator).tolist()
    by_remainder = sorted(lots, key=lambda part: counts[part] - quotas[part])
    for part in by_remainder[: total - sum(counts)]:
        counts[part] += 1
    while total >= len(counts) and 0 in counts:
        counts[counts.index(max(counts))] -= 1
        counts[counts.index(0)] += 1
    return counts
