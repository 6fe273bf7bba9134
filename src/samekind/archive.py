"""The folder of a space: ``space.json`` describes it, ``weights.safetensors`` holds the numbers.

Nothing in the folder is code, and reading it executes nothing.
"""

import hashlib
import json
import math
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from samekind import storage
from samekind.encoders import Compressed, Standardised, WithSize
from samekind.errors import SettingError, SpaceError
from samekind.parts import Description, build, describe, fingerprint, is_ours

FORMAT = "samekind space"
VERSION = 2
FILES = {"space.json", "weights.safetensors"}

MOST_FOREIGN_FILES = 5

#: The parts that are built from a file may have so many times the bytes and tensors in it, and some more.
TIMES, SPARE_BYTES, SPARE_TENSORS = 8, 2**26, 1000

#: How often a space may be saved while it is read before the reader gives up.
MOST_SAVES = 100


def write(folder: Path, content: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write a folder, whole or not at all; the modes of an older space and its files stay.

    Raises SpaceError if the folder holds something else, or is write-protected.
    """
    expect_replaceable(folder)
    # Copied, because two names may share one tensor, which the format cannot say.
    weights = safetensors.torch.save(
        {
            name: tensor.detach().to("cpu", copy=True, memory_format=torch.contiguous_format)
            for name, tensor in tensors.items()
        }
    )
    header = {"format": FORMAT, "version": VERSION, "weights": hashlib.sha256(weights).hexdigest()}
    files = {
        "weights.safetensors": weights,
        "space.json": (json.dumps({**header, **content}, indent=2) + "\n").encode(),
    }

    def fill(draft: Path) -> None:
        for name, file in files.items():
            (draft / name).touch()
            with suppress(OSError):  # no old file, or a drive without modes
                shutil.copymode(folder / name, draft / name)
            (draft / name).write_bytes(file)

    storage.write_folder(folder, fill)


def expect_replaceable(folder: Path) -> None:
    """Raise SpaceError if saving a space to a folder would lose other files, or if it is write-protected.

    The folder need not exist. Nothing is protected from the system's administrator (root).
    """
    others = storage.others_in(folder, FILES) if folder.exists() else []
    if others and not (folder / "space.json").is_file():
        raise SpaceError(f"{folder} holds something other than a space; choose another folder to save to")
    if others:
        named = ", ".join(others[:MOST_FOREIGN_FILES]) + (", …" if len(others) > MOST_FOREIGN_FILES else "")
        raise SpaceError(
            f"{folder} holds {named} beside the space, which saving would lose; move that away, or choose "
            "another folder to save to"
        )
    for path in filter(_is_protected, (folder, *(folder / name for name in sorted(FILES)))):
        # Replacing it would work all the same: that only needs the parent's permission.
        raise SpaceError(
            f"{path} may not be written to, so the space in {folder} stays as it is; save to another folder, "
            "or let its owner allow it"
        )


def _is_protected(path: Path) -> bool:
    """Whether a file or folder exists and may not be written to."""
    # Asked twice, because another writer may just be replacing it.
    return not os.access(path, os.W_OK) and path.exists() and not os.access(path, os.W_OK)


def read(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The content that `write` wrote; raises SpaceError if it is damaged, foreign or newer.

    If it is saved meanwhile, it is read as it was or as it is now, never one file of each.
    """
    failed: tuple[int, ...] | None = ()
    for _ in range(MOST_SAVES):
        identity = None
        try:
            storage.recover_folder(folder)
            identity = _identity(folder)
            return _read(folder)
        except (SpaceError, OSError):
            # Another writer may have replaced the folder meanwhile; one that fails twice is damaged.
            if identity == failed:
                raise
            failed = identity
    return _read(folder)


def _identity(folder: Path) -> tuple[int, int] | None:
    """The identity of a folder, different from another one of the same name; None if it does not exist."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    content = storage.read_header(
        folder, name="space.json", what="a space", format_name=FORMAT, version=VERSION
    )
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
    """The encoder as a saved space describes it: how to build it.

    Of a foreign encoder that is its class, and what samekind put around it: how inputs are standardised, to
    how many numbers embeddings are compressed, and whether the original size of pictures is an input. A user
    then gives only the network again.
    """
    if is_ours(encoder):
        return describe(encoder)
    if isinstance(encoder, Compressed):
        return {**encoder_described(encoder.encoder), "compressed": encoder.dimension}
    if isinstance(encoder, WithSize):
        return {**encoder_described(encoder.encoder), "with size": True}
    if not isinstance(encoder, Standardised):
        return {"foreign": type(encoder).__qualname__}
    numbers = {"means": encoder.means, "deviations": encoder.deviations}
    return {"foreign": type(encoder.encoder).__qualname__, "standardised": numbers}


def encoder_of(content: Mapping[str, Any], given: nn.Module | None) -> nn.Module:
    """The encoder of a saved space: built if it is ours, else the given one, if it fits. One with
    standardised input, with the size of pictures, or compressed embeddings, may be given with or without
    that.
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
    if numbers is not None and not isinstance(given, Standardised | WithSize | Compressed):
        given = Standardised(encoder=given, means=numbers["means"], deviations=numbers["deviations"])
    if content["encoder"].get("with size") and not isinstance(given, WithSize | Compressed):
        given = WithSize(encoder=given)
    dimension = content["encoder"].get("compressed")
    if dimension is not None and not isinstance(given, Compressed):
        given = Compressed(encoder=given, dimension=dimension)
    if fingerprint(given) != saved:
        raise SpaceError(
            f"the encoder given ({called}) is not the one this space was saved with "
            f"({foreign or content['encoder']['name']}): its class or the shapes of its weights differ"
        )
    return given


class NoLargerThan(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Within it, no tensor may be larger than all saved weights together.

    A description that asks for a billion numbers, or a million layers, is refused with a SettingError before
    it gets memory: weights that are not in the file cannot be filled from it.
    """

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._bytes = TIMES * sum(tensor.nbytes for tensor in tensors.values()) + SPARE_BYTES
        self._count = TIMES * len(tensors) + SPARE_TENSORS

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if args and not isinstance(args[0], Tensor):  # a new tensor: its sizes, or the side of a square
            sizes = args[0] if isinstance(args[0], Sequence) else (*args, *args)[:2]
            self._bytes -= 4 * math.prod(size for size in sizes if isinstance(size, int))
            self._count -= 1
            if self._bytes < 0 or self._count < 0:
                raise SettingError("its parts are larger than the weights that were saved")
        return func(*args, **(kwargs or {}))


def fill(space: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Load saved tensors into a space, in their saved precision."""
    for name, tensor in space.state_dict(keep_vars=True).items():
        if name in tensors:
            tensor.data = tensor.data.to(tensors[name].dtype)
    space.load_state_dict(tensors)
