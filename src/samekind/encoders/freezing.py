"""What training leaves as it is: batch statistics, the first stage, or everything before the embedding."""

from collections.abc import Mapping
from typing import Literal, Protocol, TypeVar, cast, runtime_checkable

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from samekind.errors import SettingError

#: "train": batch normalisation uses the batch in training and keeps running statistics. "frozen": it uses the
#: statistics it came with, also in training, and never changes them; its scale and offset still learn.
BatchNorm = Literal["train", "frozen"]

#: Which stages do not learn: none, the first ("stem"), or all but the embedding ("features").
Freeze = Literal["none", "stem", "features"]

Stages = Mapping[str, list[nn.Module]]


class Freezable(Protocol):
    """What the functions that are methods of an encoder ask of it."""

    batch_norm: BatchNorm
    freeze: Freeze

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, from the input to the embedding."""

    def train(self, mode: bool = True) -> object:
        """Training or evaluation mode."""


@runtime_checkable
class Begun(Protocol):
    """What `begin` makes of it."""

    pretrained: bool  # whether it came with weights that were learned somewhere, or they were drawn
    batch_norm: BatchNorm
    freeze: Freeze

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, from the input to the embedding."""


Network = TypeVar("Network", bound=Freezable)


def expect_choices(*, batch_norm: str, freeze: str) -> None:
    """Refuse what is not one of the words."""
    if batch_norm not in ("train", "frozen"):
        raise SettingError(f'batch_norm is "train" or "frozen"; got "{batch_norm}"')
    if freeze not in ("none", "stem", "features"):
        raise SettingError(f'freeze is "none", "stem" or "features"; got "{freeze}"')


def hold(stages: Stages, *, freeze: Freeze) -> None:
    """Take the parameters of the frozen stages out of training."""
    for module in _frozen(stages, freeze):
        module.requires_grad_(False)


def settle(stages: Stages, *, batch_norm: BatchNorm, freeze: Freeze) -> None:
    """To be called after every ``train()``: frozen stages, and frozen batch normalisation, evaluate."""
    for module in _frozen(stages, freeze):
        module.eval()
    if batch_norm == "frozen":
        for modules in stages.values():
            for each in (each for module in modules for each in module.modules()):
                if isinstance(each, _BatchNorm):
                    each.eval()


def begin(network: Freezable, *, pretrained: bool = False) -> None:
    """To be called when a network is complete: what it freezes neither learns nor trains from now on, and it
    says whether it came with weights.
    """
    cast(Begun, network).pretrained = pretrained
    hold(network.stages(), freeze=network.freeze)
    network.train()


def train_unless_frozen(self: Network, mode: bool = True) -> Network:
    """Training or evaluation mode; what is frozen stays in evaluation mode."""
    nn.Module.train(cast(nn.Module, self), mode)
    settle(self.stages(), batch_norm=self.batch_norm, freeze=self.freeze)
    return self


def frozen_as_drawn(encoder: nn.Module) -> tuple[str, str] | None:
    """The name of a network in an encoder, or the encoder itself, that would keep what was drawn for it, and
    the setting that says so; None where everything frozen came with weights.
    """
    for each in encoder.modules():
        if not isinstance(each, Begun) or each.pretrained:
            continue
        if _frozen(each.stages(), each.freeze):
            return type(each).__name__, f'freeze = "{each.freeze}"'
        inside = [
            inner for modules in each.stages().values() for module in modules for inner in module.modules()
        ]
        if each.batch_norm == "frozen" and any(isinstance(inner, _BatchNorm) for inner in inside):
            return type(each).__name__, 'batch_norm = "frozen"'
    return None


def _frozen(stages: Stages, freeze: Freeze) -> list[nn.Module]:
    names = {
        "none": [],
        "stem": list(stages)[:1],
        "features": [name for name in stages if name != "embedding"],
    }[freeze]
    return [module for name in names for module in stages[name]]
