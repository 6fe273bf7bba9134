"""The front end of a network on features of sound: waveforms become features, without their silence."""

from typing import Any, Literal

from torch import Tensor, nn

from samekind.acoustics import Preparation
from samekind.encoders.wrapping import around_encoder
from samekind.errors import SettingError


@around_encoder
class FrontEnd(nn.Module):
    """Waveforms (n, 1, samples) to features (n, coefficients, frames), and these through the ``encoder``,
    which says by its ``coefficients`` how many it takes. The steps are those of Kaldi's recipes.

    ``representation`` is "mfcc" or "log-mel", from frames of 25 ms, 10 ms apart, weighted by the
    ``window``; ``dither`` is noise of so many 16-bit steps in training. The mean over ``normalise``
    frames around each frame is taken off (0: nothing). With ``voice_activity`` frames without a voice are
    left out, unless there is none with one. A sound with fewer than ``shortest`` frames is repeated from
    its start.

    Items that are features already, (n, coefficients, frames), go on as they are: `prepared` may have been
    asked for them long before.
    """

    encoder: Any

    def __init__(
        self,
        *,
        encoder: nn.Module,
        rate: int = 16000,
        representation: Literal["mfcc", "log-mel"] = "mfcc",
        window: Literal["povey", "hamming", "hann"] = "povey",
        dither: float = 0.0,
        normalise: int = 300,
        voice_activity: bool = True,
        shortest: int = 100,
    ) -> None:
        super().__init__()
        coefficients = getattr(encoder, "coefficients", None)
        if not isinstance(coefficients, int):
            raise SettingError(
                f"FrontEnd needs an encoder of sounds, such as XVector; got {type(encoder).__name__}"
            )
        self.encoder = encoder
        self.rate = rate
        self.representation = representation
        self.window = window
        self.dither = dither
        self.normalise = normalise
        self.voice_activity = voice_activity
        self.shortest = shortest
        self.preparation = Preparation(
            rate=rate,
            representation=representation,
            coefficients=coefficients,
            window=window,
            dither=dither,
            normalise=normalise,
            voice_activity=voice_activity,
            shortest=shortest,
        )

    def prepared(self, x: Tensor) -> Tensor:
        """The input of the encoder inside: (n, coefficients, frames), padded with NaN."""
        features: Tensor = self.preparation(x)
        return features

    def features(self, x: Tensor) -> Tensor:
        features: Tensor = self.encoder.features(self.prepared(x))
        return features

    def forward(self, x: Tensor) -> Tensor:
        embeddings: Tensor = self.encoder(self.prepared(x))
        return embeddings
