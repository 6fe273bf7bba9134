"""Features of sounds computed once: kept in a cache, or written to a file that is opened like any data.

Networks of sounds take features as they take waveforms, so a run on them gives a space that reads sounds.
"""

import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from samekind.acoustics import padded, unpadded
from samekind.data import Items, open_data, scaled
from samekind.data.media.sounds import RATES
from samekind.data.stored import fetched
from samekind.encoders import FrontEnd, SpeakerNetwork
from samekind.errors import DataError, expect
from samekind.inference.embed import asking, device_of
from samekind.storage import write_bytes


def sound_features(
    front_end: FrontEnd | SpeakerNetwork, items: Items, *, batch: int = 64, cache: Path | None = None
) -> Items:
    """The same items as the features that a front end makes of them, (coefficients, frames), padded with NaN.

    ``cache`` is a folder to keep them in: the same sounds by the same front end are then read from it, with
    numbers of 16 bits, a fifth of the samples.
    """
    expect(items, Items, "items to compute the features of")
    expect(front_end, (FrontEnd, SpeakerNetwork), "a front end, such as space.encoder")
    if not items.medium.padded:
        raise DataError(f"expected sounds, got {items.medium.name}")
    path = cache / f"{_key(front_end, items)}.npz" if cache is not None else None
    if path is not None and path.is_file():
        return replace(items, inputs=open_data(path).inputs, source=None)
    with asking(front_end):
        places = [slice(start, start + batch) for start in range(0, len(items), batch)]
        device = device_of(front_end)
        batches = [
            front_end.preparation.features(scaled(raw.to(device))).cpu()
            for raw in fetched(items.inputs, places)
        ]
    sounds = [sound for features in batches for sound in unpadded(features)]
    computed = replace(items, inputs=padded(sounds), source=None)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_sounds(path, computed)
    return computed


def write_sounds(path: Path, features: Items) -> None:
    """Write the features of `sound_features` to a .npz file, with all that is known about the items:
    `open_data` opens it. Numbers have 16 bits.
    """
    if path.suffix != ".npz":
        raise DataError(f"expected a name that ends in .npz, got {path}")
    sounds = unpadded(torch.as_tensor(features.inputs[:]))
    arrays: dict[str, Any] = {
        "frames": torch.cat(sounds, dim=1).T.half().numpy(),
        "lengths": np.array([sound.shape[1] for sound in sounds]),
        "rate": np.array(getattr(features.reader, "rate", RATES[-1])),
        "labels": features.labels.cpu().numpy(),
        "classes": np.array(features.classes),
    }
    if features.groups is not None:
        arrays["groups"] = features.groups.cpu().numpy()
    if features.domains is not None:
        names = features.domain_names
        arrays["domains"] = np.array([names[n] if names else str(n) for n in features.domains.tolist()])
    for name, texts in (("parts", features.parts), ("ids", features.ids)):
        if texts is not None:
            arrays[name] = np.array(texts)
    content = io.BytesIO()
    np.savez(content, **arrays)
    write_bytes(path, content.getvalue())


def _key(front_end: FrontEnd | SpeakerNetwork, items: Items) -> str:
    """SHA-256 of the settings of the front end, and of the items."""
    of_kaldi = ("rate", "representation", "window", "normalise", "voice_activity")
    names = of_kaldi if isinstance(front_end, FrontEnd) else ("network",)
    settings = {name: getattr(front_end, name) for name in names}
    heading = json.dumps([settings, front_end.preparation.coefficients, items.fingerprint()])
    return hashlib.sha256(heading.encode()).hexdigest()
