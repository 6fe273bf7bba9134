"""The run of each system: the recipes, all with the same network, batches, steps and schedule."""

from dataclasses import replace

from grid import TUNED, Experiment
from grids.running import Place

from samekind.data import Items
from samekind.recipes import RECIPES
from samekind.recipes.house import house
from samekind.training import Part, Run, Schedule

#: Passes over the utterances of the training; over as many with noise besides, half of them.
EPOCHS, QUICK_EPOCHS = 20, 1
#: Steps of the warm-up: one of the three that the paper tried. A run has about 1,340 steps.
WARMUP = 500
#: Frames of a sound at least, and what is drawn of it: a digit has about fifty. The hundred frames of the
#: papers would be each digit twice, for twice the time.
SHORTEST, CHUNK = 50, Part("RandomChunk", {"seconds": 0.5, "least": 1.0})
#: Of a published network that is trained further, and what it gets: up to a second.
TUNED_EPOCHS, TUNED_RATE = 10, 1e-4
TUNED_CHUNK = Part("RandomChunk", {"seconds": 1.0, "least": 0.5})
#: Of the small systems: passes over a quarter of the utterances, steps of the warm-up, and widths.
SMALL_EPOCHS, SMALL_WARMUP = 12, 60
NARROW = ("width=48", "last_width=128", "dimension=64")
NARROW_PAIRS = ("space.similarity.hidden=64", "space.similarity.depth=2")
QUICK = ("width=16", "last_width=24", "dimension=32")
#: Mean and deviation of the features.
STATISTICS = Part("FrontEnd", {"encoder": {"name": "FrameStatistics"}})


def run_of(experiment: Experiment, items: Items, place: Place) -> Run:
    """The run of a system; of an untrained one only the space counts."""
    if experiment.system in TUNED:
        return _tuned(experiment, items, place)
    speaker = RECIPES["speaker"](items)
    run = _base(experiment.base, items, speaker)
    epochs = SMALL_EPOCHS if experiment.is_small else EPOCHS
    epochs = epochs // 2 if experiment.base == "speaker-noisy" else epochs
    changes = tuple(part for part in run.augment if part.name != CHUNK.name)
    run = replace(
        run,
        batches=speaker.batches,
        optimiser=speaker.optimiser,
        schedule=Schedule("inverse-square-root", warmup=SMALL_WARMUP if experiment.is_small else WARMUP),
        epochs=QUICK_EPOCHS if place.quick else epochs,
        seed=experiment.seed,
        augment=(*changes, CHUNK),
        watch="eer best",
        tf32=True,
        precision="32-true",
    )
    narrow = QUICK if place.quick else NARROW if experiment.is_small else ()
    if experiment.base == "statistics":
        return run
    has_few = experiment.is_small and run.space.similarity.name == "PairsNetwork"
    settings = [f"space.encoder.encoder.{setting}" for setting in narrow]
    return run.override([*settings, f"space.encoder.shortest={SHORTEST}", *(NARROW_PAIRS if has_few else ())])


def _tuned(experiment: Experiment, items: Items, place: Place) -> Run:
    """A published network trained further by the loss of the house recipe, with a small rate."""
    network = experiment.system.removeprefix("tuned-")
    weights = str(place.data / TUNED[experiment.system])
    encoder = Part("SpeakerNetwork", {"network": network, "weights": weights, "batch_norm": "frozen"})
    run = house(items)
    return replace(
        _with_encoder(run, encoder),
        optimiser=replace(run.optimiser, rate=TUNED_RATE),
        epochs=QUICK_EPOCHS if place.quick else TUNED_EPOCHS,
        seed=experiment.seed,
        augment=(TUNED_CHUNK,),
        watch="eer best",
        keep="best",
        tf32=True,
        precision="32-true",
    )


def _base(system: str, items: Items, speaker: Run) -> Run:
    """The recipe of a system, with the network of "speaker"."""
    if system in RECIPES:
        run = RECIPES[system](items)
        return run if system != "triplet" else _with_encoder(run, speaker.space.encoder)
    return _with_encoder(speaker, STATISTICS) if system == "statistics" else speaker


def _with_encoder(run: Run, encoder: Part) -> Run:
    return replace(run, space=replace(run.space, encoder=encoder))
