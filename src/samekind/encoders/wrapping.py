"""Encoders around another encoder: what they have from the one inside."""

import inspect
from typing import Any, TypeVar

from torch import nn

Wrapper = TypeVar("Wrapper", bound=nn.Module)

#: What an encoder around another passes on, where the one inside has it.
PASSED_ON = ("dimension", "feature_dimension", "map_channels", "stages", "attention", "embedding")


def around_encoder(wrapper: type[Wrapper]) -> type[Wrapper]:
    """Let a class pass on the properties of the ``encoder`` inside it, except those that it defines."""
    own = vars(wrapper).keys() | inspect.get_annotations(wrapper).keys()
    for name in PASSED_ON:
        if name not in own:
            setattr(wrapper, name, _inner(name))
    wrapper.is_wrapper = True  # type: ignore[attr-defined]
    return wrapper


def network_of(encoder: nn.Module) -> Any:
    """The network of an encoder: the innermost of encoders around each other."""
    inner: Any = encoder
    while getattr(inner, "is_wrapper", False):
        inner = inner.encoder
    return inner


def _inner(name: str) -> property:
    return property(lambda self: getattr(self.encoder, name), doc=f"The ``{name}`` of the encoder inside.")
