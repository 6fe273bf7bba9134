"""The folder a space is kept in: ``space.json`` says what it is, ``weights.safetensors`` holds the numbers.

Nothing in the folder is code, and nothing in it is executed when it is read.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from samekind import storage
from samekind.encoders import Standardised
from samekind.errors import SpaceError
from samekind.parts import Description, build, describe, fingerprint, is_ours

FORMAT = "samekind space"
VERSION = 2
FILES = {"space.json", "weights.safetensors"}

MOST_NAMED = 5

#: So often a space may be saved anew while it is read before the reader gives up.
MOST_SAVES = 100


def write(folder: Path, content: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write a folder, whole or not at all; a space that was there leaves its folder and files their modes.
    One that holds something else, or is write-protected, stays.
    """
    expect_replaceable(folder)
    # Copied, because two names may share one tensor and the format has no way to say so.
    weights = safetensors.torch.save(
        {
            name: each.detach().to("cpu", copy=True, memory_format=torch.contiguous_format)
            for name, each in tensors.items()
        }
    )
    header = {"format": FORMAT, "version": VERSION, "weights": hashlib.sha256(weights).hexdigest()}

    written = {
        "weights.safetensors": weights,
        "space.json": (json.dumps({**header, **content}, indent=2) + "\n").encode(),
    }

    def fill(draft: Path) -> None:
        for name, each in written.items():
            (draft / name).touch()
            with suppress(OSError):  # there was none, or the drive has no such rights
                shutil.copymode(folder / name, draft / name)
            (draft / name).write_bytes(each)

    storage.write_folder(folder, fill)


def expect_replaceable(folder: Path) -> None:
    """Refuse a folder that saving a space to it would take something from; one that is not there will do.

    Protected is what this user may not write to: for the system's administrator (root) nothing is.
    """
    others = storage.others_in(folder, FILES) if folder.exists() else []
    if others and not (folder / "space.json").is_file():
        raise SpaceError(f"{folder} holds something else than a space; choose another folder to save to")
    if others:
        named = ", ".join(others[:MOST_NAMED]) + (", …" if len(others) > MOST_NAMED else "")
        raise SpaceError(
            f"{folder} holds {named} beside the space, which saving would lose; move that away, or choose "
            "another folder to save to"
        )
    for path in filter(_is_protected, (folder, *(folder / name for name in sorted(FILES)))):
        # It could be replaced all the same, for that is the right of its parent.
        raise SpaceError(
            f"{path} may not be written to, so the space in {folder} stays as it is; save to another folder, "
            "or let its owner allow it"
        )


def _is_protected(path: Path) -> bool:
    """Whether a file or folder is there and may not be written to; asked again, for one that another writer
    swaps this very moment is there a moment later.
    """
    return not os.access(path, os.W_OK) and path.exists() and not os.access(path, os.W_OK)


def read(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """What `write` wrote; anything damaged, foreign or newer is refused with a sentence.

    One that is saved anew meanwhile is read as it was or as it is now, never one file of each.
    """
    failed: tuple[int, ...] | None = ()
    for _ in range(MOST_SAVES):
        found = None
        try:
            storage.recover_folder(folder)
            found = _identity(folder)
            return _read(folder)
        except (SpaceError, OSError):
            # Somebody may have put another in its place meanwhile; what fails twice is at fault itself.
            if found == failed:
                raise
            failed = found
    return _read(folder)


def _identity(folder: Path) -> tuple[int, int] | None:
    """What another folder of the same name differs in; None where there is none."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    content = storage.read_header(folder, name="space.json", what="a space", form=FORMAT, version=VERSION)
    path = folder / "weights.safetensors"
    if not path.is_file():
        raise SpaceError(f"{folder} is damaged: weights.safetensors is missing; restore it or train again")
    weights = path.read_bytes()
    if hashlib.sha256(weights).hexdigest() != content.get("weights"):
        raise SpaceError(
            f"{folder} is damaged: weights.safetensors is not the file it was saved with; "
            "restore it or train again"
        )
    try:
        return content, safetensors.torch.load(weights)
    except safetensors.SafetensorError as error:
        raise SpaceError(f"{folder} is damaged: weights.safetensors cannot be read ({error})") from error


def encoder_described(encoder: nn.Module) -> Description:
    """What a saved space says of its encoder: how to build it, or, of one that is not ours, its class; and
    how its input is standardised, for who gives it again need not know the numbers.
    """
    if is_ours(encoder):
        return describe(encoder)
    if not isinstance(encoder, Standardised):
        return {"foreign": type(encoder).__qualname__}
    numbers = {"means": encoder.means, "deviations": encoder.deviations}
    return {"foreign": type(encoder.encoder).__qualname__, "standardised": numbers}


def encoder_of(content: Mapping[str, Any], given: nn.Module | None) -> nn.Module:
    """The encoder a saved space speaks of: built if it is ours, else the one given, if it fits. Where its
    input is standardised, it may be given with that or without.
    """
    foreign, saved = content["encoder"].get("foreign"), content["encoder fingerprint"]
    if foreign is None and given is None:
        built: nn.Module = build(content["encoder"], room="encoders")
        return built
    if given is None:
        raise SpaceError(
            f"this space has an encoder of your own, {foreign}; pass it as load(folder, encoder=…)"
        )
    called, numbers = type(given).__qualname__, content["encoder"].get("standardised")
    if numbers is not None and not isinstance(given, Standardised):
        given = Standardised(encoder=given, means=numbers["means"], deviations=numbers["deviations"])
    if fingerprint(given) != saved:
        wanted = foreign or content["encoder"]["name"]
        raise SpaceError(
            f"the encoder given ({called}) is not the one this space was saved with "
            f"({wanted}): its class or the shapes of its weights differ"
        )
    return given


def fill(space: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Give a space its saved tensors; one saved in double or half precision stays in it."""
    for name, each in space.state_dict(keep_vars=True).items():
        if name in tensors:
            each.data = each.data.to(tensors[name].dtype)
    space.load_state_dict(tensors)
