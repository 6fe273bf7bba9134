"""A multilayer perceptron, for vectors."""

from collections.abc import Sequence
from math import prod

from torch import Tensor, nn

from samekind.encoders.stages import embedded
from samekind.errors import DataError, SettingError


class MLP(nn.Module):
    """Inputs (n, …) of ``inputs`` numbers each, flattened, to embeddings (n, dimension).

    Each layer of ``hidden`` is followed by a ReLU and dropout; with no hidden layer it is a linear map.
    """

    def __init__(
        self, *, inputs: int, dimension: int = 64, hidden: Sequence[int] = (256, 256), dropout: float = 0.0
    ) -> None:
        super().__init__()
        if min(inputs, dimension, *hidden) < 1:
            raise SettingError(
                "inputs, dimension and every hidden layer must be at least 1; "
                f"got {inputs}, {dimension} and {list(hidden)}"
            )
        if not 0 <= dropout < 1:
            raise SettingError(f"dropout is a probability below 1; got {dropout}")
        self.inputs = inputs
        self.dimension = dimension
        self.hidden = hidden[:]  # a copy: the caller's list may change
        self.dropout = dropout
        layers: list[nn.Module] = [nn.Flatten()]
        before = inputs
        for width in hidden:
            layers += [nn.Linear(before, width), nn.ReLU(), nn.Dropout(dropout)]
            before = width
        self.layers = nn.Sequential(*layers)
        self.embedding = nn.Linear(before, dimension)

    def features(self, x: Tensor) -> Tensor:
        """The last hidden layer, or the flattened inputs where there is none."""
        if x.dim() < 2 or prod(x.shape[1:]) != self.inputs:
            raise DataError(
                f"the encoder takes items of {self.inputs} numbers, as (n, {self.inputs}) or any shape "
                f"that flattens to it; got {tuple(x.shape)}"
            )
        features: Tensor = self.layers(x)
        return features

    forward = embedded
