"""Which places of a picture raise a score.

Selvaraju et al., "Grad-CAM: Visual Explanations from Deep Networks via Gradient-based Localization", ICCV
2017.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from samekind.encoders import Attended, Views
from samekind.encoders.wrapping import network_of
from samekind.errors import SpaceError, nearest
from samekind.inference.embed import asking, device_of
from samekind.space import MetricSpace


def grad_cam(
    space: MetricSpace, inputs: Tensor, score: Callable[[Tensor], Tensor], *, layer: str | None = None
) -> Tensor:
    """How much each place of a layer's map raises the score of each picture: (n, height, width), on the CPU.

    ``inputs`` (n, channels, height, width) are as the encoder takes them; ``score`` takes embeddings (n, d)
    to (n,). The channels of the map are summed, each weighted by the mean gradient of the score; negative
    sums are 0. ``layer`` None is the last one that the features are made of. The space does not change.
    """
    layer = layer_of(space.encoder, layer)
    encoder: Any = space.encoder
    with asking(space), torch.enable_grad():
        for module in space.modules():
            if isinstance(module, Views):
                module.training = True  # the picture as it is, without its mirrored copy
        with _leaf_output(encoder.stages()[layer][-1]) as outputs:
            values = score(space.embed(inputs.to(device_of(space))))
        [output] = outputs
        [slopes] = torch.autograd.grad(values.sum(), output, materialize_grads=True)
    return (slopes.mean((2, 3), keepdim=True) * output.detach()).sum(1).relu().float().cpu()


def layer_of(encoder: nn.Module, name: str | None = None) -> str:
    """The name of a map of an encoder: the one given, or the last that its features are made of.

    With attention that is the last attended layer: the last map is only the query. Raises SpaceError for an
    unknown name or an encoder without maps.
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
def _leaf_output(module: nn.Module) -> Iterator[list[Tensor]]:
    """The output of the module as a leaf with a gradient, even if all layers before it are frozen."""
    outputs: list[Tensor] = []

    def keep(_: nn.Module, __: Any, output: Tensor) -> Tensor:
        outputs.append(output.detach().requires_grad_())
        return outputs[-1]

    handle = module.register_forward_hook(keep)
    try:
        yield outputs
    finally:
        handle.remove()
