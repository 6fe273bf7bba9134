"""Embeddings of the sounds by published speaker networks: computed once, scored in many ways.

    python benchmarks/speakers/embeddings.py --data DIR --out EMBEDDINGS --network resnet34 --weights FILE

DIR holds speakers60.zip and noise.zip; docs/sounds.md says where the weights are. Writes one .npz for each
condition: single digits and five joined, clean and with noise. What is there is not computed again. For
training further they hold, in 16 bits, with ``--features`` what the network takes (no weights needed), with
``--maps`` what its first layers give.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

import numpy as np
import torch
from last_layers import LAST_LAYERS, first_maps
from prepare import NOISES, speakers, unpack_noise, with_noise
from sets import JOINED, UTTERANCES, few_places, joined
from torch import Tensor

from samekind.acoustics import lengths_of, padded
from samekind.data import Items, scaled
from samekind.encoders import SpeakerNetwork
from samekind.inference import write_sounds

#: Sounds that are embedded together: of about the same length, so that little is padding.
AT_ONCE = 16
CONDITIONS = ("1-clean", f"{JOINED}-clean", "1-noise", f"{JOINED}-noise")


def in_order(network: Callable[[Tensor], Tensor], inputs: Tensor) -> list[Tensor]:
    """What a network gives for each sound in memory. The longest come first: what they took is used again."""
    lengths = lengths_of(inputs)
    order = lengths.argsort(descending=True)
    outputs: list[Tensor] = []
    with torch.inference_mode():
        for places in order.split(AT_ONCE):
            longest = int(lengths[places].max())
            outputs += network(scaled(inputs[places, :, :longest]))
    return [outputs[place] for place in order.argsort().tolist()]


@cache
def spoken(data: Path, sound: str, utterances: int) -> Items:
    """So many utterances of each speaker, clean or with noise; no others are held."""
    items = speakers(data / "speakers60.zip")
    places = few_places(items, utterances)
    if sound == "clean":
        chosen = items.take(places)
        return replace(chosen, inputs=chosen.inputs[:], source=None)
    with TemporaryDirectory() as folder:
        unpack_noise(data / "noise.zip", "test", Path(folder))
        return with_noise(items, folder, seed=NOISES["test"], places=places)


def sounds_of(data: Path, condition: str, utterances: int) -> Items:
    """The sounds of a condition, made of so many utterances of each speaker."""
    count, _, sound = condition.partition("-")
    items = spoken(data, sound, utterances)
    return joined(items) if int(count) > 1 else items


def _first_maps(encoder: SpeakerNetwork, x: Tensor) -> Tensor:
    return first_maps(encoder.module, encoder.prepared(x))


def main() -> None:
    parser = argparse.ArgumentParser(prog="embeddings", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--network", required=True)
    parser.add_argument("--weights")
    parser.add_argument("--conditions", nargs="+", default=CONDITIONS, choices=CONDITIONS)
    parser.add_argument("--utterances", type=int, default=UTTERANCES, help="of each speaker")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--maps", action="store_true", help="what the first layers give")
    instead.add_argument("--features", action="store_true", help="what the network takes")
    given = parser.parse_args()
    if given.maps and given.network not in LAST_LAYERS:
        parser.error(f"--maps is for {' and '.join(LAST_LAYERS)}")
    if given.weights is None and not given.features:
        parser.error("give --weights, the file with the weights of the network, or --features")
    torch.set_num_threads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    encoder = SpeakerNetwork(network=given.network, weights=given.weights, freeze="features").eval()
    kind = "maps-" if given.maps else "features-" if given.features else ""
    prefix = f"{kind}{given.network}"
    for condition in given.conditions:
        path = given.out / f"{prefix}-{condition}.npz"
        if path.exists():
            continue
        items, began = sounds_of(given.data, condition, given.utterances), time.process_time()
        sounds = torch.as_tensor(items.inputs[:])
        if given.features or given.maps:
            front = encoder.prepared if given.features else partial(_first_maps, encoder)
            write_sounds(path, replace(items, inputs=padded(in_order(front, sounds))))
        else:
            z = torch.stack(in_order(encoder, sounds))
            np.savez(path, embeddings=z.numpy(), labels=items.labels.numpy(), classes=np.array(items.classes))
        times = int(lengths_of(sounds).sum()) / encoder.rate / (time.process_time() - began)
        print(f"{path.name}: {len(items):,} sounds, {times:.1f} x real time", flush=True)


if __name__ == "__main__":
    main()
