"""Encoders of the user, trained in place of the one that a run names."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from samekind.data import Items, scaled
from samekind.data.stored import fetched
from samekind.encoders.wrapping import network_of
from samekind.errors import SamekindError, SettingError, TrainingError
from samekind.parts import fingerprint
from samekind.training.run import Run
from samekind.training.tables import Part

#: The name, in run.json, of an encoder that was passed in.
GIVEN = "given"


def expect_dimension(encoder: nn.Module) -> None:
    """Raise SettingError if a module has no ``dimension``, the length of its embeddings."""
    dimension = getattr(encoder, "dimension", None)
    if not isinstance(dimension, int) or dimension < 1:
        got = "has no dimension" if dimension is None else f"has the dimension {dimension!r}"
        raise SettingError(
            f"the encoder {type(encoder).__name__} {got}; set encoder.dimension to how many numbers its "
            "embeddings have, or wrap it in samekind.encoders.foreign.Foreign(module, feature_dimension=…)"
        )


@torch.no_grad()
def try_out(encoder: Any, items: Items) -> None:
    """Embed two of the items before training. Raises SettingError if the encoder does not take them, or does
    not give embeddings (n, dimension).

    The encoder is in evaluation mode meanwhile, so that its statistics stay.
    """
    if not len(items):
        return
    name = type(network_of(encoder)).__name__
    (shown,) = fetched(items.inputs, [slice(0, 2)])
    device = next((parameter.device for parameter in encoder.parameters()), torch.device("cpu"))
    training = encoder.training
    encoder.eval()
    try:
        embeddings: Any = encoder(scaled(shown.to(device)))
    except SamekindError:
        raise
    except Exception as error:  # the modules of others may raise anything
        why = " ".join(str(error).split()) or type(error).__name__
        raise SettingError(
            f"the encoder {name} does not take these items, (n, {', '.join(map(str, items.shape))}): {why}"
        ) from error
    finally:
        encoder.train(training)
    expected = (len(shown), encoder.dimension)
    if not isinstance(embeddings, Tensor) or embeddings.shape != expected:
        got = tuple(embeddings.shape) if isinstance(embeddings, Tensor) else type(embeddings).__name__
        raise SettingError(
            f"the encoder {name} should give embeddings {expected}, for {len(shown)} items and its dimension "
            f"{encoder.dimension}; it gave {got}. Correct its dimension, or wrap what it returns"
        )


def with_encoder(run: Run, encoder: nn.Module) -> Run:
    """The run as run.json has it: with the class and the fingerprint of the encoder that was passed in."""
    part = Part(GIVEN, {"class": type(encoder).__qualname__, "fingerprint": _fingerprint(encoder)})
    return replace(run, space=replace(run.space, encoder=part))


def expect_same_encoder(now: Mapping[str, Any], before: Mapping[str, Any], folder: Path) -> None:
    """Raise TrainingError if a run would go on with another encoder, and one of the two was passed in."""
    new, old = now["space"]["encoder"], before["space"]["encoder"]
    if new == old or GIVEN not in (new["name"], old["name"]):
        return
    if new["name"] != GIVEN:
        raise TrainingError(
            f"{folder} holds a run with an encoder of your own, {old['class']}; "
            "pass it as encoder=… to go on with it, or choose another folder"
        )
    if old["name"] != GIVEN:
        raise TrainingError(
            f"{folder} holds a run with the encoder {old['name']}, and not with {new['class']}; "
            "choose another folder, or leave out encoder=… to go on with it"
        )
    raise TrainingError(
        f"{folder} holds a run with another encoder ({old['class']} there, {new['class']} here): its "
        "class, the shapes of its weights, or what of it learns differ; choose another folder"
    )


def _fingerprint(encoder: nn.Module) -> str:
    """A digest of the class, the shapes of the tensors, and which parameters and modules learn."""
    encoder.train()  # modules that stay in evaluation mode are frozen
    lines = [fingerprint(encoder)]
    lines += [name for name, parameter in encoder.named_parameters() if parameter.requires_grad]
    lines += [name for name, module in encoder.named_modules() if module.training]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
