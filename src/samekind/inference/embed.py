"""Items to embeddings: in batches, on the space's device, in evaluation mode."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from samekind.data import Stored, medium_of, scaled
from samekind.data.media.medium import laid_out
from samekind.data.stored import fetched
from samekind.errors import SpaceError, expect
from samekind.space import MetricSpace

#: Embeddings that are scored against the classes at a time.
BATCH = 4096
#: A CPU encodes items of at most so many numbers at a time, one item at least: the layers of a network then
#: stay near its cache. Measured with EfficientNet-Lite0 at 128 pixels: 8 pictures took 0.04 s each, 128 took
#: 0.10 s each.
CPU_NUMBERS = 400_000

#: Sounds are long: so many samples are encoded at a time by other devices, and read together from files.
SAMPLES, SAMPLES_READ = 2**25, 2**26

NOT_FINITE = "a score is not finite; look at the items it came from, and at the space"

Block = TypeVar("Block")


@contextmanager
def asking(space: nn.Module) -> Iterator[None]:
    """Evaluation mode and no gradient within this context; afterwards each part has its former mode again."""
    modes = [(module, module.training) for module in space.modules()]
    space.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        # One by one: a part may have been frozen in evaluation mode while the rest trains.
        for module, mode in modes:
            module.training = mode


def asked_blocks(space: MetricSpace, blocks: Iterator[Block]) -> Iterator[Block]:
    """The blocks of an iterator, each computed within `asking`; between two of them the caller has its own
    modes and gradients.
    """
    while True:
        with asking(space):
            block = next(blocks, None)
        if block is None:
            return
        yield block


def in_batches(space: MetricSpace, z: Tensor, score: Callable[[Tensor], Tensor]) -> Tensor:
    """A function of embeddings, asked batch by batch on the space's device: (n, d) -> (n, …), on the CPU."""
    device = device_of(space)
    with asking(space):
        return torch.cat([score(part.to(device)).cpu() for part in torch.split(z, BATCH)])


def expect_finite(scores: Tensor) -> None:
    """Raise SpaceError if a score is NaN or infinite."""
    if not scores.isfinite().all():
        raise SpaceError(NOT_FINITE)


def shifted(positions: slice, by: int) -> slice:
    """A slice further along."""
    return slice(positions.start + by, positions.stop + by)


def embed(space: MetricSpace, inputs: Tensor | Stored, *, batch: int = 512) -> Tensor:
    """Embeddings (n, d), on the CPU, of items given as a tensor (n, …) or as stored files.

    Bytes become numbers in [0, 1] on the space's device; stored pictures are decoded a batch or two ahead and
    never all held at once.
    """
    expect(space, MetricSpace, "a space itself, such as MetricSpace.load(folder)")
    expect(inputs, (Tensor, Stored), "inputs, a tensor (n, …) or stored pictures, such as items.inputs")
    if not len(inputs):
        return torch.empty(0, space.prototypes.dimension)
    return embed_by(space, inputs, batch=batch)


def embed_by(encoder: Any, inputs: Tensor | Stored, *, batch: int = 512) -> Tensor:
    """The same by an encoder alone."""
    if not len(inputs):
        return torch.empty(0, int(encoder.dimension))
    device = device_of(encoder)
    if medium_of(inputs.shape[1:]).padded:
        batch = max(1, min(batch, SAMPLES_READ // inputs.shape[-1]))
    places = [slice(start, start + batch) for start in range(0, len(inputs), batch)]
    with asking(encoder):
        parts = (part for raw in fetched(inputs, places) for part in _parts(raw.to(device)))
        return torch.cat([encoder(laid_out(scaled(part))).float().cpu() for part in parts])


def _parts(items: Tensor) -> tuple[Tensor, ...]:
    """A batch (n, …), cut as its device is fastest with it."""
    most = CPU_NUMBERS
    if items.device.type != "cpu":
        if not medium_of(items.shape[1:]).padded:
            return (items,)
        most = SAMPLES
    return torch.split(items, max(1, most // max(1, items[0].numel())))


def embed_files(space: MetricSpace, paths: Iterable[str | Path], *, batch: int = 512) -> Tensor:
    """Embeddings (n, d) of stored items, read like the space's training data; each must be readable."""
    if space.reader is None:
        raise SpaceError("this space does not say how to read a file; pass tensors to embed instead")
    files = [Path(path) for path in paths]
    pictures = space.reader.medium.decoder(space.reader, files)
    if pictures is not None:
        return embed(space, Stored(files, pictures, skippable=False), batch=batch)
    items = [space.reader.read(file) for file in files]
    return embed(space, space.reader.medium.batch(items) if items else torch.empty(0), batch=batch)


def device_of(space: nn.Module) -> torch.device:
    """The device of a space, or of one of its parts; the CPU for one without tensors."""
    # What follows from settings, such as the filters of sounds, is not in the state.
    tensors = itertools.chain(space.state_dict().values(), space.buffers())
    return next((tensor.device for tensor in tensors), torch.device("cpu"))
