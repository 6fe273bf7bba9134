"""Unchanged vectors plus the output of a small network."""

from math import prod

from torch import Tensor, nn

from samekind.encoders.stages import embedded
from samekind.errors import DataError, SettingError

#: The deviation of the last weights at the start: not 0, which would stop the gradient of the first layer.
NEAR_ZERO = 1e-4


class ResidualMLP(nn.Module):
    """Inputs (n, …) of ``inputs`` numbers each, flattened, to embeddings (n, inputs), x + B relu(A x + a).

    B begins near 0, so that the embeddings begin as the inputs: a head on good features changes them only as
    far as this lowers the loss. A has ``width`` rows, and ``dropout`` is before B.
    """

    def __init__(self, *, inputs: int, width: int = 256, dropout: float = 0.0) -> None:
        super().__init__()
        if min(inputs, width) < 1:
            raise SettingError(f"inputs and width must be at least 1; got {inputs} and {width}")
        if not 0 <= dropout < 1:
            raise SettingError(f"dropout is a probability below 1; got {dropout}")
        self.inputs = self.dimension = self.feature_dimension = inputs
        self.width = width
        self.dropout = dropout
        last = nn.Linear(width, inputs, bias=False)
        nn.init.normal_(last.weight, std=NEAR_ZERO)
        self.layers = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Dropout(dropout), last)
        self.embedding = nn.Identity()

    def features(self, x: Tensor) -> Tensor:
        if x.dim() < 2 or prod(x.shape[1:]) != self.inputs:
            raise DataError(f"the encoder takes items of {self.inputs} numbers; got {tuple(x.shape)}")
        flat = x.flatten(1)
        added: Tensor = self.layers(flat)
        return flat + added

    forward = embedded
