"""Embeddings of the sounds by published speaker networks: computed once, scored in many ways.

    python benchmarks/speakers/embeddings.py --data DIR --out EMBEDDINGS --network resnet34 --weights FILE

DIR holds speakers60.zip and noise.zip; docs/sounds.md says where the weights are. Writes one .npz for each
condition: single digits and five joined, clean and with noise. What is there is not computed again.
"""

import argparse
import os
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

import numpy as np
import torch
from prepare import NOISES, speakers, unpack_noise, with_noise
from sets import JOINED, UTTERANCES, few, joined
from torch import Tensor, nn

from samekind.acoustics import lengths_of
from samekind.data import Items, scaled
from samekind.encoders import SpeakerNetwork

#: Sounds that are embedded together: of about the same length, so that little is padding.
AT_ONCE = 16
CONDITIONS = ("1-clean", f"{JOINED}-clean", "1-noise", f"{JOINED}-noise")


def embeddings(encoder: nn.Module, inputs: Tensor) -> Tensor:
    """Of sounds in memory, in their order."""
    lengths, order = lengths_of(inputs), lengths_of(inputs).argsort()
    outputs = []
    with torch.inference_mode():
        for places in order.split(AT_ONCE):
            longest = int(lengths[places].max())
            outputs.append(encoder(scaled(inputs[places, :, :longest])))
    return torch.cat(outputs)[order.argsort()]


@cache
def spoken(data: Path, sound: str) -> Items:
    """All utterances, clean or with noise."""
    items = speakers(data / "speakers60.zip")
    items = replace(items, inputs=items.inputs[:], source=None)  # decoded once
    if sound == "clean":
        return items
    with TemporaryDirectory() as folder:
        unpack_noise(data / "noise.zip", "test", Path(folder))
        return with_noise(items, folder, seed=NOISES["test"])


def sounds_of(data: Path, condition: str, utterances: int) -> Items:
    """The sounds of a condition, made of so many utterances of each speaker."""
    count, _, sound = condition.partition("-")
    items = few(spoken(data, sound), utterances)
    return joined(items) if int(count) > 1 else items


def main() -> None:
    parser = argparse.ArgumentParser(prog="embeddings", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--network", required=True)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--conditions", nargs="+", default=CONDITIONS, choices=CONDITIONS)
    parser.add_argument("--utterances", type=int, default=UTTERANCES, help="of each speaker")
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    encoder = SpeakerNetwork(network=given.network, weights=given.weights, freeze="features").eval()
    for condition in given.conditions:
        path = given.out / f"{given.network}-{condition}.npz"
        if path.exists():
            continue
        items, began = sounds_of(given.data, condition, given.utterances), time.process_time()
        z = embeddings(encoder, torch.as_tensor(items.inputs[:]))
        seconds = time.process_time() - began
        times = int(lengths_of(items.inputs[:]).sum()) / encoder.rate / seconds
        np.savez(path, embeddings=z.numpy(), labels=items.labels.numpy(), classes=np.array(items.classes))
        print(f"{path.name}: {len(items):,} sounds, {times:.1f} x real time", flush=True)


if __name__ == "__main__":
    main()
