"""How fast sounds become features and embeddings, in multiples of real time, on one core, beside other
libraries in one run; and how many sounds a second a network is trained on.

    python benchmarks/speech.py --out speech.json
    python benchmarks/speech.py --data FOLDER      # also: files to samples, and samples to embeddings

The features are 30 cepstra of a minute of noise, cut into sounds of 3 seconds; kaldi-native-fbank, librosa
and SpeechBrain are measured where they are installed. The best of several rounds counts, and those that are
compared take turns. Networks have fresh weights: their speed does not depend on them.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import speech_training
import torch

from samekind.acoustics import Features
from samekind.data import DataSettings, open_data
from samekind.encoders import FrontEnd, SpeakerNetwork, XVector
from samekind.inference.embed import embed_by

RATE, SECONDS, SOUNDS = 16000, 3, 20


def ours(x: np.ndarray) -> Callable[[], object]:
    """The features of a batch."""
    features, sounds = Features(), torch.from_numpy(x)
    lengths = torch.full((len(x),), x.shape[1])
    return torch.no_grad()(lambda: features(sounds, lengths))


def kaldi(x: np.ndarray) -> Callable[[], object]:
    """kaldi-native-fbank, a sound at a time."""
    import kaldi_native_fbank

    options = kaldi_native_fbank.MfccOptions()
    options.num_ceps = options.mel_opts.num_bins = 30
    options.frame_opts.samp_freq, options.frame_opts.dither = RATE, 0
    options.frame_opts.snip_edges = False
    options.mel_opts.low_freq, options.mel_opts.high_freq = 20, 7600

    def run() -> None:
        for sound in x:
            peer = kaldi_native_fbank.OnlineMfcc(options)
            peer.accept_waveform(RATE, sound * 32768)
            peer.input_finished()
            for frame in range(peer.num_frames_ready):
                peer.get_frame(frame)

    return run


def librosa_(x: np.ndarray) -> Callable[[], object]:
    """librosa, the batch at once."""
    import librosa

    settings = {"n_mfcc": 30, "n_mels": 30, "n_fft": 512, "win_length": 400, "hop_length": 160}
    return lambda: librosa.feature.mfcc(y=x, sr=RATE, **settings)


LIBRARIES = {"samekind": ours, "kaldi-native-fbank": kaldi, "librosa": librosa_}


def front_end(rounds: int) -> dict[str, float]:
    """Seconds of sound a second, by library."""
    noise = np.random.default_rng(0).normal(size=(SOUNDS, SECONDS * RATE)).astype(np.float32) / 10
    runs = {}
    for name, make in LIBRARIES.items():
        try:
            runs[name] = make(noise)
            runs[name]()
        except ImportError:
            print(f"{name} is not installed")
    return {name: SOUNDS * SECONDS / seconds for name, seconds in in_turns(runs, rounds).items()}


def in_turns(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of processor time of each, the best of several rounds."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            begun = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - begun)
    return best


def networks(rounds: int, sounds: int = 4) -> dict[str, float]:
    """Seconds of sound a second, from samples to embeddings, by network."""
    x = torch.randn(sounds, 1, SECONDS * RATE) / 10
    encoders = {
        "x-vector": FrontEnd(encoder=XVector()),
        "ECAPA-TDNN (ecapa)": SpeakerNetwork(network="ecapa"),
        "CAM++ (cam++)": SpeakerNetwork(network="cam++"),
        "ResNet-34 (resnet34)": SpeakerNetwork(network="resnet34"),
    }
    runs = {name: torch.no_grad()(partial(encoder.eval(), x)) for name, encoder in encoders.items()}
    seconds = in_turns(runs, rounds)
    return {f"embedding, {name}": sounds * SECONDS / taken for name, taken in seconds.items()}


def training(rounds: int, sounds: int = 8) -> dict[str, float]:
    """Sounds of 3 seconds a second in training, from samples to weights, by library; see
    `speech_training`.
    """
    x, speakers = torch.randn(sounds, SECONDS * RATE) / 10, torch.arange(sounds)
    runs = {"training, samekind": speech_training.ours(x, speakers)}
    try:
        runs["training, SpeechBrain"] = speech_training.speechbrain(x, speakers)
    except Exception as error:  # without torchaudio it does not import, and raises what it likes
        print(f"SpeechBrain is not measured: {type(error).__name__}")
    return {name: sounds / taken for name, taken in in_turns(runs, rounds).items()}


def files(folder: Path) -> dict[str, float]:
    """Seconds of sound a second: decoded from files, and embedded by an x-vector network."""
    begun = time.process_time()
    items = open_data(folder, settings=DataSettings(memory="always", workers=1))
    decoded = time.process_time() - begun
    seconds = items.inputs.nbytes / 2 / items.reader.rate
    begun = time.process_time()
    embed_by(FrontEnd(encoder=XVector(), rate=items.reader.rate).eval(), items.inputs)
    return {"decoding": seconds / decoded, "x-vectors": seconds / (time.process_time() - begun)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    measured = front_end(given.rounds) | networks(min(given.rounds, 3))
    measured |= files(given.data) if given.data else {}
    trained = training(min(given.rounds, 3))
    if given.out:
        given.out.write_text(json.dumps(measured | trained, indent=1) + "\n", encoding="utf-8")
    for name, value in measured.items():
        print(f"{name:32} {value:8,.0f} x real time")
    for name, value in trained.items():
        print(f"{name:32} {value:8,.1f} sounds of {SECONDS} s a second")


if __name__ == "__main__":
    main()
