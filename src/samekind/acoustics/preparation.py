"""From waveforms to what networks of sounds take, in the steps of Kaldi's recipes for speakers."""

from torch import Tensor, nn

from samekind.acoustics.features import Features, Representation, Window
from samekind.acoustics.padding import lengths_of, marked, repeated
from samekind.acoustics.sliding_mean import without_sliding_mean
from samekind.acoustics.voice_activity import only_voiced
from samekind.errors import DataError, SettingError


class Preparation(nn.Module):
    """Waveforms (n, 1, samples) to features (n, coefficients, frames), both padded with NaN.

    Features as in `Features`; less the mean over ``normalise`` frames around each (0: as they are); with
    ``voice_activity`` those of frames with a voice, or all where there is none; and repeated from the start
    to ``shortest`` frames at least. What is features already is only repeated.
    """

    def __init__(
        self,
        *,
        rate: int = 16000,
        representation: Representation = "mfcc",
        coefficients: int | None = None,
        window: Window = "povey",
        dither: float = 0.0,
        normalise: int = 300,
        voice_activity: bool = True,
        shortest: int = 100,
    ) -> None:
        super().__init__()
        if normalise < 0 or shortest < 1 or dither < 0:
            raise SettingError(
                "expected normalise and dither from 0 up, and shortest from 1 up; "
                f"got {normalise}, {dither:g} and {shortest}"
            )
        self.extractor = Features(
            rate=rate, representation=representation, coefficients=coefficients, window=window, dither=dither
        )
        self.normalise, self.voice_activity, self.shortest = normalise, voice_activity, shortest

    @property
    def coefficients(self) -> int:
        """How many numbers a frame has."""
        return self.extractor.coefficients

    def forward(self, x: Tensor) -> Tensor:
        """Features, no sound with fewer than ``shortest`` frames."""
        features = self.features(x)
        if not x.shape[0]:
            return features
        return marked(*repeated(features, lengths_of(features), self.shortest))

    def features(self, x: Tensor) -> Tensor:
        """Features as they are. Raises DataError for anything but sounds or as many coefficients."""
        if x.dim() != 3 or x.shape[1] not in (1, self.coefficients) or not x.is_floating_point():
            raise DataError(
                "the encoder takes sounds, floats (n, 1, samples), or their features "
                f"(n, {self.coefficients}, frames); got {tuple(x.shape)} of {x.dtype}"
            )
        if not x.shape[0]:
            return x.new_empty(0, self.coefficients, self.shortest)
        if x.shape[1] > 1:
            return x
        values, energy, lengths = self.extractor(x[:, 0], lengths_of(x))
        if self.normalise:
            values = without_sliding_mean(values, lengths, window=self.normalise)
        if self.voice_activity:
            values, lengths = only_voiced(values, energy, lengths)
        return marked(values, lengths)
