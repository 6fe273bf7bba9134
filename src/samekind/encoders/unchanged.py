"""No encoder: items as they are."""

from math import prod

from torch import Tensor, nn

from samekind.encoders.stages import embedded
from samekind.errors import DataError, SettingError


class Unchanged(nn.Module):
    """Inputs (n, …) of ``inputs`` numbers each, flattened: these are the embeddings (n, inputs).

    For raw input as a reference, and for features that another encoder computed. It has no weights.
    """

    def __init__(self, *, inputs: int) -> None:
        super().__init__()
        if inputs < 1:
            raise SettingError(f"inputs must be at least 1; got {inputs}")
        self.inputs = self.dimension = self.feature_dimension = inputs
        self.embedding = nn.Identity()

    def features(self, x: Tensor) -> Tensor:
        if x.dim() < 2 or prod(x.shape[1:]) != self.inputs:
            raise DataError(f"the encoder takes items of {self.inputs} numbers; got {tuple(x.shape)}")
        return x.flatten(1)

    forward = embedded
