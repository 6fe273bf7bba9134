"""Made-up items, for tests and first tries."""

import torch

from samekind.data.items import Items
from samekind.errors import SettingError


def clusters(*, classes: int, items: int, dimension: int, spread: float = 0.3, seed: int = 0) -> Items:
    """Gaussian clusters around Gaussian centres: ``items`` vectors in each of ``classes`` classes.

    The centres have unit variance and the items lie ``spread`` around theirs in every direction: 0 puts
    all items of a class on one point, 1 and more makes the classes overlap. The items of a class are
    together, in class order.
    """
    for name, value in (("classes", classes), ("items", items), ("dimension", dimension)):
        if value < 1:
            raise SettingError(f"{name} must be at least 1; got {value}")
    if spread < 0:
        raise SettingError(f"spread must be 0 or more; got {spread}")
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn(classes, 1, dimension, generator=generator)
    offsets = torch.randn(classes, items, dimension, generator=generator)
    return Items(
        inputs=(centres + spread * offsets).flatten(0, 1),
        labels=torch.arange(classes).repeat_interleave(items),
        classes=tuple(str(index) for index in range(classes)),
        name="clusters",
    )
