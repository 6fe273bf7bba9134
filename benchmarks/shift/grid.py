"""The runs of the study: sets of items in several domains, two classifiers, two samplers, seeds."""

from dataclasses import replace

from grids.experiment import SystemOnData
from grids.networks import as_for_pictures

from samekind.data import Items
from samekind.recipes import prototypical
from samekind.training import Batches, Optimiser, Part, Parts, Run, Schedule, Term

SEEDS = 3
#: Sets with domains, each of which is left out in turn, and sets whose test pictures are corrupted.
DOMAINS = ("characters", "plankton-cut", "plankton", "pacs")
#: A set with domains none of whose classes is in another: pairs of items are judged, no class is named.
APART = "alphabets"
CORRUPTED = ("digits", "mnist-cut", "cifar10-narrow", "cifar10")
#: The file or folder of each in DIR; characters and digits come with the package or with scikit-learn.
FILES = {
    "plankton-cut": "plankton.zip",
    "plankton": "plankton.zip",
    "pacs": "pacs",
    "mnist-cut": "mnist",
    "cifar10-narrow": "cifar10",
    "cifar10": "cifar10",
}
EPOCHS = {
    "characters": 30,
    "alphabets": 12,
    "plankton-cut": 8,
    "plankton": 10,
    "pacs": 20,
    "digits": 20,
    "mnist-cut": 8,
    "cifar10-narrow": 5,
    "cifar10": 15,
}
SYSTEMS = ("prototypical", "dense")
#: Items of a domain in a batch with equally many of all, and how many domains there are: four less one.
OF_DOMAIN, SHOWN = {"characters": 8, "alphabets": 8, "plankton-cut": 16, "plankton": 24, "pacs": 24}, 3
#: Items of a batch of digits, and of the cut of MNIST.
SMALL = 24
#: A network that a CPU can train.
NARROW = Part("WideResNet", {"depth": 16, "width": 1})
#: Encoders for natural pictures, with the size of a batch.
ENCODERS = {
    "cifar10": (Part("PreActResNet18"), 128),
    "cifar10-narrow": (NARROW, 128),
    "plankton": (Part("ResNet18", {"dimension": 128}), 128),
    "pacs": (Part("ResNet18", {"dimension": 128}), 128),
}
#: With domains also a batch of the prototypical classifier without regard to them.
SHUFFLED = "prototypical-shuffled"

Experiment = SystemOnData[str, str]


def grid(seeds: int = SEEDS, quick: bool = False) -> list[Experiment]:
    """Every run, seed by seed."""
    wanted = [(data, system) for data in DOMAINS for system in (*SYSTEMS, SHUFFLED)]
    wanted += [(data, system) for data in (APART, *CORRUPTED) for system in SYSTEMS]
    return [
        Experiment(data, system, seed) for seed in range(1 if quick else seeds) for data, system in wanted
    ]


def run_of(experiment: Experiment, items: Items, quick: bool = False) -> Run:
    """The recipe, or the same encoder with a dense layer alone (empirical risk minimisation)."""
    run = replace(prototypical(items), epochs=EPOCHS[experiment.data], seed=experiment.seed)
    run = replace(run, schedule=Schedule("cosine"), optimiser=Optimiser("Adam", rate=2e-3))
    if experiment.data in ENCODERS:
        encoder, size = ENCODERS[experiment.data]
        run = as_for_pictures(run, encoder, size=size, rate=0.05)
    else:
        run = _smaller(run, experiment.data)
    if experiment.system == "dense":
        dense = Parts(
            run.space.encoder, Part("Dot"), Part("LearnedProxies"), standardise=run.space.standardise
        )
        term = Term("softmax", against="prototypes", arguments={"smoothing": 0.2})
        run = replace(run, space=dense, terms={"class": term})
    elif experiment.data in (*DOMAINS, APART) and experiment.system == "prototypical":
        run = replace(run, batches=Batches("OnePerDomain", {"size": OF_DOMAIN[experiment.data]}))
    return replace(run, epochs=1, schedule=Schedule("constant")) if quick else run


def _smaller(run: Run, data: str) -> Run:
    """For a CPU: small batches, averages that forget sooner, and of plankton a small network."""
    averages = replace(run.space, prototypes=Part("RunningAverages", {"momentum": 0.5}))
    size = OF_DOMAIN[data] * SHOWN if data in OF_DOMAIN else SMALL
    run = replace(run, space=averages, batches=Batches("Shuffled", {"size": size}))
    if data == "plankton-cut":
        encoder = Part("Conv4", {"dimension": 64})
        run = replace(run, space=replace(averages, encoder=encoder), augment=(Part("Flip"),))
    return run
