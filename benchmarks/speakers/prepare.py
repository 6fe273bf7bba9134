"""The features that the study trains and scores by: of the sounds as they are, and twice with noise.

    python benchmarks/speakers/prepare.py --data DIR --out FEATURES

DIR holds speakers60.zip and noise.zip. Writes clean.npz, noisy-train.npz and noisy-test.npz, each with 30
cepstra of frames with a voice, in 16 bits, and the recording room of each speaker as its domain. The noise
of the last two is of different kinds: every other class of noise.zip. The last has the tested utterances
alone. With ``--network cam++`` (or ecapa)
they are the features of that network, and the names of the files begin with its name.
"""

import argparse
import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

import torch
from sets import UTTERANCES, few_places
from torch import Tensor

from samekind.acoustics import as_samples, padded
from samekind.augmentations import Noise
from samekind.data import Items, open_data, scaled
from samekind.encoders import FrontEnd, SpeakerNetwork, XVector
from samekind.encoders.speaker_network import Name
from samekind.inference import sound_features, write_sounds

#: Rooms as meta.json spells them, and as they are.
SPELT = {"vr-romm": "vr-room"}
#: The parts of the noise, and the seed of each.
NOISES = {"train": 0, "test": 1}
#: Sounds that get their noise together: another number draws other noise.
AT_ONCE = 500


def prepare(data: Path, out: Path, network: Name | None = None) -> None:
    """Write the files that are not there yet."""
    out.mkdir(parents=True, exist_ok=True)
    prefix = "" if network is None else f"{network}-"
    front_end = (
        FrontEnd(encoder=XVector(width=1, last_width=1, dimension=1))
        if network is None
        else SpeakerNetwork(network=network)
    )
    items: Items | None = None
    for name in ("clean", *(f"noisy-{part}" for part in NOISES)):
        path = out / f"{prefix}{name}.npz"
        if path.exists():
            continue
        items = items or speakers(data / "speakers60.zip")
        part = name.partition("-")[2]
        with TemporaryDirectory() as folder:
            if part:
                unpack_noise(data / "noise.zip", part, Path(folder))
            places = few_places(items, UTTERANCES) if part == "test" else None
            sounds = with_noise(items, folder, seed=NOISES[part], places=places) if part else items
            write_sounds(path, sound_features(front_end, sounds))
        print(f"{path.name}: {path.stat().st_size / 2**20:.0f} MiB", flush=True)


def speakers(archive: Path) -> Items:
    """All sounds of the archive, with the room of their speaker as domain."""
    items = open_data(archive)
    with zipfile.ZipFile(archive) as opened:
        name = next(name for name in opened.namelist() if name.endswith("meta.json"))
        about = json.loads(opened.read(name))
    rooms = [about[speaker]["recordingroom"].lower() for speaker in items.classes]
    rooms = [SPELT.get(room, room) for room in rooms]
    names = tuple(sorted(set(rooms)))
    places = torch.tensor([names.index(room) for room in rooms])
    return replace(items, domains=places[items.labels], domain_names=names)


def unpack_noise(archive: Path, part: str, folder: Path) -> None:
    """The clips of every other class of noise, of the first class on for "train"."""
    with zipfile.ZipFile(archive) as opened:
        clips = [name for name in opened.namelist() if not name.endswith("/")]
        classes = sorted({Path(name).parent.name for name in clips})
        wanted = set(classes[list(NOISES).index(part) :: len(NOISES)])
        opened.extractall(folder, [name for name in clips if Path(name).parent.name in wanted])


def with_noise(items: Items, folder: str, *, seed: int, places: Tensor | None = None) -> Items:
    """Every sound with noise, at a signal-to-noise ratio of 15, 10, 5 or 0 dB; with ``places`` only those,
    with the noise that they have among all. No more is held than is asked for, and a batch.
    """
    noise, generator = Noise(folder=folder, probability=1.0), torch.Generator().manual_seed(seed)
    wanted = torch.ones(len(items), dtype=torch.bool)
    if places is not None:
        wanted = torch.zeros_like(wanted).index_fill(0, places, True)
    sounds: list[Tensor] = []
    for start in range(0, len(items), AT_ONCE):
        batch = slice(start, start + AT_ONCE)
        noisy = noise(scaled(items.inputs[batch]), generator=generator)
        sounds += as_samples(noisy[wanted[batch]])
    return replace(items.take(wanted.nonzero().flatten()), inputs=padded(sounds), source=None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="prepare", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--network", choices=("ecapa", "cam++"))
    arguments = parser.parse_args()
    prepare(arguments.data, arguments.out, arguments.network)
