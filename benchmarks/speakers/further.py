"""CAM++ with its last layers trained further on forty speakers: the trials and the scores are those of the
network as it came.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from frozen import LENGTHS, fixed_measures, parts_of_fold, rung_measures
from grid import TUNED, Experiment
from grids.running import Place
from last_layers import LastLayers
from sets import FEW_CHOOSING

from samekind.data import Items, draw, open_data
from samekind.encoders import SpeakerNetwork
from samekind.evaluation import validation
from samekind.inference import embed
from samekind.recipes.house import house
from samekind.space import MetricSpace
from samekind.training import Batches, Part, Run, train

EPOCHS, RATE, SIZE = 4, 1e-4, 60
#: Half a second to a second: maps have fifty frames a second, not a hundred.
CHUNK = Part("RandomChunk", {"seconds": 0.5, "least": 0.5})


def further_measures(experiment: Experiment, place: Place) -> tuple[dict[str, Any], dict[str, Any], Run]:
    """The measures of every condition and score, what the ladder kept, and the run."""

    def maps(condition: str, names: Sequence[str] | None) -> Items | None:
        path = place.data / f"maps-{condition}.npz"
        if not path.exists():
            return None
        items = open_data(path)
        items = items if names is None else items.only(names)
        return replace(items, inputs=items.inputs[:].float(), source=None)

    def embedded(condition: str, names: Sequence[str] | None) -> Items | None:
        items = maps(condition, names)
        return None if items is None else replace(items, inputs=embed(space, items.inputs), reader=None)

    parts = parts_of_fold(experiment.fold, LENGTHS[0], maps)
    run = run_of(experiment, parts.train)
    space = _trained(experiment, place, run, parts.train, parts.validation)
    lengths = [length for length in LENGTHS if (place.data / f"maps-{length[0]}-clean.npz").exists()]
    by_length = {length: parts_of_fold(experiment.fold, length, embedded) for length in lengths}
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
        epochs=EPOCHS,
        seed=experiment.seed,
        augment=(CHUNK,),
        watch="eer best",
        keep="best",
    )


def _trained(experiment: Experiment, place: Place, run: Run, items: Items, held_out: Items) -> MetricSpace:
    network = SpeakerNetwork(network="cam++", weights=str(place.data / TUNED["tuned-cam++"]))
    folder = place.work / "runs" / experiment.name
    few = draw(held_out, most=FEW_CHOOSING, seed=0)
    validate = validation(few, run.validate, watch=run.watch)
    encoder = LastLayers(network.module)
    return train(run, items, folder=folder, validate=validate, device=place.device, encoder=encoder)
