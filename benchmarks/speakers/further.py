"""Published networks trained further on forty speakers: their last layers, or the whole. Trials and scores
are those of the network as it came.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from frozen import LENGTHS, fixed_measures, parts_of_fold, rung_measures
from grid import FURTHER, TUNED, Experiment
from grids.running import Place
from last_layers import LAST_LAYERS
from sets import FEW_CHOOSING

from samekind.data import Items, draw, open_data
from samekind.encoders import SpeakerNetwork
from samekind.evaluation import validation
from samekind.inference import embed
from samekind.recipes.house import house
from samekind.space import MetricSpace
from samekind.training import Batches, Part, Run, train

RATE, SIZE = 1e-4, 60
#: Passes over the items. The last layer of ECAPA-TDNN, a product with a matrix, takes no time.
EPOCHS = {"further-cam++": 4, "further-ecapa": 20, "whole-cam++": 4, "whole-ecapa": 4}
#: Half a second to a second. Maps have fifty frames a second, not a hundred.
MAPS_CHUNK, CHUNK = (Part("RandomChunk", {"seconds": seconds, "least": 0.5}) for seconds in (0.5, 1.0))


def network_of(experiment: Experiment) -> str:
    """The network that is trained further."""
    return experiment.system.partition("-")[2]


def source_of(experiment: Experiment) -> str:
    """How the names of the files begin that the run learns from: maps, or the features of a network."""
    kind = "maps" if experiment.system in FURTHER else "features"
    return f"{kind}-{network_of(experiment)}"


def weights_of(experiment: Experiment) -> str:
    """The file with the weights of the network."""
    return TUNED[f"tuned-{network_of(experiment)}"]


def further_measures(experiment: Experiment, place: Place) -> tuple[dict[str, Any], dict[str, Any], Run]:
    """The measures of every condition and score, what the ladder kept, and the run."""

    def opened(condition: str, names: Sequence[str] | None) -> Items | None:
        path = place.data / f"{source_of(experiment)}-{condition}.npz"
        if not path.exists():
            return None
        items = open_data(path)
        items = items if names is None else items.only(names)
        return replace(items, inputs=items.inputs[:].float(), source=None)

    def embedded(condition: str, names: Sequence[str] | None) -> Items | None:
        items = opened(condition, names)
        return None if items is None else replace(items, inputs=embed(space, items.inputs), reader=None)

    parts = parts_of_fold(experiment.fold, LENGTHS[0], opened)
    run = run_of(experiment, parts.train)
    space = _trained(experiment, place, run, parts.train, parts.validation)
    by_length = {length: parts_of_fold(experiment.fold, length, embedded) for length in LENGTHS}
    rungs, ladders = rung_measures(experiment, place, by_length)
    fixed = fixed_measures(by_length)
    return {condition: fixed[condition] | rungs[condition] for condition in fixed}, ladders, run


def run_of(experiment: Experiment, items: Items) -> Run:
    """The loss of the house recipe, with a small rate."""
    run = house(items)
    return replace(
        run,
        batches=Batches("Shuffled", {"size": SIZE}),
        optimiser=replace(run.optimiser, rate=RATE),
        epochs=EPOCHS[experiment.system],
        seed=experiment.seed,
        augment=(MAPS_CHUNK if experiment.system in FURTHER else CHUNK,),
        watch="eer best",
        keep="best",
    )


def _trained(experiment: Experiment, place: Place, run: Run, items: Items, held_out: Items) -> MetricSpace:
    name = network_of(experiment)
    weights = str(place.data / weights_of(experiment))
    network = SpeakerNetwork(network=name, weights=weights, batch_norm="frozen")  # type: ignore[arg-type]
    folder = place.work / "runs" / experiment.name
    few = draw(held_out, most=FEW_CHOOSING, seed=0)
    validate = validation(few, run.validate, watch=run.watch)
    encoder = LAST_LAYERS[name](network.module) if experiment.system in FURTHER else network
    space = train(run, items, folder=folder, validate=validate, device=place.device, encoder=encoder)
    return space.to(place.device)
