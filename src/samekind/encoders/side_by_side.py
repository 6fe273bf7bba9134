"""Several encoders of the same items as one."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.encoders.images import expect_sizes
from samekind.encoders.views import resized
from samekind.errors import SettingError


class SideBySide(nn.Module):
    """Items to the embeddings of all ``encoders``, each scaled to length 1 so that none dominates, in a row.

    ``sizes`` gives each encoder pictures of its own size, in pixels. What an encoder freezes stays frozen. A
    stage is an encoder: "encoder1", "encoder2", …; a part of it has a rate of its own by its name, as
    "encoder.encoder1.layer4".
    """

    def __init__(self, *, encoders: Sequence[nn.Module], sizes: Sequence[int] | None = None) -> None:
        super().__init__()
        if not encoders or (sizes is not None and len(sizes) != len(encoders)):
            raise SettingError(
                "expected one encoder or more, and a size for each of them or none; got "
                f"{len(encoders)} encoders and {'no' if sizes is None else len(sizes)} sizes"
            )
        for size in sizes or ():
            expect_sizes({"sizes": size})
        self.encoders = nn.ModuleList(encoders)
        self.sizes = None if sizes is None else list(sizes)
        lengths: list[Any] = [encoder.dimension for encoder in encoders]
        self.dimension: int = sum(lengths)
        self.feature_dimension = self.dimension
        self.embedding = nn.Identity()

    def stages(self) -> dict[str, list[nn.Module]]:
        """The encoders, by their places, and the last stage, which does nothing."""
        named: dict[str, list[nn.Module]] = {
            f"encoder{place}": [encoder] for place, encoder in enumerate(self.encoders, start=1)
        }
        return {**named, "embedding": [self.embedding]}

    def features(self, x: Tensor) -> Tensor:
        sizes: Sequence[int | None] = self.sizes or [None] * len(self.encoders)
        pairs = zip(self.encoders, sizes, strict=True)
        return torch.cat([F.normalize(encoder(resized(x, size))) for encoder, size in pairs], dim=1)

    forward = features
