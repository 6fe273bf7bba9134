"""Items to embeddings: in batches, on the space's device, in evaluation mode."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

from samekind.data import Stored, scaled
from samekind.data.media import decoder
from samekind.data.stored import fetched
from samekind.errors import SpaceError, expect
from samekind.space import MetricSpace


@contextmanager
def asking(space: MetricSpace) -> Iterator[None]:
    """Evaluation mode and no gradient while a space is asked; afterwards each part is in its old mode."""
    modes = [(module, module.training) for module in space.modules()]
    space.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        # One by one: a part may have been frozen in evaluation mode while the rest trains.
        for module, mode in modes:
            module.training = mode


def embed(space: MetricSpace, inputs: Tensor | Stored, *, batch: int = 512) -> Tensor:
    """Embeddings (n, d), on the CPU, of items given as a tensor (n, …) or as stored pictures.

    Bytes become numbers in [0, 1] on the space's device; stored pictures are decoded a batch or two ahead and
    never all held at once.
    """
    expect(space, MetricSpace, "a space itself, such as MetricSpace.load(folder)")
    expect(inputs, (Tensor, Stored), "inputs, a tensor (n, …) or stored pictures, such as items.inputs")
    if not len(inputs):
        return torch.empty(0, space.prototypes.dimension)
    device = device_of(space)
    places = [slice(start, start + batch) for start in range(0, len(inputs), batch)]
    with asking(space):
        batches = (scaled(each.to(device)) for each in fetched(inputs, places))
        return torch.cat([space.embed(each).float().cpu() for each in batches])


def embed_files(space: MetricSpace, paths: Iterable[str | Path], *, batch: int = 512) -> Tensor:
    """Embeddings (n, d) of stored items, read the way the space's training data was; of every one of them."""
    if space.reader is None:
        raise SpaceError("this space does not say how to read a file; pass tensors to embed instead")
    files = [Path(path) for path in paths]
    pictures = decoder(space.reader, files)
    if pictures is not None:
        return embed(space, Stored(files, pictures, skippable=False), batch=batch)
    items = [space.reader.read(file) for file in files]
    return embed(space, space.reader.medium.batch(items) if items else torch.empty(0), batch=batch)


def device_of(space: MetricSpace) -> torch.device:
    """Where the space lives; a space without a single number lives on the CPU."""
    return next((each.device for each in space.state_dict().values()), torch.device("cpu"))
