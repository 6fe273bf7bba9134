"""Which places of a picture speak for a score.

Selvaraju et al., "Grad-CAM: Visual Explanations from Deep Networks via Gradient-based Localization", ICCV
2017.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from samekind.encoders import Attended
from samekind.encoders.standardised import network_of
from samekind.errors import SpaceError, nearest
from samekind.inference.embed import asking, device_of
from samekind.space import MetricSpace


def grad_cam(
    space: MetricSpace, inputs: Tensor, score: Callable[[Tensor], Tensor], *, layer: str | None = None
) -> Tensor:
    """What each place of a layer's map does for the score of each picture: (n, height, width), on the CPU.

    ``inputs`` (n, channels, height, width) are as the encoder takes them; ``score`` takes embeddings (n, d)
    to one number each, (n,). The channels of the map are added up, each weighted with the mean slope of the
    score along it, and what speaks against the score is 0: so is everything where nothing speaks for it.
    ``layer`` None is the last that the features are made of. The space is left as it was.
    """
    layer = layer_of(space.encoder, layer)
    encoder: Any = space.encoder
    with asking(space), torch.enable_grad():
        with _made_a_start(encoder.stages()[layer][-1]) as found:
            values = score(space.embed(inputs.to(device_of(space))))
        [start] = found
        [slopes] = torch.autograd.grad(values.sum(), start, materialize_grads=True)
    return (slopes.mean((2, 3), keepdim=True) * start.detach()).sum(1).relu().float().cpu()


def layer_of(encoder: nn.Module, name: str | None = None) -> str:
    """The map of an encoder to look at: the one named, or the last that its features are made of.

    With attention this is the last layer attended to: the map after it is only what is asked with. An
    unknown name is answered with the nearest, an encoder without maps refused.
    """
    inner = network_of(encoder)
    if not hasattr(inner, "map_channels") or not hasattr(inner, "stages"):
        raise SpaceError(
            f"{type(inner).__name__} has no maps to look at; this needs an image network with named stages, "
            "such as ResNet18 or EfficientNetLite: train with --set space.encoder.name=ResNet18"
        )
    known: list[str] = list(inner.map_channels)
    if name is not None and name not in known:
        raise SpaceError(f'the encoder has no map "{name}"; {nearest(name, known)}')
    if name is None and isinstance(inner, Attended) and not inner.with_last:
        return max(inner.attended, key=known.index)
    return name or known[-1]


@contextmanager
def _made_a_start(module: nn.Module) -> Iterator[list[Tensor]]:
    """What the module gives, as a tensor slopes can be asked for, whatever lies before it is frozen."""
    found: list[Tensor] = []

    def keep(_: nn.Module, __: Any, given: Tensor) -> Tensor:
        found.append(given.detach().requires_grad_())
        return found[-1]

    handle = module.register_forward_hook(keep)
    try:
        yield found
    finally:
        handle.remove()
