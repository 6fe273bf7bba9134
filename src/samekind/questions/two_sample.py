"""Do two collections come from one distribution, as the space sees them?"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from samekind.data import Collection, Stored
from samekind.data.drawing import at_most
from samekind.decisions import Kind
from samekind.inference import two_sample as kernel_test
from samekind.measures import TwoSample
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import embedded
from samekind.space import MetricSpace

#: Below this p-value the answer is "different".
LEVEL = 0.05


class Side(NamedTuple):
    """One of the collections: where it is from, its items, and how many of them were compared."""

    source: str
    items: int
    compared: int
    skipped: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TwoSampleSettings:
    """How scores become a kernel, and how many shuffles it is compared by.

    ``symmetrise`` is for scores that depend on the order; ``spectrum`` makes the kernel semidefinite. At most
    ``limit`` items of a side are used, drawn at random.
    """

    kind: Kind = "similarity"
    symmetrise: Literal["max", "mean"] = "max"
    spectrum: Literal["clip", "shift"] = "clip"
    permutations: int = 1000
    limit: int = 1000
    seed: int = 0


@dataclass(frozen=True)
class Tested:
    """The result of a two-sample test by the maximum mean discrepancy."""

    sides: tuple[Side, Side]
    settings: TwoSampleSettings
    result: TwoSample

    @property
    def different(self) -> bool:
        return self.result.p_value < LEVEL

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: side._asdict() for name, side in zip("AB", self.sides, strict=True)},
            "kind": self.settings.kind,
            "symmetrise": self.settings.symmetrise,
            "spectrum": self.settings.spectrum,
            "seed": self.settings.seed,
            **self.result._asdict(),
            "different": self.different,
        }


def two_sample(
    space: MetricSpace,
    first: Collection,
    second: Collection,
    *,
    settings: TwoSampleSettings | None = None,
    sources: tuple[str, str] = ("A", "B"),
    progress: Progress = silent,
) -> Tested:
    """Test whether two collections differ, with the learned similarity as kernel."""
    used, collections = settings or TwoSampleSettings(), (first, second)
    z = [
        embedded(space, _drawn(side.inputs, used.limit, used.seed + place), title=title, progress=progress)
        for place, (side, title) in enumerate(zip(collections, ("embed A", "embed B"), strict=True))
    ]
    result = kernel_test(
        space,
        *z,
        kind=used.kind,
        symmetrise=used.symmetrise,
        spectrum=used.spectrum,
        permutations=used.permutations,
        seed=used.seed,
    )
    one, other = (
        Side(source, len(side.ids), len(vectors), side.skipped)
        for source, side, vectors in zip(sources, collections, z, strict=True)
    )
    return Tested((one, other), used, result)


def _drawn(inputs: Tensor | Stored, limit: int, seed: int) -> Tensor | Stored:
    """At most so many of the items, drawn at random, in their order; pictures are not decoded yet."""
    if len(inputs) <= limit:
        return inputs
    chosen = at_most(len(inputs), limit, seed=seed)
    return inputs[chosen] if isinstance(inputs, torch.Tensor) else inputs.take(chosen)
