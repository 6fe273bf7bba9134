"""Where does the network look? Its attention, and the evidence for its answer (Grad-CAM)."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from samekind.data import scaled
from samekind.errors import SpaceError
from samekind.inference import asking, device_of, grad_cam
from samekind.inference.grad_cam import layer_of
from samekind.space import MetricSpace


@dataclass(frozen=True)
class Looked:
    """The score of a picture with its nearest class ``name``, or with the picture ``like`` it; where the
    network looked, (height, width) for each layer of attention, and ``evidence``, which is Grad-CAM.
    """

    score: float
    name: str | None
    like: str | None
    attention: dict[str, Tensor]
    evidence: Tensor

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values: of each map its size and where it is highest."""
        return {
            "score": self.score,
            **({"class": self.name} if self.like is None else {"like": self.like}),
            "attention": {layer: _peak(weights) for layer, weights in self.attention.items()},
            "grad_cam": _peak(self.evidence),
        }


def drawable_layer(space: MetricSpace, layer: str | None = None, *, like: bool = False) -> str:
    """The layer that Grad-CAM looks at: the named one, or the last that the features are made of.

    Raises SpaceError for a space that reads no pictures, has no such layer, or has neither classes nor a
    picture to be ``like``.
    """
    if space.reader is not None and not space.reader.medium.colours:
        raise SpaceError(
            f"only pictures can be drawn on; this space reads items of shape {space.reader.shape}"
        )
    name = layer_of(space.encoder, layer)
    if not like and not space.classes:
        raise SpaceError("this space knows no class yet; name a picture to compare with (--like FILE)")
    return name


def attention(
    space: MetricSpace, image: Tensor, layer: str, *, other: Tensor | None = None, like: str | None = None
) -> Looked:
    """Where the encoder looks in one picture (channels, height, width), by Grad-CAM on a ``layer``.

    ``other`` is the embedding (1, d) of the picture called ``like``; without it, the nearest class counts.
    """

    def scores(z: Tensor) -> Tensor:  # (1, classes), or (1, 1) for the other picture
        return space.score_classes(z) if other is None else space.score(other, z)[:, None]

    x = scaled(image[None].to(device_of(space)))
    encoder: Any = space.encoder
    with asking(space):
        values = scores(space.embed(x))[0]
        weights = encoder.attention(x) if hasattr(encoder, "attention") else {}
    best = int(values.argmax())
    return Looked(
        score=float(values[best]),
        name=space.classes[best] if other is None else None,
        like=like,
        attention={name: maps[0].cpu() for name, maps in weights.items()},
        evidence=grad_cam(space, x, lambda z: scores(z)[:, best], layer=layer)[0],
    )


def _peak(values: Tensor) -> dict[str, Any]:
    """The size of a map, and the row and column of its maximum; None if it is 0 everywhere."""
    row, column = divmod(int(values.argmax()), values.shape[1])
    return {"shape": list(values.shape), "most_at": [row, column] if bool(values.any()) else None}
