"""One run of the study: trained, asked about characters it never saw, written down as one JSON."""

import json
import shutil
import time
from functools import cache
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from grid import SIZE, Experiment
from grids.running import Place, not_now
from grids.selection import epochs_as_json, rows_of_each, train_for_each

from samekind.data import Items, Sets, SplitSettings, prepare
from samekind.evaluation import Row, cosine_references, retrieval, verification
from samekind.inference import embed
from samekind.space import MetricSpace
from samekind.storage import write_text

#: Characters that choose the epoch, and those of the test, which are of other alphabets.
VALIDATION, TEST = 24, 100


def carry_out(experiment: Experiment, place: Place) -> str:
    """Train and measure, unless it is done or too late; says what happened."""
    if (why := not_now(experiment, place)) is not None:
        return why
    run, folder = experiment.run, place.work / experiment.name
    sets = characters(place.data, classes=experiment.classes, seed=run.seed)
    began = time.perf_counter()
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was stopped, which begins anew
    space, best = train_for_each(run, sets, folder=folder, device=place.device, measure="map@r")
    over = time.perf_counter()
    rows = rows_of_each(space, best, lambda space: about(space, sets, seed=run.seed))
    content = {
        "variant": experiment.variant,
        "seed": run.seed,
        "run": run.to_dict(),
        "items": {"train": len(sets.train), "validation": len(sets.validation), "test": len(_test(sets))},
        "rows": [row._asdict() for row in rows],
        "chosen": epochs_as_json(best),
        "seconds": {"training": over - began, "evaluation": time.perf_counter() - over},
        "torch": torch.__version__,
    }
    write_text(place.result_of(experiment), json.dumps(content, indent=1) + "\n")
    shutil.rmtree(folder)
    summary = ", ".join(f"{row.kind} {100 * row.value:.1f}" for row in rows if row.measure == "Recall@1")
    return f"Recall@1 {summary}; {over - began:.0f} s of training"


def about(space: MetricSpace, sets: Sets, *, seed: int) -> list[Row]:
    """What a space says of the unseen characters with every kind of score, and by two better cosines."""
    items = _test(sets)
    z, known = embed(space, items.inputs), embed(space, sets.train.inputs)
    return [
        *retrieval(space, items, z, name="unseen", ks=(1, 5), seed=seed),
        *verification(space, items, z, name="unseen", seed=seed),
        *cosine_references(items, z, known, name="unseen", ks=(1, 5), seed=seed),
    ]


def _test(sets: Sets) -> Items:
    assert sets.unseen is not None
    return sets.unseen


def characters(path: Path, *, classes: int, seed: int) -> Sets:
    """So many characters of the background set by ``seed`` and as many more as validate; unseen are a hundred
    of the evaluation set, whatever the seed.
    """
    background, evaluation = (drawings(path, part) for part in ("background", "evaluation"))
    seen = background.only(_some(background, classes + VALIDATION, seed=seed))
    unseen = evaluation.only(_some(evaluation, TEST, seed=0))
    items = Items(
        torch.cat([seen.inputs, unseen.inputs]),
        torch.cat([seen.labels, unseen.labels + len(seen.classes)]),
        (*seen.classes, *unseen.classes),
        "Omniglot",
    )
    settings = SplitSettings(
        unseen=unseen.classes, validation_classes=VALIDATION, fractions={"train": 1.0}, seed=seed
    )
    return prepare(items, settings)


def _some(items: Items, count: int, *, seed: int) -> list[str]:
    """The names of so many classes, drawn."""
    order = torch.randperm(len(items.classes), generator=torch.Generator().manual_seed(seed))
    return [items.classes[place] for place in order[:count].tolist()]


@cache
def drawings(path: Path, part: str) -> Items:
    """Omniglot's drawings of 20 x 20 pixels, ink 255; read once in every process."""
    with np.load(path) as arrays:
        bits, labels, names = (arrays[f"images_{part}{end}"] for end in ("", "_labels", "_names"))
    ink = torch.from_numpy(np.unpackbits(bits, axis=-1)[..., :105]).float()[:, None]
    inputs = F.interpolate(ink, size=(SIZE, SIZE), mode="area").mul_(255).round_().to(torch.uint8)
    return Items(inputs, torch.from_numpy(labels).long(), tuple(map(str, names)), f"Omniglot, {part}")
