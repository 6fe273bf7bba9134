"""LeNet as used for MNIST: two convolutions and one dense layer.

After LeCun et al., "Gradient-Based Learning Applied to Document Recognition", Proceedings of the IEEE
1998.
"""

from torch import nn

from samekind.encoders.stages import embedded, square_features
from samekind.errors import SettingError


class LeNet(nn.Module):
    """Square images (n, channels, size, size) to embeddings (n, dimension), none of them negative.

    The last layer is a ReLU, so embeddings lie in the positive orthant and cosines between them in [0,
    1].
    """

    def __init__(self, *, channels: int = 1, size: int = 28, dimension: int = 50) -> None:
        super().__init__()
        if size < 16:
            raise SettingError(
                f"LeNet needs images of 16 pixels or more, got {size}; SmallConvnet takes 8 and more"
            )
        if channels < 1 or dimension < 1:
            raise SettingError(f"channels and dimension must be at least 1; got {channels} and {dimension}")
        self.channels = channels
        self.size = size
        self.dimension = dimension
        self.layers = nn.Sequential(
            nn.Conv2d(channels, 10, kernel_size=5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Conv2d(10, 20, kernel_size=5),
            nn.Dropout2d(0.5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Flatten(),
        )
        side = ((size - 4) // 2 - 4) // 2  # 4 for 28 pixels
        self.embedding = nn.Sequential(nn.Linear(20 * side * side, dimension), nn.ReLU())

    features = square_features
    forward = embedded
