"""Encoders around another encoder: what they have from the one inside."""

import inspect
from typing import Any, TypeVar

from torch import nn

Wrapper = TypeVar("Wrapper", bound=nn.Module)

#: What an encoder around another passes on, where the one inside has it.
PASSED_ON = ("dimension", "feature_dimension", "map_channels", "stages", "attention", "embedding")


def around_encoder(kind: type[Wrapper]) -> type[Wrapper]:
    """Give a class with an ``encoder`` inside what that one has, but for what the class has or declares
    itself.
    """
    own = vars(kind).keys() | inspect.get_annotations(kind).keys()
    for name in PASSED_ON:
        if name not in own:
            setattr(kind, name, _inner(name))
    kind.is_wrapper = True  # type: ignore[attr-defined]
    return kind


def network_of(encoder: nn.Module) -> Any:
    """The network of an encoder: the innermost of encoders around each other."""
    inner: Any = encoder
    while getattr(inner, "is_wrapper", False):
        inner = inner.encoder
    return inner


def _inner(name: str) -> property:
    return property(lambda self: getattr(self.encoder, name), doc=f"The ``{name}`` of the encoder inside.")
