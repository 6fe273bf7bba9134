"""Speaker networks with the weights that they learned on thousands of speakers, from a file that you have.

Each comes with its own front end. ECAPA-TDNN is SpeechBrain's, CAM++ that of 3D-Speaker, ResNet-34 that of
WeSpeaker (Wang et al., "WeSpeaker: A Research and Production Oriented Speaker Embedding Learning Toolkit",
ICASSP 2023).
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from torch import Tensor, nn

from samekind.acoustics import Features, lengths_of, marked, without_sliding_mean
from samekind.acoustics.decibels import Decibels
from samekind.encoders.cam_plus_plus import CAMPlusPlus
from samekind.encoders.ecapa import ECAPA
from samekind.encoders.freezing import BatchNorm, Freeze, begin, expect_choices, train_unless_frozen
from samekind.encoders.sound_resnet import SoundResNet
from samekind.encoders.speaker_weights import load_weights
from samekind.errors import DataError, SettingError

Name = Literal["ecapa", "cam++", "resnet34"]

#: All of them take 80 bands at 16 kHz, less their mean over the whole sound, however long.
RATE, BANDS, WHOLE = 16000, 80, 2**31


class _Published(NamedTuple):
    """How a network is made, and the fingerprint of the file with its weights."""

    make: Any
    fingerprint: str


PUBLISHED = {
    "ecapa": _Published(
        lambda: ECAPA(width=1024, last_width=3072, variant="speechbrain"),
        "0575cb64845e6b9a10db9bcb74d5ac32b326b8dc90352671d345e2ee3d0126a2",
    ),
    "cam++": _Published(CAMPlusPlus, "92f29b94e6948786a26778c9e302525d185bb08c8b9f5252ed98776902840199"),
    "resnet34": _Published(
        lambda: SoundResNet(depths=(3, 4, 6, 3), pooling="sample"),
        "5ef208a9da1453335308a6b6f4e6dfbd7e183a38b604de0a57664f45d257fe94",
    ),
}


def _log_mel(*, window: Literal["povey", "hamming"], loudest: float) -> Features:
    return Features(
        rate=RATE,
        representation="log-mel",
        coefficients=BANDS,
        high=RATE / 2,
        window=window,
        edges="inside",
        loudest=loudest,
    )


#: What makes features of waveforms. 3D-Speaker leaves samples between -1 and 1; WeSpeaker has 16-bit steps.
EXTRACTORS: dict[str, Callable[[], nn.Module]] = {
    "ecapa": partial(Decibels, rate=RATE, bands=BANDS),
    "cam++": partial(_log_mel, window="povey", loudest=1.0),
    "resnet34": partial(_log_mel, window="hamming", loudest=32768.0),
}


class SpeakerNetwork(nn.Module):
    """Waveforms (n, 1, samples) at 16 kHz, padded with NaN, to embeddings: 192 numbers of "ecapa" and
    "cam++", 256 of "resnet34". Items that are its features already, (n, 80, frames), go on as they are.

    ``weights`` is the file with the weights, as it was published; None gives the bare network. A file with
    another SHA-256 than the published one is refused, unless its own is given as ``fingerprint``. A saved
    space is always loaded with None, because it holds its own weights. ``batch_norm`` "frozen" keeps the
    statistics that the network came with. ``freeze`` "features" trains nothing of it.
    """

    def __init__(
        self,
        *,
        network: Name = "ecapa",
        weights: str | None = None,
        fingerprint: str | None = None,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
    ) -> None:
        super().__init__()
        if network not in PUBLISHED:
            raise SettingError(f'network: expected "ecapa", "cam++" or "resnet34", got "{network}"')
        expect_choices(batch_norm=batch_norm, freeze=freeze)
        self.network = network
        self.weights = None  # for its description, see above
        self.fingerprint = None
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.rate = RATE
        self.preparation = SpeakerPreparation(network)
        published = PUBLISHED[network]
        self.module = published.make()
        if weights is not None:
            load_weights(self.module, Path(weights), fingerprint=fingerprint or published.fingerprint)
        self.dimension = int(self.module.dimension)
        begin(self, pretrained=weights is not None)

    @property
    def coefficients(self) -> int:
        return BANDS

    @property
    def embedding(self) -> nn.Module:
        layer: nn.Module = self.module.embedding
        return layer

    def stages(self) -> dict[str, list[nn.Module]]:
        """The first layers, and all others: the last one has learned weights too."""
        first, *others = self.module.children()
        return {"stem": [first], "body": others}

    def prepared(self, x: Tensor) -> Tensor:
        """The input of the network: (n, 80, frames), padded with NaN."""
        features: Tensor = self.preparation(x)
        return features

    def features(self, x: Tensor) -> Tensor:
        features: Tensor = self.module.features(self.prepared(x))
        return features

    def forward(self, x: Tensor) -> Tensor:
        embeddings: Tensor = self.module(self.prepared(x))
        return embeddings

    train = train_unless_frozen


class SpeakerPreparation(nn.Module):
    """Waveforms (n, 1, samples) to the features that a network was trained with, (n, 80, frames), both
    padded with NaN. What is features already goes on as it is.
    """

    def __init__(self, network: Name) -> None:
        super().__init__()
        self.network = network
        self.extractor: nn.Module = EXTRACTORS[network]()

    @property
    def coefficients(self) -> int:
        return BANDS

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() != 3 or x.shape[1] not in (1, BANDS) or not x.is_floating_point():
            raise DataError(
                "the encoder takes sounds, floats (n, 1, samples), or their features "
                f"(n, {BANDS}, frames); got {tuple(x.shape)} of {x.dtype}"
            )
        if not len(x):
            return x.new_empty(0, BANDS, 1)
        if x.shape[1] > 1:
            return x
        values, *_, lengths = self.extractor(x[:, 0], lengths_of(x))
        return marked(without_sliding_mean(values, lengths, window=WHOLE), lengths)

    features = forward
