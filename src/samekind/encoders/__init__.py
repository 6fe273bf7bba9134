"""Items to embeddings.

An encoder is a module with a ``dimension``: ``forward`` takes items (n, …) to embeddings (n,
dimension), not normalised, and ``features`` to what its last layer sees. Input of another shape is
refused with a ``DataError``.
"""

from samekind.encoders.lenet import LeNet
from samekind.encoders.mlp import MLP
from samekind.encoders.resnet import ResNet18
from samekind.encoders.small_convnet import SmallConvnet

__all__ = ["MLP", "LeNet", "ResNet18", "SmallConvnet"]
