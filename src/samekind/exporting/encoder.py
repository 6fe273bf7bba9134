"""The encoder of a space as a graph, and the front end of sounds as arrays."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from samekind.acoustics import Preparation
from samekind.data import Reader
from samekind.encoders import FrontEnd
from samekind.errors import SpaceError
from samekind.exporting.graphs import onnx_bytes
from samekind.portable.description import FrontEndSettings

#: Frames of the example that a network of sounds is written down with; any other number can be used later.
FRAMES = 120

Arrays = dict[str, "np.ndarray[Any, np.dtype[np.float32]]"]


class EncoderFiles(NamedTuple):
    """The graph of an encoder and, for waveforms, how their features are computed before it."""

    graph: bytes
    front_end: FrontEndSettings | None = None
    arrays: Arrays = {}  # noqa: RUF012 (never changed)


def encoder_files(encoder: nn.Module, reader: Reader) -> EncoderFiles:
    """The files of an encoder of items as the reader gives them; for any number of items and, for sounds, of
    any length. Sounds are exported from their features on.
    """
    what = f"the encoder ({type(encoder).__name__})"
    if not reader.medium.padded:
        example = torch.rand(2, *reader.shape, generator=torch.Generator().manual_seed(0))
        return EncoderFiles(_graph(encoder, example, {0: "items"}, what))
    preparation = _preparation(encoder)
    example = torch.randn(2, preparation.coefficients, FRAMES, generator=torch.Generator().manual_seed(0))
    example[1, :, FRAMES - 10 :] = torch.nan
    graph = _graph(encoder, example, {0: "items", 2: "frames"}, what)
    return EncoderFiles(graph, *front_end_of(preparation))


def front_end_of(preparation: Preparation) -> tuple[FrontEndSettings, Arrays]:
    """How waveforms become features, as settings and arrays by the names of their files."""
    features = preparation.extractor
    settings = FrontEndSettings(
        frame=features.frame,
        shift=features.shift,
        size=features.size,
        cepstra=features.representation == "mfcc",
        preemphasis=features.preemphasis,
        normalise=preparation.normalise,
        voice_activity=preparation.voice_activity,
        shortest=preparation.shortest,
    )
    arrays = {
        "window.npy": features.weights[: features.frame],
        "filters.npy": features.filters,
        "cosines.npy": features.cosines,
    }
    return settings, {name: array.numpy() for name, array in arrays.items()}


def _graph(encoder: nn.Module, example: Tensor, axes: dict[int, str], what: str) -> bytes:
    return onnx_bytes(encoder, [example], inputs={"items": axes}, outputs=("embeddings",), what=what)


def _preparation(encoder: nn.Module) -> Preparation:
    """The front end of an encoder of sounds."""
    front_ends = [module for module in encoder.modules() if isinstance(module, FrontEnd)]
    if len(front_ends) != 1:
        raise SpaceError(
            f"the encoder ({type(encoder).__name__}) has {len(front_ends)} front ends for waveforms; an "
            "export needs exactly one, such as FrontEnd around XVector"
        )
    return front_ends[0].preparation
