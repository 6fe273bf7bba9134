"""Mean and deviation of features over time: what a sound is like before anything is learned."""

from torch import Tensor, nn

from samekind.encoders.stages import embedded
from samekind.encoders.time_pooling import expect_frames, statistics
from samekind.errors import SettingError


class FrameStatistics(nn.Module):
    """Features (n, coefficients, frames), padded with NaN, to their means and deviations over time.

    For sounds as a reference; it has no weights. Mean and deviation of `FrontEnd` without ``normalise`` tell
    voices and microphones apart.
    """

    def __init__(self, *, coefficients: int = 30) -> None:
        super().__init__()
        if coefficients < 1:
            raise SettingError(f"coefficients must be at least 1; got {coefficients}")
        self.coefficients = coefficients
        self.dimension = self.feature_dimension = 2 * coefficients
        self.embedding = nn.Identity()

    def features(self, x: Tensor) -> Tensor:
        """Means, then deviations."""
        return statistics(*expect_frames(x, self.coefficients))

    forward = embedded
