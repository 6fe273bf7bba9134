"""Freezing of batch statistics, of the first stage, or of everything before the embedding."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from samekind.errors import SettingError

#: "train": batch normalisation uses the batch in training and keeps running statistics. "frozen": it uses the
#: statistics it came with, also in training, and never changes them; its scale and offset still learn.
BatchNorm = Literal["train", "frozen"]

#: Which stages do not learn: none, the first ("stem"), or all but the embedding ("features").
Freeze = Literal["none", "stem", "features"]

Stages = Mapping[str, list[nn.Module]]

Network = TypeVar("Network", bound=nn.Module)


def expect_choices(*, batch_norm: str, freeze: str) -> None:
    """Raises SettingError for a word that is not a choice."""
    if batch_norm not in ("train", "frozen"):
        raise SettingError(f'batch_norm is "train" or "frozen"; got "{batch_norm}"')
    if freeze not in ("none", "stem", "features"):
        raise SettingError(f'freeze is "none", "stem" or "features"; got "{freeze}"')


def hold(stages: Stages, *, freeze: Freeze) -> None:
    """Take the parameters of the frozen stages out of training."""
    for module in _frozen(stages, freeze):
        module.requires_grad_(False)


def settle(stages: Stages, *, batch_norm: BatchNorm, freeze: Freeze) -> None:
    """Put frozen stages and batch normalisation in evaluation mode, after every ``train()``."""
    for module in _frozen(stages, freeze):
        module.eval()
    if batch_norm == "frozen":
        for norm in _batch_norms(stages):
            norm.eval()


def begin(network: Any, *, pretrained: bool = False) -> None:
    """Finish a new network: ``freeze``, ``batch_norm``, and whether its weights were learned or drawn."""
    network.pretrained = pretrained
    hold(network.stages(), freeze=network.freeze)
    network.train()


def train_unless_frozen(self: Network, mode: bool = True) -> Network:
    """Training or evaluation mode; what is frozen stays in evaluation mode."""
    nn.Module.train(self, mode)
    network: Any = self
    settle(network.stages(), batch_norm=network.batch_norm, freeze=network.freeze)
    return self


def frozen_as_drawn(encoder: nn.Module) -> tuple[str, str] | None:
    """A network in an encoder that would keep the random weights drawn for it: its name, and the setting that
    freezes it. None if everything frozen came with learned weights.
    """
    for network in _begun(encoder):
        if network.pretrained:
            continue
        stages: Stages = network.stages()
        if _frozen(stages, network.freeze):
            return type(network).__name__, f'freeze = "{network.freeze}"'
        if network.batch_norm == "frozen" and any(_batch_norms(stages)):
            return type(network).__name__, 'batch_norm = "frozen"'
    return None


def came_with_weights(encoder: nn.Module) -> list[nn.Module]:
    """The modules of an encoder whose weights were learned somewhere: all stages of its pretrained networks
    but the embedding, which is new.
    """
    return [
        module
        for network in _begun(encoder)
        if network.pretrained
        for name, modules in network.stages().items()
        if name != "embedding"
        for module in modules
    ]


def _begun(encoder: nn.Module) -> list[Any]:
    """The networks in an encoder that `begin` finished."""
    names = ("pretrained", "freeze", "batch_norm", "stages")
    return [module for module in encoder.modules() if all(hasattr(module, name) for name in names)]


def _frozen(stages: Stages, freeze: Freeze) -> list[nn.Module]:
    names = {
        "none": [],
        "stem": list(stages)[:1],
        "features": [name for name in stages if name != "embedding"],
    }[freeze]
    return [module for name in names for module in stages[name]]


def _batch_norms(stages: Stages) -> Iterable[nn.Module]:
    modules = (inner for modules in stages.values() for module in modules for inner in module.modules())
    return (module for module in modules if isinstance(module, _BatchNorm))
