"""The characters that come with samekind, divided so that no alphabet is in two sets."""

from collections.abc import Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F

from samekind import characters
from samekind.data import Sets, SplitSettings, prepare


def alphabets_apart(
    counts: Sequence[int], *, seed: int, drawings: int | None = None, size: int | None = None
) -> Sets:
    """So many characters to train with, to choose by and to test with; their alphabets are drawn by the seed.
    ``drawings`` keeps the first of each character, of the twenty there are; ``size`` is their side in pixels,
    if they are to be smaller than they come.
    """
    items = replace(characters(), groups=None, domains=None, parts=None)
    names = sorted({name.partition("/")[0] for name in items.classes})
    order = torch.randperm(len(names), generator=torch.Generator().manual_seed(seed)).tolist()
    left = [[name for name in items.classes if name.startswith(f"{names[place]}/")] for place in order]
    parts: list[tuple[str, ...]] = []
    for count in counts:
        drawn: list[str] = []
        while len(drawn) < count:
            drawn += left.pop()
        parts.append(tuple(drawn[:count]))
    few = items.only([name for part in parts for name in part])
    if drawings is not None:
        first = [(few.labels == label).nonzero().flatten()[:drawings] for label in range(len(few.classes))]
        few = few.take(torch.cat(first))
    if size is not None:
        smaller = F.interpolate(few.inputs.float(), size=(size, size), mode="area")
        few = replace(few, inputs=smaller.round().to(torch.uint8))
    settings = SplitSettings(
        unseen=parts[2], validation_classes=parts[1], fractions={"train": 1.0}, seed=seed
    )
    return prepare(few, settings)
