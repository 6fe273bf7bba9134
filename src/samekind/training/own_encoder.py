"""An encoder of one's own, trained in place of the one that a run names."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from samekind.data import Items, scaled
from samekind.data.stored import fetched
from samekind.encoders.standardised import network_of
from samekind.errors import SamekindError, SettingError, TrainingError
from samekind.parts import fingerprint
from samekind.training.run import Part, Run

#: What stands for the name of an encoder that was passed in.
GIVEN = "given"


def expect_dimension(encoder: nn.Module) -> None:
    """Refuse a module that does not say how many numbers its embeddings have."""
    dimension = getattr(encoder, "dimension", None)
    if not isinstance(dimension, int) or dimension < 1:
        said = "has no dimension" if dimension is None else f"has the dimension {dimension!r}"
        raise SettingError(
            f"the encoder {type(encoder).__name__} {said}; set encoder.dimension to how many numbers its "
            "embeddings have, or wrap it in samekind.encoders.foreign.Foreign(module, feature_dimension=…)"
        )


@torch.no_grad()
def try_out(encoder: Any, items: Items) -> None:
    """Show two of the items to an encoder that is not ours, and refuse it if it does not take them, or gives
    something else than embeddings (n, dimension): said now, and not in the middle of a step.

    It is in evaluation mode meanwhile, so that no statistics move.
    """
    if not len(items):
        return
    name = type(network_of(encoder)).__name__
    (shown,) = fetched(items.inputs, [slice(0, 2)])
    device = next((each.device for each in encoder.parameters()), torch.device("cpu"))
    training = encoder.training
    encoder.eval()
    try:
        embeddings: Any = encoder(scaled(shown.to(device)))
    except SamekindError:
        raise
    except Exception as error:  # what others' modules raise for input they do not take is anything
        why = " ".join(str(error).split()) or type(error).__name__
        raise SettingError(
            f"the encoder {name} does not take these items, (n, {', '.join(map(str, items.shape))}): {why}"
        ) from error
    finally:
        encoder.train(training)
    expected = (len(shown), encoder.dimension)
    if not isinstance(embeddings, Tensor) or embeddings.shape != expected:
        came = tuple(embeddings.shape) if isinstance(embeddings, Tensor) else type(embeddings).__name__
        raise SettingError(
            f"the encoder {name} should give embeddings {expected}, for {len(shown)} items and its dimension "
            f"{encoder.dimension}; it gave {came}. Correct its dimension, or wrap what it returns"
        )


def with_encoder(run: Run, encoder: nn.Module) -> Run:
    """The run as its folder keeps it: in place of the encoder it names stands what tells the one that was
    passed in from others.
    """
    part = Part(GIVEN, {"class": type(encoder).__qualname__, "fingerprint": _fingerprint(encoder)})
    return replace(run, space=replace(run.space, encoder=part))


def expect_same_encoder(now: Mapping[str, Any], before: Mapping[str, Any], folder: Path) -> None:
    """Refuse to go on with a run, of settings ``before``, if one of the two has an encoder that was passed
    in, and the other not the same.
    """
    ours, theirs = now["space"]["encoder"], before["space"]["encoder"]
    if ours == theirs or GIVEN not in (ours["name"], theirs["name"]):
        return
    if ours["name"] != GIVEN:
        raise TrainingError(
            f"{folder} holds a run with an encoder of your own, {theirs['class']}; "
            "pass it as encoder=… to go on with it, or choose another folder"
        )
    if theirs["name"] != GIVEN:
        raise TrainingError(
            f"{folder} holds a run with the encoder {theirs['name']}, and not with {ours['class']}; "
            "choose another folder, or leave out encoder=… to go on with it"
        )
    raise TrainingError(
        f"{folder} holds a run with another encoder ({theirs['class']} there, {ours['class']} here): its "
        "class, the shapes of its weights, or what of it learns differ; choose another folder"
    )


def _fingerprint(encoder: nn.Module) -> str:
    """What must agree for a run to go on with an encoder: its class and tensors, and what of it learns."""
    encoder.train()  # what stays in evaluation mode even so is frozen
    lines = [fingerprint(encoder)]
    lines += [name for name, each in encoder.named_parameters() if each.requires_grad]
    lines += [name for name, each in encoder.named_modules() if each.training]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
