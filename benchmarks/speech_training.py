"""Steps of the training of SpeechBrain's recipe for VoxCeleb, ours and its own: waveforms of 3 seconds, 80
log-mel bands less their mean, ECAPA-TDNN with 1,024 channels, an angular margin over 7,205 speakers, Adam.
Without noise and rooms, which the recipe downloads first.

`speech.py` measures them. Each function returns one step: its own loop, as the library runs it.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from samekind.data import Items, SoundReader
from samekind.training import Batches, Optimiser, Part, Parts, Run, Term, build_space
from samekind.training.fabric import launch
from samekind.training.learner import Learner

SPEAKERS, BANDS, DIMENSION = 7205, 80, 192
MARGIN, SCALE, RATE, DECAY = 0.2, 30.0, 1e-3, 2e-6


def ours(x: Tensor, y: Tensor) -> Callable[[], object]:
    """A step of a run, on waveforms (n, samples) of speakers (n,)."""
    run = Run(
        recipe="ecapa",
        space=Parts(
            encoder=Part("SpeakerNetwork", {"network": "ecapa"}),
            similarity=Part("Cosine", {"scale": {"name": "FixedScale", "value": SCALE}}),
            prototypes=Part("LearnedProxies"),
        ),
        terms={"speakers": Term("arc_face", against="prototypes", arguments={"margin": MARGIN})},
        batches=Batches("Shuffled", {"size": len(x)}),
        optimiser=Optimiser("Adam", rate=RATE, weight_decay=DECAY),
    )
    names = tuple(f"speaker {number}" for number in range(SPEAKERS))
    items = Items(x[:, None], y, names, "noise", reader=SoundReader())
    learner = Learner(run, build_space(run, items), items, launch("cpu", run.precision), batches=1)

    def step() -> None:
        with learner.training():
            learner.step(items.inputs[:], y, number=0)

    return step


def speechbrain(x: Tensor, y: Tensor) -> Callable[[], object]:
    """A step of SpeechBrain's `Brain`, with the parts and settings of its recipe."""
    from speechbrain import Brain
    from speechbrain.lobes.features import Fbank
    from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN, Classifier
    from speechbrain.nnet.losses import AdditiveAngularMargin, LogSoftmaxWrapper
    from speechbrain.processing.features import InputNormalization

    cost, whole = LogSoftmaxWrapper(AdditiveAngularMargin(margin=MARGIN, scale=SCALE)), torch.ones(len(x))

    class Speakers(Brain):
        def compute_forward(self, batch, _stage):  # type: ignore[no-untyped-def]
            features = self.modules.normalisation(self.modules.features(batch[0]), whole)
            return self.modules.classifier(self.modules.network(features))

        def compute_objectives(self, predictions, batch, _stage):  # type: ignore[no-untyped-def]
            return cost(predictions, batch[1][:, None], whole)

    network = ECAPA_TDNN(
        BANDS,
        channels=[1024, 1024, 1024, 1024, 3072],
        kernel_sizes=[5, 3, 3, 3, 1],
        dilations=[1, 2, 3, 4, 1],
        lin_neurons=DIMENSION,
    )
    modules = {
        "features": Fbank(n_mels=BANDS),
        "normalisation": InputNormalization(norm_type="sentence", std_norm=False),
        "network": network,
        "classifier": Classifier(DIMENSION, out_neurons=SPEAKERS),
    }
    brain = Speakers(modules, lambda weights: torch.optim.Adam(weights, lr=RATE, weight_decay=DECAY))
    brain.on_fit_start()
    brain.modules.train()
    return lambda: brain.fit_batch((x, y))
